#pragma once

// PendingOperations: the operations of a list that wait to be sent or are in flight, with the texts
// that their views point into. An answer finds its operation by the number of its command, even if
// no caller waits for it any more.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "client/calls/procedure.h"
#include "protocol/owned_operation.h"

namespace sheaf::client::list {

struct PendingOperation : protocol::OwnedOperation {
  using OwnedOperation::OwnedOperation;

  std::uint64_t connection = 0;  // as in calls::Command

  // For the owner's use.
  unsigned purpose = 0;
  std::uint64_t attempt = 0;
  std::size_t place = 0;

  bool urgent = false;
};

class PendingOperations {
 public:
  // `window`: the most operations in flight at once; the rest wait here. `route` places all of them
  // on one node, and must outlive this object.
  PendingOperations(std::size_t window, std::string_view route) : window_(window), route_(route) {}

  void add(PendingOperation operation) {
    waiting_.push_back(std::make_unique<PendingOperation>(std::move(operation)));
  }
  // Sends the operation before all others, even if the window is full.
  void add_urgent(PendingOperation operation) {
    operation.urgent = true;
    waiting_.push_front(std::make_unique<PendingOperation>(std::move(operation)));
  }
  // Drops the operations that have not been sent. Returns their number.
  std::size_t drop_waiting() {
    const std::size_t count = waiting_.size();
    waiting_.clear();
    return count;
  }

  bool poll(calls::Command& command);
  // Removes the answered operation and returns it; null if the number is not one of this object's.
  std::unique_ptr<PendingOperation> answered(unsigned id);

  bool empty() const noexcept { return waiting_.empty() && in_flight_.empty(); }

  // Makes this object number its commands `first`, `first + step`, ..., so that several of them can
  // share a procedure.
  void number_from(unsigned first, unsigned step) noexcept {
    next_ = first;
    step_ = step;
  }

 private:
  std::size_t window_;
  std::string_view route_;
  unsigned next_ = 1;
  unsigned step_ = 1;
  std::deque<std::unique_ptr<PendingOperation>> waiting_;
  std::unordered_map<unsigned, std::unique_ptr<PendingOperation>> in_flight_;
};

}  // namespace sheaf::client::list
