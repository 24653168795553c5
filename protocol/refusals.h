#pragma once

// Why a session refuses an operation, in sentences that all protocols share.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/session.h"

namespace sheaf::protocol {

LocalError invalid(std::string text);
LocalError unsupported(std::string text);
// "the value of 12 bytes is above value_limit of 10 bytes"
LocalError too_large(std::string_view what, std::uint64_t size, std::string_view limit_name,
                     std::uint64_t limit);

// The connection takes no requests: it is not ready yet, or it has ended for `reason`.
LocalError not_ready(Reason reason);
LocalError no_room();
LocalError no_memory() noexcept;

}  // namespace sheaf::protocol
