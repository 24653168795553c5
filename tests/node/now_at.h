#pragma once

#include <chrono>

#include "base/clock.h"

namespace sheaf::node {

// That far from the beginning of the steady clock; no test that uses it looks at the wall clock.
inline Now at(std::chrono::nanoseconds time) { return {time, std::chrono::milliseconds(0)}; }

}  // namespace sheaf::node
