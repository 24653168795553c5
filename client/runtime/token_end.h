#pragma once

// When a token ends, if it is a JSON Web Token (RFC 7519) and says so in its claim `exp`. Nothing
// is verified here; the server does that.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <optional>
#include <string_view>

namespace sheaf::client::runtime {

// Since the Unix epoch; nothing if the token has another format or no such claim.
std::optional<std::chrono::milliseconds> token_end(std::string_view token);

}  // namespace sheaf::client::runtime
