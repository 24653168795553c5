#pragma once

// How much of its window a node that has come back may use: a small part at first, all of it at the
// end of the ramp. Requests that do not fit wait; none is refused.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>

#include "base/clock.h"

namespace sheaf::node {

inline constexpr std::uint64_t ramp_parts = 16;  // the ramp begins at 1/16 of the window

// `since`: when the ramp began. The result is at least 1 if `full` is.
std::uint64_t ramp_limit(std::uint64_t full, Deadline since, std::chrono::nanoseconds length,
                         Now now) noexcept;

}  // namespace sheaf::node
