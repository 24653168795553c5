#pragma once

// How much of its window a node that came back may use: a small part at first, all of it at the end
// of the ramp. What does not fit waits; nothing is refused for it.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>

#include "base/clock.h"

namespace sheaf::node {

inline constexpr std::uint64_t ramp_parts = 16;  // the ramp begins at 1/16 of the window

// `since`: when the ramp began. At least 1 as long as `full` is.
std::uint64_t ramp_limit(std::uint64_t full, Deadline since, std::chrono::nanoseconds length,
                         Now now) noexcept;

}  // namespace sheaf::node
