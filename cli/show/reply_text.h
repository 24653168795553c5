#pragma once

// The reply to a command as text, in the form in which redis-cli writes to a file or a pipe: every
// value on a line of its own, in the order of the reply, whatever is inside what.
//
// Thread rule: pure function.

#include <string>

#include <sheaf/command_reply.h>

namespace sheaf::cli {

// Texts exactly as they are. Without a newline at the end.
std::string reply_text(const CommandReply& reply);

}  // namespace sheaf::cli
