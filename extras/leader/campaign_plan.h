#pragma once

// CampaignPlan: whether a campaign continues after an attempt to take the lock, and when.
//
// The lock itself waits for its holder, and for a node that is not reached. It ends early when the
// server refuses, because a caller of Locker wants to know; a campaign asks again, after a pause
// that doubles up to a second.
//
// | an attempt ended                        | then                                   |
// |-----------------------------------------|----------------------------------------|
// | busy                                    | the campaign ends; without a wait: ask |
// | an error that no repetition changes     | the campaign ends                      |
// | another error, time is left             | ask after a pause, at the latest at    |
// |                                         | the end of the wait                    |
// | another error at the end of the wait    | the campaign ends                      |
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <chrono>
#include <optional>

#include <sheaf/options.h>

#include "base/clock.h"

namespace sheaf::leader {

// True if a repetition would get the same answer. A server that loads its data, has become a
// replica, has no memory or whose clock is behind refuses for a while.
bool is_final(const Error& error) noexcept;

// The end of a wait.
class Until {
 public:
  Until(const Wait& wait, Deadline now) noexcept
      : end_(wait ? now + std::clamp<std::chrono::nanoseconds>(*wait, std::chrono::nanoseconds(0),
                                                               longest_wait)
                  : never) {}

  bool endless() const noexcept { return end_ == never; }
  bool over(Deadline now) const noexcept { return now >= end_; }
  // At most the longest time that a call waits.
  std::chrono::nanoseconds left(Deadline now) const noexcept {
    return std::clamp<std::chrono::nanoseconds>(end_ - now, std::chrono::nanoseconds(0),
                                                longest_wait);
  }

 private:
  Deadline end_;
};

class CampaignPlan {
 public:
  static constexpr std::chrono::milliseconds first_pause{25};
  static constexpr std::chrono::milliseconds longest_pause{1'000};

  CampaignPlan(const Wait& wait, Deadline now) noexcept : until_(wait, now), asked_at_(now) {}

  // How long the attempt that begins now may wait.
  std::chrono::nanoseconds ask(Deadline now) noexcept {
    asked_at_ = now;
    return until_.left(now);
  }
  // The pause before the next attempt; none: the campaign has ended. `error` is null if another
  // holds the lock.
  std::optional<std::chrono::nanoseconds> after(const Error* error, Deadline now) noexcept;

 private:
  Until until_;
  Deadline asked_at_;
  std::chrono::nanoseconds pause_ = first_pause;
};

}  // namespace sheaf::leader
