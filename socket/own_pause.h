#pragma once

// Our own pause: the loop did not run for a while, because the process was stopped or starved, or
// because a callback kept the thread. The time-outs of that while say nothing about a server.
//
// Thread rule: the thread that turns the loop.

#include <chrono>

#include "socket/seam.h"

namespace sheaf::socket {

inline bool was_paused(const Loop& loop) { return loop.lateness() > std::chrono::milliseconds(50); }

}  // namespace sheaf::socket
