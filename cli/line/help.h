#pragma once

// The help texts, the manual page and the completions of shells, made from the table.
//
// Thread rule: pure functions.

#include <optional>
#include <string>
#include <string_view>

namespace sheaf::cli {

// Of a command ("get", "list push"), of those that begin with a word ("list"), or of the program
// (any other name).
std::string help_of(std::string_view name);

// In roff, for man(1).
std::string manual_page();

// A script; nothing for a shell that is not bash, zsh or fish.
std::optional<std::string> completion_script(std::string_view shell);

}  // namespace sheaf::cli
