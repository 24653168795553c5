#pragma once

// The words of commands about the program itself: help, completion, man. An error is one sentence.
//
// Thread rule: pure functions and plain values.

#include <expected>
#include <string>

#include "cli/line/parser.h"

namespace sheaf::cli {

struct HelpWords {
  std::string name;  // a command, the first word of some, or "options"; empty: the program
};
std::expected<HelpWords, std::string> read_help_words(const ParsedLine& line);

struct CompletionWords {
  std::string shell;  // bash, zsh or fish
};
std::expected<CompletionWords, std::string> read_completion_words(const ParsedLine& line);

// For a command without arguments and options.
struct NoWords {};
std::expected<NoWords, std::string> read_no_words(const ParsedLine& line);

}  // namespace sheaf::cli
