#pragma once

// RequestQueue: the requests of a node that wait for room, in the order of their start, and the
// part of the node's window that its requests in flight take.
//
//   waiting --pop()--> admitted (counted in the window) --release()--> gone
//           --give_up()--> given up: stays until its deadline, but is never sent, because later
//                          ones on its key may have been
//
// It uses no connection and no clock. Thread rule: one thread at a time. Lifetime: it borrows the
// requests.

#include <cstdint>

#include "base/intrusive_list.h"
#include "node/request.h"
#include "node/window.h"

namespace sheaf::node {

struct QueueBounds {
  std::uint32_t max_in_flight = 1;  // operations on keys
  std::uint64_t max_bytes = 1;
  std::uint32_t max_waiting = 1;  // requests
};

class RequestQueue {
 public:
  explicit RequestQueue(const QueueBounds& bounds) noexcept
      : bounds_(bounds), window_(bounds.max_in_flight, bounds.max_bytes) {}

  // The waiting requests.
  bool empty() const noexcept { return waiting_.empty(); }
  unsigned size() const noexcept { return waiting_.size(); }
  bool contains(const Request& request) const noexcept {
    return waiting_.contains(request) || gave_up(request);
  }
  bool contains_only(const Request& request) const noexcept {
    return size() == 1 && waiting_.contains(request);
  }
  Request* front() const noexcept { return static_cast<Request*>(waiting_.front()); }
  // Returns false if the queue is full.
  bool push(Request& request) noexcept;
  void remove(Request& request) noexcept {
    waiting_.remove(request);
    given_up_.remove(request);
  }
  Request* pop() noexcept { return static_cast<Request*>(waiting_.pop_front()); }
  // Takes out those that wait now; `end` may add others.
  template <class End>
  void drain(const End& end) {
    for (unsigned left = size(); left > 0; --left) {
      Request* const request = pop();
      if (request == nullptr) return;
      end(*request);
    }
  }

  // The request waits.
  void give_up(Request& request) noexcept {
    waiting_.remove(request);
    given_up_.push_back(request);
  }
  bool gave_up(const Request& request) const noexcept { return given_up_.contains(request); }
  unsigned given_up() const noexcept { return given_up_.size(); }
  // Those wait again, which is for a queue that sends nothing more.
  void restore() noexcept {
    while (socket::Request* const request = given_up_.pop_front()) waiting_.push_back(*request);
  }

  // Moves the requests for which `goes_first` is true to the front; otherwise the order is kept.
  template <class Condition>
  void bring_forward(const Condition& goes_first) {
    IntrusiveList<socket::Request> first;
    IntrusiveList<socket::Request> others;
    while (Request* const request = pop())
      (goes_first(*request) ? first : others).push_back(*request);
    while (socket::Request* const request = first.pop_front()) waiting_.push_back(*request);
    while (socket::Request* const request = others.pop_front()) waiting_.push_back(*request);
  }

  // The window. Requests that are in it stay when it is narrowed.
  bool has_room_for(const Request& request) const noexcept {
    return window_.fits(request.cost(), request.width());
  }
  void admit(const Request& request) noexcept { window_.admit(request.cost(), request.width()); }
  void release(const Request& request) noexcept {
    window_.release(request.cost(), request.width());
  }
  // Limits the window to this many operations; its limit in bytes stays.
  void narrow(std::uint64_t operations) noexcept {
    window_.set_bounds(operations, bounds_.max_bytes);
  }
  // Operations in the window.
  std::uint64_t in_flight() const noexcept { return window_.count(); }
  const QueueBounds& bounds() const noexcept { return bounds_; }

 private:
  QueueBounds bounds_;
  Window window_;
  IntrusiveList<socket::Request> waiting_;
  IntrusiveList<socket::Request> given_up_;
};

}  // namespace sheaf::node
