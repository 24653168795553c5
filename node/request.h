#pragma once

// Request: a request as a node sees it. It extends the socket's part with what decides which
// connection may carry it, and with what is counted and logged when it ends.
//
// Thread rule: touched only under the lane's baton, from start to on_done.

#include <memory>

#include "node/admission.h"
#include "socket/request.h"

namespace sheaf::node {

class Request : public socket::Request {
 public:
  std::uint64_t only_on = 0;  // the only connection that may carry it; 0 = any
  Deadline started_at{0};     // when its submitter started it; log records measure from here
  bool counted = true;        // in statistics; the client's own requests are not
  // It only reads, and another node may answer, too. Any answer but a value, and the loss of the
  // connection, is offered to the node's owner, who may ask elsewhere.
  bool provisional = false;
  std::shared_ptr<void> parent;  // that of its call, for the observer

  // When the node got it; it may have been started long before, on another node.
  Deadline arrived_at() const noexcept { return arrived_at_; }
  // The number of counted operations on keys that have no answer yet.
  std::uint32_t unanswered() const noexcept { return counted ? width() - items_ : 0; }

 private:
  friend class ClientNode;
  std::uint32_t items_ = 0;  // keys of a list that have been answered individually
  Deadline arrived_at_{0};
  Admission::Place place_;
};

}  // namespace sheaf::node
