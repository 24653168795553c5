#pragma once

// The reply to a command as text, in the form that redis-cli writes to a file or a pipe: every
// value on its own line, in the order of the reply, however deeply nested.
//
// Thread rule: pure function.

#include <string>

#include <sheaf/command_reply.h>

namespace sheaf::cli {

// Texts are unchanged. No newline at the end.
std::string reply_text(const CommandReply& reply);

}  // namespace sheaf::cli
