#pragma once

// Turns the bytes of a reply into the value that users get.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string_view>

#include <sheaf/command_reply.h>

#include "protocol/resp/wire/reply_reader.h"

namespace sheaf::protocol::resp {

// Reads one reply after another with the memory of one reader.
class CommandReplyReader {
 public:
  // Nothing if the bytes are not exactly one reply.
  std::optional<CommandReply> read(std::string_view bytes);

 private:
  std::optional<ReplyReader> reader_;
};

}  // namespace sheaf::protocol::resp
