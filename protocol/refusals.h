#pragma once

// Why a session refuses an operation, in sentences that all protocols share.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include "base/refusal.h"
#include "protocol/session.h"

namespace sheaf::protocol {

using refusals::invalid;
using refusals::too_large;
using refusals::unsupported;

// The connection takes no requests: it is not ready yet, or it has ended for `reason`.
LocalError not_ready(Reason reason);
LocalError no_room();
LocalError no_memory() noexcept;

}  // namespace sheaf::protocol
