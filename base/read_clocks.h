#pragma once

// Reads the clocks of this machine. Only shells call it; pure code takes `now` as an argument.
//
// Thread rule: any thread.

#include "base/clock.h"

namespace sheaf {

Now read_clocks() noexcept;
// Reads only the monotonic clock. It counts the time during which the machine was suspended: a
// lease must not outlive a closed lid.
Deadline read_monotonic() noexcept;
// The processor time that all threads of this process have used.
std::chrono::nanoseconds read_process_time() noexcept;

}  // namespace sheaf
