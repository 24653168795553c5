#pragma once

// Time is an argument. Pure code never reads a clock.

#include <chrono>
#include <limits>

namespace sheaf {

// A point on the monotonic clock, counted from an arbitrary start.
using Deadline = std::chrono::nanoseconds;
inline constexpr Deadline never{std::numeric_limits<std::int64_t>::max()};

// The loop reads it once per turn. Durations are measured with `mono`; only hybrid logical clocks
// use `wall`.
struct Now {
  Deadline mono{0};
  std::chrono::milliseconds wall{0};  // since the Unix epoch
};

}  // namespace sheaf
