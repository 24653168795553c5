#pragma once

// Time as an argument. Pure code never asks a clock.

#include <chrono>
#include <limits>

namespace sheaf {

// A point on the monotonic clock (since an arbitrary start).
using Deadline = std::chrono::nanoseconds;
inline constexpr Deadline never{std::numeric_limits<std::int64_t>::max()};

// Read once per turn of the loop. Durations come from `mono`; only hybrid logical clocks read
// `wall`.
struct Now {
  Deadline mono{0};
  std::chrono::milliseconds wall{0};  // since the Unix epoch
};

}  // namespace sheaf
