#pragma once

// Latency: how long a node takes to answer, and how long a new request should expect to take. It
// serves the choice among nodes that can all answer.
//
// Each answer moves the mean by an eighth of the difference; what is left of it is halved for every
// second since the latest sample, so that one answer shows that a node is no longer slow. A request
// that was given up counts until the next answer if it took longer. The expectation is halved for
// every second of silence, too, so that a node that was slow gets requests again; otherwise nothing
// would show that it has recovered. A node that has never answered is expected to be fast.
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
    const std::int64_t rest = (mean_ - trip).count() * 7 / 8;
    mean_ = mean_.count() == 0 ? trip : trip + std::chrono::nanoseconds(halved(rest, now));
    given_up_ = {};
    since_ = now.mono;
  }
  // A request was given up after it had waited this long.
  void on_timeout(std::chrono::nanoseconds waited, Now now) noexcept {
    given_up_ = std::max(given_up_, waited);
    since_ = now.mono;
  }
  std::chrono::nanoseconds mean() const noexcept { return mean_; }
  // What a request should expect with this many operations in flight before it.
  std::chrono::nanoseconds expected(std::uint64_t in_flight, Now now) const noexcept {
    const auto others = static_cast<std::int64_t>(std::min(in_flight, most_in_flight));
    const std::int64_t latest = std::max(mean_, given_up_).count();
    return std::chrono::nanoseconds(halved(latest, now)) * (others + 1);
  }

 private:
  // Once for every second since the latest sample.
  std::int64_t halved(std::int64_t value, Now now) const noexcept {
    const auto silence = std::chrono::floor<std::chrono::seconds>(now.mono - since_).count();
    return value / (std::int64_t{1} << std::clamp<std::int64_t>(silence, 0, most_halvings));
  }

  static constexpr std::int64_t most_halvings = 40;
  static constexpr std::uint64_t most_in_flight = 65'535;  // an upper bound: no overflow

  std::chrono::nanoseconds mean_{0};
  std::chrono::nanoseconds given_up_{0};  // since the last answer
  Deadline since_{0};                     // when the latest of both was recorded
};

}  // namespace sheaf::node
