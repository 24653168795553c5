#pragma once

// LateRequests: knows if the server may still carry out a request that has ended without its
// answer: because of its deadline, because it was cancelled, or because we gave the connection up.
// A server answers the requests of a connection in their order, so the answer to a later one
// settles the question, and so does its own late answer. After the connection has closed, an answer
// on one made since it was given up must do, or any answer 5 s later: the server has probably read
// what was left of the old one by then.
//
// Thread rule: belongs to one lane, except for any().

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace sheaf::node {

class LateRequests {
 public:
  bool any() const noexcept { return any_; }
  // A request that was in flight on the connection has ended.
  void add(std::uint64_t connection, Deadline now) {
    forget(connection);
    late_.push_back({connection, now});
    any_ = true;
  }
  // A request has been answered that was submitted then to this connection, made at `created`.
  void on_answer(std::uint64_t connection, Deadline created, Deadline submitted) {
    if (!any_.load(std::memory_order_relaxed)) return;
    if (created >= closed_at_ || submitted > closed_at_ + patience) closed_at_ = none;
    std::erase_if(late_, [&](const Late& late) {
      return late.connection == connection && late.ended < submitted;
    });
    note();
  }
  // All requests of the connection have been answered.
  void on_caught_up(std::uint64_t connection) {
    forget(connection);
    note();
  }
  // `given_up`: when the connection closed, or when it got its last request, which had left
  // completely, and was replaced.
  void on_closed(std::uint64_t connection, Deadline given_up) {
    if (forget(connection)) closed_at_ = std::max(closed_at_, given_up);
    note();
  }

 private:
  struct Late {
    std::uint64_t connection;
    Deadline ended;  // when the last of its requests did
  };
  static constexpr Deadline none{-1};
  static constexpr std::chrono::seconds patience{5};

  bool forget(std::uint64_t connection) {
    return std::erase_if(late_, [&](const Late& late) { return late.connection == connection; }) >
           0;
  }
  void note() noexcept { any_ = closed_at_ != none || !late_.empty(); }

  std::vector<Late> late_;     // of connections that are open
  Deadline closed_at_ = none;  // when the last of the others was given up
  std::atomic<bool> any_ = false;
};

}  // namespace sheaf::node
