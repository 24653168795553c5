#pragma once

// Our own pause: the loop did not run for a while, because the process was stopped or starved, or
// because a callback kept the thread. The time-outs of that while say nothing about a server.
//
// Thread rule: the thread that turns the loop.

#include <chrono>
#include <optional>

#include "socket/seam.h"

namespace sheaf::socket {

inline bool was_paused(const Loop& loop) { return loop.lateness() > std::chrono::milliseconds(50); }

// The deadline that takes the place of one that has come: if we paused, the server gets the time of
// the pause back.
inline std::optional<Deadline> excused_deadline(const Loop& loop, Now now) {
  if (!was_paused(loop)) return {};
  return now.mono + loop.lateness();
}

}  // namespace sheaf::socket
