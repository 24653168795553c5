#pragma once

// CommandTable: the commands of a server of the Redis protocol, read from its reply to COMMAND.
//
// If a command has key specifications (Redis 7, Valkey, Garnet), they locate its keys:
//
// | begins at                       | the keys are                                                |
// |---------------------------------|-------------------------------------------------------------|
// | a place (`index`)               | every n-th word up to a place, counted from the beginning,  |
// | after a word (`keyword`),       | or from the end; or up to a part of what is left (`range`)  |
// | searched from either end        | as many as a word says (`keynum`)                           |
// | unknown                         | unknown                                                     |
//
// Else its keys are located by the first key, the last key and the step that every server reports.
// A command whose keys may also be elsewhere (`movablekeys`), and in which no key is found, must be
// sent with its keys named by the caller.
//
// Garnet's reply has nulls among its entries. An entry that cannot be read is skipped, as if the
// server did not have the command.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/resp/wire/reply_tree.h"
#include "protocol/server_commands.h"

namespace sheaf::protocol::resp {

// Where some of a command's keys are. Places are counted from the name of the command, which is 0.
struct KeySpec {
  enum class Begin : std::uint8_t { index, keyword, unknown };
  enum class Find : std::uint8_t { range, keynum, unknown };
  Begin begin = Begin::unknown;
  std::int64_t at = 0;  // index: the place. keyword: where the search begins; below 0: from the end
  std::string keyword{};
  Find find = Find::unknown;
  std::int64_t last = 0;       // range: counted from the beginning; below 0: from the last word
  std::int64_t limit = 0;      // range: above 1: only this part of the remaining words
  std::int64_t count_at = 0;   // keynum: where the number of keys is, from the beginning
  std::int64_t first_key = 0;  // keynum: where the first key is, from the beginning
  std::int64_t step = 1;       // above 0
};

class CommandTable final : public ServerCommands {
 public:
  static constexpr std::size_t longest_name = 64;         // with its subcommand
  static constexpr std::size_t most_specs = 64;           // for one command
  static constexpr std::size_t most_commands = 1u << 14;  // subcommands included

  CommandWords question() const override;
  std::expected<void, std::string> on_reply(const protocol::Reply& reply) override;
  bool known() const override { return !commands_.empty(); }
  std::optional<LocalError> find(CommandWords words, CommandUse& use) const override;
  std::optional<LocalError> refusal(CommandWords words) const override;
  std::string of_each_node(CommandWords words) const override;
  std::optional<CommandReply> read(std::string_view bytes) const override;

  std::size_t size() const noexcept { return commands_.size(); }

 private:
  struct Entry {
    bool only_reads = false;
    bool movable = false;  // keys may also be elsewhere
    bool container = false;
    std::int64_t first = 0;  // 0: none
    std::int64_t last = 0;   // below 0: from the end
    std::int64_t step = 1;
    std::vector<KeySpec> specs;
  };
  // In any case.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept;
  };
  struct Same {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const noexcept;
  };
  // By name, which is in upper case: "GET", "CONFIG|GET".
  using Entries = std::unordered_map<std::string, Entry, Hash, Same>;

  static void add(const Value& command, Entries& entries, bool inner);
  const Entry* entry_of(CommandWords words) const;
  // The refusal of a command that the servers do not have.
  LocalError unknown(const std::string& name) const;

  Entries commands_;
};

}  // namespace sheaf::protocol::resp
