#pragma once

// Admission: which requests a server that is too slow for them gets
// (docs/design/0065-admission-under-overload.md).
//
// A server that is asked for more than it can do answers later and later, in the end only requests
// whose deadlines have passed, although it works all the time. So after a time-out requests are
// held back: as much is in flight as the server does in half of the time that a request has, and a
// request that has waited here for a quarter of its time is given up, so that others can still be
// answered. What a lone request takes anyway does not count, so a slow network is no overload. Now
// and then one request is sent in any case, and shows when the server is fast again.
//
//   | state  | input                                                        | next   |
//   |--------|--------------------------------------------------------------|--------|
//   | open   | a request on a connection reaches its deadline               | strict |
//   | strict | the same, or a request is held back or given up               | strict |
//   | strict | neither for a second                                         | open   |
//
// Pure: no socket, clock, entropy, thread or callback. Thread rule: one thread at a time.

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace sheaf::node {

class Admission {
 public:
  enum class Ruling : std::uint8_t { send, hold, give_up };

  // The place of a sent request among the operations that this node has been sent.
  struct Place {
    std::uint64_t last = 0;   // the number of its last operation
    std::uint64_t ahead = 0;  // operations before it that were not known to be over
  };
  // The first of the requests that wait.
  struct Wish {
    std::uint32_t width = 1;  // in operations
    Deadline started{0};      // on this node
    Deadline deadline = never;
    bool last = true;  // no other waits
    bool idle = true;  // nothing is in flight
  };

  Ruling judge(const Wish& wish, Now now) noexcept {
    if (!strict(now)) return Ruling::send;
    const Ruling ruling = judge_strictly(wish, now);
    if (ruling != Ruling::send) be_strict(now);
    return ruling;
  }

  // True while requests may be held back.
  bool strict(Now now) const noexcept { return now.mono < strict_until_; }

  Place on_sent(std::uint32_t width, Now now) noexcept {
    const std::uint64_t ahead = sent_ - over_;
    sent_ += width;
    sent_at_ = now.mono;
    return {sent_, ahead};
  }
  // A server does the requests of a connection in their order.
  void on_answer(const Place& place, std::uint32_t width, std::chrono::nanoseconds trip,
                 Now now) noexcept {
    over_ = std::max(over_, place.last);
    const bool alone = place.ahead == 0;
    if (alone) alone_at_ = now.mono;
    alone_ = alone && width == 1 ? trip : std::min(alone_, trip);
    const auto operations = static_cast<std::int64_t>(place.ahead + width);
    if (operations > 1) each_ += ((trip - alone_) / operations - each_) / 8;
  }
  void on_timeout(Now now) noexcept { be_strict(now); }

 private:
  static constexpr std::chrono::seconds memory{1};
  static constexpr std::chrono::nanoseconds unknown = std::chrono::nanoseconds::max();
  // After so long without a lone request nothing is sent until one can be, but for an eighth of a
  // request's time at most: some answer may never come.
  static constexpr std::chrono::seconds longest_crowd{5};

  Ruling judge_strictly(const Wish& wish, Now now) noexcept {
    if (wish.deadline == never || (wish.idle && wish.last)) return Ruling::send;
    const auto alone = alone_ == unknown ? std::chrono::nanoseconds(0) : alone_;
    const std::chrono::nanoseconds time = wish.deadline - wish.started - alone;
    if (now.mono - wish.started > time / 4) return Ruling::give_up;
    if (wish.idle || now.mono - sent_at_ > time) return Ruling::send;
    if (now.mono - alone_at_ > longest_crowd + time / 8) alone_at_ = now.mono;
    if (now.mono - alone_at_ > longest_crowd) return Ruling::hold;
    const auto operations = static_cast<std::int64_t>(sent_ - over_ + wish.width);
    return each_ * operations > time / 2 ? Ruling::hold : Ruling::send;
  }
  void be_strict(Now now) noexcept { strict_until_ = now.mono + memory; }

  std::uint64_t sent_ = 0;                   // operations
  std::uint64_t over_ = 0;                   // of these, answered, or sent before one that was
  std::chrono::nanoseconds each_{0};         // what an operation adds to the wait of later ones
  std::chrono::nanoseconds alone_{unknown};  // what a lone request takes
  Deadline alone_at_{0};                     // when one was answered last, or was waited for
  Deadline sent_at_{0};                      // the last one
  Deadline strict_until_{0};
};

}  // namespace sheaf::node
