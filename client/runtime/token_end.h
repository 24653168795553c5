#pragma once

// When a token ends, if it is a JSON Web Token (RFC 7519) and says so: its claim `exp`. Nobody
// checks anything here, the server does.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <optional>
#include <string_view>

namespace sheaf::client::runtime {

// Since the Unix epoch; nothing if the token is something else or does not say.
std::optional<std::chrono::milliseconds> token_end(std::string_view token);

}  // namespace sheaf::client::runtime
