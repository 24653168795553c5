#pragma once

// The clocks of this machine, read now. Only shells call it; pure code takes `now` as an argument.
//
// Thread rule: any thread.

#include "base/clock.h"

namespace sheaf {

Now read_clocks() noexcept;
// The monotonic one alone. It counts the time during which the machine was suspended: a lease must
// not outlive a closed lid.
Deadline read_monotonic() noexcept;

}  // namespace sheaf
