#pragma once

// ServerCommands: what the servers of an endpoint know of their own commands: which arguments of a
// command are keys, and whether it only reads. Whoever keeps one asks a server the question, gives
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
  bool only_reads = false;             // false, too, where nobody says so
};

class ServerCommands {
 public:
  virtual ~ServerCommands() = default;

  // The words of a Verb::command.
  virtual CommandWords question() const = 0;
  // The answer. If it is of no use: why, in one clause.
  virtual std::expected<void, std::string> on_reply(const Reply& reply) = 0;
  // There was a useful answer.
  virtual bool known() const = 0;

  // What is known of a command; of one that the servers have not, or whose keys they do not name,
  // a sentence.
  virtual std::expected<CommandUse, LocalError> find(CommandWords words) const = 0;
  // Why a command is not passed through, whatever the servers know of it.
  virtual std::optional<LocalError> refusal(CommandWords words) const = 0;
  // The bytes of a whole reply; nothing if they are none.
  virtual std::optional<CommandReply> read(std::string_view bytes) const = 0;
};

}  // namespace sheaf::protocol
