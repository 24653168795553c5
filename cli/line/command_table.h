#pragma once

// All commands and options of the program as one table. The parser, the help, the manual pages and
// the completions of shells are made from it, so none of them can lack what another has.
//
// Thread rule: constants.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::cli {

enum class Command : std::uint8_t {
  get,
  set,
  del,
  exists,
  append,
  prepend,
  getset,
  incr,
  touch,
  mget,
  mset,
  list,
  lock,
  watch,
  locate,
  ring,
  nodes,
  stats,
  exec,
  top,
  bench,
  migrate,
  dev,
  help,
  completion,
  man
};

// What stands for an option's value, for completions.
enum class Completes : std::uint8_t { nothing, files };

struct OptionRow {
  std::string_view name;   // "--ttl"
  std::string_view value;  // "DURATION"; empty: a flag
  std::string_view help;   // a phrase, without a full stop
  Completes completes = Completes::nothing;
};

struct CommandRow {
  Command command;
  std::string_view name;       // "get", "list push"
  std::string_view group;      // under which heading the help has it
  std::string_view arguments;  // "KEY VALUE|-"; see ArgumentCount
  std::string_view purpose;    // a phrase, without a full stop
  std::string_view text;       // paragraphs, each a line
  std::span<const OptionRow> options;
};

struct ExitRow {
  int code;
  std::string_view meaning;
};

struct VariableRow {
  std::string_view name;
  std::string_view meaning;
};

std::span<const CommandRow> command_table() noexcept;
std::span<const OptionRow> global_options() noexcept;
std::span<const ExitRow> exit_codes() noexcept;
std::span<const VariableRow> environment_variables() noexcept;

// Null: there is no such command. "list" alone is none, but begins some.
const CommandRow* find_command(std::string_view name) noexcept;
bool begins_commands(std::string_view word) noexcept;

// How many arguments a command takes, read from its row: KEY is one, [DELTA] may be left out,
// KEY... is one or more, [KEY...] any number; what follows | is another form of the same argument,
// and -- is none.
struct ArgumentCount {
  std::size_t least = 0;
  std::size_t most = 0;
};
ArgumentCount count_of_arguments(const CommandRow& row) noexcept;

// What is most like a mistyped word, with at most two letters wrong; empty: nothing is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known) noexcept;

}  // namespace sheaf::cli
