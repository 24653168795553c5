#pragma once

// The commands that a model server knows, and the checks that every server makes before it runs
// one.
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/resp_model/command_parser.h"
#include "tests/support/resp_model/dialect.h"

namespace sheaf::test::resp_model {

enum class CommandGroup : std::uint8_t { data, cluster, connection };
enum class CommandKeys : std::uint8_t { none, first, all, odd };  // which words are keys

struct CommandSpec {
  std::string_view name;  // in lower case
  int arity = 0;          // words, including the name; negative: at least this many
  CommandGroup group = CommandGroup::data;
  CommandKeys keys = CommandKeys::none;
  bool write = false;
  bool while_loading = false;
  bool before_login = false;
};

// The text in lower case.
std::string lower(std::string_view text);
std::span<const CommandSpec> all_commands();
// Null if there is no such command.
const CommandSpec* find_command(std::string_view name, const Dialect& dialect);
bool arity_fits(const CommandSpec& spec, const Words& words);
std::vector<std::string> keys_of(const CommandSpec& spec, const Words& words);

// ---- texts of errors, without "-"
std::string unknown_command(const Words& words, const Dialect& dialect);
std::string wrong_arity(std::string_view name);
std::string unknown_subcommand(const Words& words);

}  // namespace sheaf::test::resp_model
