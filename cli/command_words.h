#pragma once

// Words of the command line: the commands' names, and a guard that keeps CLI11 from interpreting
// keys and values ("++" ends a command for it, "[a,b]" is a list, "" is nothing).
//
// Thread rule: pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace sheaf::cli {

// "get", "set", ...
std::string_view command_word(Command command) noexcept;
std::optional<Command> command_of(std::string_view word) noexcept;

// Takes out the first "--" and puts one guard byte before every word that CLI11 must take as it is:
// all after "--" but the command's name, and any word that CLI11 would interpret.
std::vector<std::string> guard_words(const std::vector<std::string>& words);
// The word as the user gave it.
std::string unguard(std::string_view word);

// One printable sentence out of an error text of CLI11 that may quote guarded words.
std::string usage_sentence(std::string_view text);

}  // namespace sheaf::cli
