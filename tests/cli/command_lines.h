#pragma once

// Command lines of the program, parsed or refused.

#include <gtest/gtest.h>

#include <any>
#include <expected>
#include <string>
#include <vector>

#include "cli/command_list.h"
#include "cli/line/command_line.h"

namespace sheaf::cli {

using WordList = std::vector<std::string>;

inline std::expected<CommandLine, EarlyExit> parse_line(const WordList& words) {
  return CommandLineParser(command_list()).parse(words);
}

inline CommandLine parsed_line(const WordList& words) {
  auto line = parse_line(words);
  EXPECT_TRUE(line) << (line ? "" : line.error().text);
  return line ? *line : CommandLine{};
}

// A command's own words, as the command reads them.
template <class Words>
Words parsed(const WordList& words) {
  const CommandLine line = parsed_line(words);
  const auto* const own = std::any_cast<Words>(&line.words);
  EXPECT_NE(own, nullptr) << "a command with other words";
  return own != nullptr ? *own : Words{};
}

// The refusal's sentence; empty if the line is allowed.
inline std::string refusal_of(const WordList& words) {
  const auto line = parse_line(words);
  return line ? "" : line.error().text;
}

}  // namespace sheaf::cli
