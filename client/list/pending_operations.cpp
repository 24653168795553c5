// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/pending_operations.h"

#include <utility>

namespace sheaf::client::list {

bool PendingOperations::poll(calls::Command& command) {
  if (waiting_.empty()) return false;
  if (in_flight_.size() >= window_ && !waiting_.front()->urgent) return false;
  std::unique_ptr<PendingOperation> operation = std::move(waiting_.front());
  waiting_.pop_front();
  command = {};
  command.id = std::exchange(next_, next_ + step_);
  command.operation = operation->view();
  command.route = route_;
  command.connection = operation->connection;
  in_flight_.emplace(command.id, std::move(operation));
  return true;
}

std::unique_ptr<PendingOperation> PendingOperations::answered(unsigned id) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return nullptr;
  std::unique_ptr<PendingOperation> operation = std::move(found->second);
  in_flight_.erase(found);
  return operation;
}

}  // namespace sheaf::client::list
