#pragma once

// ServerCommands: what the servers of an endpoint report about their own commands: which arguments
// of a command are keys, and whether it only reads. The owner asks a server the question, passes
// the answer back, and may then ask about single commands.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/command_reply.h>

#include "protocol/operation.h"
#include "protocol/session.h"

namespace sheaf::protocol {

// A command is its words: the name, then the arguments.
using CommandWords = std::span<const std::string_view>;

struct CommandUse {
  std::vector<std::string_view> keys;  // views of the words
  bool only_reads = false;             // also false if unknown
};

class ServerCommands {
 public:
  virtual ~ServerCommands() = default;

  // The words of a Verb::command.
  virtual CommandWords question() const = 0;
  // Takes the answer. If it is useless: why, in one clause.
  virtual std::expected<void, std::string> on_reply(const Reply& reply) = 0;
  // True after a useful answer.
  virtual bool known() const = 0;

  // Says in `use` what is known of a command. Returns a sentence if the servers do not have it, or
  // do not name its keys.
  virtual std::optional<LocalError> find(CommandWords words, CommandUse& use) const = 0;
  // Why a command is not passed through, regardless of what the servers know about it.
  virtual std::optional<LocalError> refusal(CommandWords words) const = 0;
  // The name of a command without keys that has the answer or the effect of one node only, as
  // FLUSHALL has; empty for all others. Regardless of what the servers know about it.
  virtual std::string of_each_node(CommandWords words) const = 0;
  // Parses the bytes of a whole reply; nothing if they are not one. Any thread.
  virtual std::optional<CommandReply> read(std::string_view bytes) const = 0;
};

}  // namespace sheaf::protocol
