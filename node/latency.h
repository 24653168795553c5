#pragma once

// Latency: how long a node takes to answer, and what a request to it is to expect. For the choice
// among nodes that can all answer.
//
// The mean follows each answer by an eighth of the difference. For a choice it is halved for every
// second without an answer: a node that was slow is asked again after a while, for nobody else
// would notice that it no longer is. One that has never answered is expected to be fast.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace sheaf::node {

class Latency {
 public:
  void on_answer(std::chrono::nanoseconds trip, Now now) noexcept {
    mean_ += mean_.count() == 0 ? trip : (trip - mean_) / 8;
    answered_at_ = now.mono;
  }
  std::chrono::nanoseconds mean() const noexcept { return mean_; }
  // With so many operations in flight before it.
  std::chrono::nanoseconds expected(std::uint64_t in_flight, Now now) const noexcept {
    const auto silence = std::chrono::floor<std::chrono::seconds>(now.mono - answered_at_).count();
    const auto halvings = std::clamp<std::int64_t>(silence, 0, most_halvings);
    const auto others = static_cast<std::int64_t>(std::min(in_flight, most_in_flight));
    return std::chrono::nanoseconds(mean_.count() >> halvings) * (others + 1);
  }

 private:
  static constexpr std::int64_t most_halvings = 40;
  static constexpr std::uint64_t most_in_flight = 65'535;  // of an option: no overflow

  std::chrono::nanoseconds mean_{0};
  Deadline answered_at_{0};
};

}  // namespace sheaf::node
