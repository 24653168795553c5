#pragma once

// Which commands may be passed through to a server. A connection carries the requests of many
// callers, so a command must leave it unchanged and be answered at once, with one reply.
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/session.h"

namespace sheaf::protocol::resp {

inline constexpr std::size_t most_words = 1u << 20;  // Redis's limit for one command

// Why a command must be refused before a byte is written, if so. The case of names does not matter.
std::optional<LocalError> refusal_of_command(std::span<const std::string_view> words);

}  // namespace sheaf::protocol::resp
