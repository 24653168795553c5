#pragma once

// The help texts, the manual page and the shell completions, made from the rows.
//
// Thread rule: pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "cli/line/command_row.h"

namespace sheaf::cli {

// The help of a command ("get", "list push"), of the commands that begin with a word ("list"), of
// everything commands share ("options"), or of the program (any other name).
std::string help_of(CommandTable table, std::string_view name);
// True if there is help for `name`; the empty name is the program's.
bool has_help(CommandTable table, std::string_view name) noexcept;

// In roff, for man(1).
std::string manual_page(CommandTable table);

// A script; nothing if the shell is not bash, zsh or fish.
std::optional<std::string> completion_script(CommandTable table, std::string_view shell);

}  // namespace sheaf::cli
