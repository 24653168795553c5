#pragma once

// The commands that a model server knows, and what every server checks before it runs one.
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/resp_model/command_parser.h"
#include "tests/support/resp_model/dialect.h"

namespace sheaf::test::resp_model {

enum class CommandGroup : std::uint8_t { data, cluster, connection };
enum class CommandKeys : std::uint8_t { none, first, all };  // of its words after the name

struct CommandSpec {
  std::string_view name;  // in lower case
  int arity = 0;          // words, the name included; negative: at least so many
  CommandGroup group = CommandGroup::data;
  CommandKeys keys = CommandKeys::none;
  bool write = false;
  bool while_loading = false;
  bool before_login = false;
};

// In lower case.
std::string lower(std::string_view text);
// Null if there is none.
const CommandSpec* find_command(std::string_view name, const Dialect& dialect);
bool arity_fits(const CommandSpec& spec, const Words& words);
std::vector<std::string> keys_of(const CommandSpec& spec, const Words& words);

// ---- texts of errors, without "-"
std::string unknown_command(const Words& words, const Dialect& dialect);
std::string wrong_arity(std::string_view name);
std::string unknown_subcommand(const Words& words);

}  // namespace sheaf::test::resp_model
