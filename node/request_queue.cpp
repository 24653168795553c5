#include "node/request_queue.h"

namespace sheaf::node {

bool RequestQueue::push(Request& request) noexcept {
  if (waiting_.size() + given_up_.size() >= bounds_.max_waiting) return false;
  waiting_.push_back(request);
  return true;
}

}  // namespace sheaf::node
