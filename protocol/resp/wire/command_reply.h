#pragma once

// Turns the bytes of a reply into the value that users get.
//
// Thread rule: pure function; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string_view>

#include <sheaf/command_reply.h>

namespace sheaf::protocol::resp {

// Nothing if the bytes are not exactly one reply.
std::optional<CommandReply> read_command_reply(std::string_view bytes);

}  // namespace sheaf::protocol::resp
