#pragma once

// A guard byte that keeps CLI11 from interpreting keys and values ("++" ends a command for it,
// "[a,b]" is a list, "" is nothing), and that marks the words after "--".
//
// Thread rule: pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "cli/line/command_row.h"

namespace sheaf::cli {

// Removes the first "--" and puts one guard byte before every word that CLI11 must take as it is:
// all words after "--" except the command's name, and any other word that CLI11 would interpret.
std::vector<std::string> guard_words(CommandTable table, const std::vector<std::string>& words);
// The word as the user typed it.
std::string unguard(std::string_view word);
// True if the word came after "--".
bool literal(std::string_view guarded) noexcept;

}  // namespace sheaf::cli
