#pragma once

#include <chrono>

#include "base/clock.h"

namespace sheaf::node {

// This far from the start of the steady clock; no test that uses it looks at the wall clock.
inline Now at(std::chrono::nanoseconds time) { return {time, std::chrono::milliseconds(0)}; }

}  // namespace sheaf::node
