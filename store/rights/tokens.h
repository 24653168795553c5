#pragma once

// Compares a client's token with a list of tokens.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <string_view>

namespace sheaf::store::rights {

inline constexpr std::size_t max_tokens_bytes = 64 * 1024;

// True if a line of `lines`, without blanks at its ends, is `token`. An empty token is in no list.
// How long it takes depends on the sizes of both, and not on where they differ.
bool has_token(std::string_view lines, std::string_view token) noexcept;

}  // namespace sheaf::store::rights
