#pragma once

// A command of the program as one row: the functions that read its words and run it, its help with
// two examples, and its completion. The parser, the help, the manual page and the shell completions
// are made from the rows, so they always agree.
//
// Each command makes its row in its own file, with command<Read, Run>() of cli/commands/command.h;
// cli/command_list.cpp lists all rows. Nothing here runs a command.
//
// Thread rule: constants and pure functions.

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cli/system/exit_code.h"

namespace sheaf::cli {

struct Call;
struct ParsedLine;

// How shells complete a word.
struct Completion {
  enum class Kind : std::uint8_t {
    unsaid,    // a row with this does not compile
    nothing,   // no word, or one that only servers know
    files,     // file names; for options only
    commands,  // the program's commands, and `words`; for arguments only
    words      // those in `words`
  };
  Kind kind = Kind::unsaid;
  std::string_view words;  // separated by blanks
};
inline constexpr Completion completes_nothing{Completion::Kind::nothing, {}};
inline constexpr Completion completes_files{Completion::Kind::files, {}};
constexpr Completion completes_commands_and(std::string_view words) noexcept {
  return {Completion::Kind::commands, words};
}
constexpr Completion completes_words(std::string_view words) noexcept {
  return {Completion::Kind::words, words};
}

struct OptionRow {
  std::string_view name;                      // "--ttl"
  std::string_view value;                     // "DURATION"; empty: a flag
  std::string_view help;                      // a phrase, without a full stop
  Completion completion = completes_nothing;  // of the value
};

// Global options that a command refuses, and the reason, as in "--servers is not for dev: WHY.".
struct Refused {
  std::span<const std::string_view> options{};
  std::string_view why{};
};

// The heading of a command in the help.
namespace group {
inline constexpr std::string_view keys = "Keys";
inline constexpr std::string_view lists = "Lists";
inline constexpr std::string_view servers = "Servers";
inline constexpr std::string_view program = "The program itself";
}  // namespace group

// All texts of a row; what_lacks() names a required one that is missing.
struct CommandText {
  std::string_view name;                     // "get", "list push"
  std::string_view group;                    // see above
  std::string_view arguments{};              // "KEY VALUE|-"; see ArgumentCount
  std::string_view purpose;                  // a phrase, without a full stop
  std::string_view text{};                   // paragraphs, each a line; may be empty
  std::array<std::string_view, 2> examples;  // as typed into a shell
  std::span<const OptionRow> options{};
  Completion completion;  // of the arguments
  Refused refused{};
};

// The part that a row lacks; empty if it is complete. An incomplete row does not compile.
constexpr std::string_view what_lacks(const CommandText& text) noexcept {
  if (text.name.empty()) return "a name";
  if (text.group.empty()) return "a group";
  if (text.purpose.empty()) return "a purpose";
  for (const std::string_view example : text.examples) {
    if (example.empty()) return "two examples";
  }
  const Completion::Kind kind = text.completion.kind;
  if (kind == Completion::Kind::unsaid) return "a completion";
  if (kind == Completion::Kind::files) return "a completion of arguments, which are no files";
  if (text.refused.options.empty() != text.refused.why.empty()) return "why it refuses options";
  return {};
}

struct CommandRow : CommandText {
  // Checks the words of a command line and returns them as the command's own struct; an error is
  // one sentence. Pure.
  std::expected<std::any, std::string> (*read)(const ParsedLine& line) = nullptr;
  // `words`: the result of `read`.
  ExitCode (*run)(const Call& call, const std::any& words) = nullptr;

  bool refuses(std::string_view option) const noexcept;
};

// All commands, in the order of the help.
using CommandTable = std::span<const CommandRow>;

// Wraps `Read`, which makes a struct of the command's own, in the form a row needs.
template <auto Read>
std::expected<std::any, std::string> read_any(const ParsedLine& line) {
  auto words = Read(line);
  if (!words) return std::unexpected(std::move(words.error()));
  return std::any(std::move(*words));
}

struct ExitRow {
  int code;
  std::string_view meaning;
};

struct VariableRow {
  std::string_view name;
  std::string_view meaning;
};

std::span<const OptionRow> global_options() noexcept;
std::span<const ExitRow> exit_codes() noexcept;
std::span<const VariableRow> environment_variables() noexcept;

// Null: there is no such command. "list" alone is not a command, but begins some.
const CommandRow* find_command(CommandTable table, std::string_view name) noexcept;
bool begins_commands(CommandTable table, std::string_view word) noexcept;

// How many arguments a command takes, read from its row: KEY is one, [DELTA] may be left out,
// KEY... is one or more, [KEY...] any number. A form after | is the same argument, and -- does not
// count.
struct ArgumentCount {
  std::size_t least = 0;
  std::size_t most = 0;
};
ArgumentCount count_of_arguments(const CommandRow& row) noexcept;

}  // namespace sheaf::cli
