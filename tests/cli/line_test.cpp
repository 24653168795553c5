// The texts generated from the command rows: help, manual page, completions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ranges>
#include <set>
#include <string>

#include "base/nearest_word.h"
#include "cli/line/help.h"
#include "tests/cli/command_lines.h"

namespace sheaf::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CliTable, CountsTheArgumentsOfARow) {
  const auto counts = [](const char* name) {
    const ArgumentCount count = count_of_arguments(*find_command(command_list(), name));
    return std::pair(count.least, count.most);
  };
  constexpr std::size_t any = static_cast<std::size_t>(-1);
  EXPECT_EQ(counts("get"), (std::pair<std::size_t, std::size_t>(1, 1)));
  EXPECT_EQ(counts("set"), (std::pair<std::size_t, std::size_t>(2, 2)));
  EXPECT_EQ(counts("incr"), (std::pair<std::size_t, std::size_t>(1, 2)));
  EXPECT_EQ(counts("mget"), (std::pair<std::size_t, std::size_t>(1, any)));
  EXPECT_EQ(counts("lock"), (std::pair<std::size_t, std::size_t>(2, any)));
  EXPECT_EQ(counts("dev"), (std::pair<std::size_t, std::size_t>(0, any)));
  EXPECT_EQ(counts("nodes"), (std::pair<std::size_t, std::size_t>(0, 0)));
  EXPECT_EQ(counts("list range"), (std::pair<std::size_t, std::size_t>(3, 3)));
}

TEST(CliTable, EveryCommandAndOptionHasItsWords) {
  std::set<std::string_view> names;
  for (const CommandRow& row : command_list()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.purpose.empty() || row.purpose.ends_with('.')) << row.name;
    EXPECT_TRUE(row.text.empty() || row.text.ends_with('.') || row.text.ends_with(')')) << row.name;
    for (const OptionRow& option : row.options) {
      EXPECT_TRUE(option.name.starts_with("--")) << option.name;
      EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << option.name;
    }
  }
}

// A row that lacks one of these does not compile.
TEST(CliTable, ARowSaysWhatItLacks) {
  constexpr auto whole = [] {
    return CommandText{.name = "getdel",
                       .group = group::keys,
                       .arguments = "KEY",
                       .purpose = "read a key and remove it",
                       .examples = {"sheaf getdel a", "sheaf getdel b"},
                       .completion = completes_nothing};
  };
  static_assert(what_lacks(whole()).empty());
  const auto lacks = [&](auto take_out) {
    CommandText text = whole();
    take_out(text);
    return what_lacks(text);
  };
  EXPECT_EQ(lacks([](CommandText& text) { text.name = ""; }), "a name");
  EXPECT_EQ(lacks([](CommandText& text) { text.group = ""; }), "a group");
  EXPECT_EQ(lacks([](CommandText& text) { text.purpose = ""; }), "a purpose");
  EXPECT_EQ(lacks([](CommandText& text) { text.examples[1] = ""; }), "two examples");
  EXPECT_EQ(lacks([](CommandText& text) { text.completion = {}; }), "a completion");
  EXPECT_EQ(lacks([](CommandText& text) { text.refused.why = "of no option"; }),
            "why it refuses options");
}

// The words of an example command line, up to the first thing that the shell itself interprets.
WordList words_of_example(std::string_view line) {
  line = line.substr(0, line.find(')'));
  WordList words;
  while (!line.empty()) {
    const bool quoted = line.front() == '\'';
    if (quoted) line.remove_prefix(1);
    const std::size_t end = std::min(line.find(quoted ? '\'' : ' '), line.size());
    const std::string word(line.substr(0, end));
    line.remove_prefix(std::min(line.size(), end + (quoted ? 2 : 1)));
    if (word == "|" || word == "&&" || word == "||") break;
    if (!word.starts_with('<') && !word.starts_with('>')) words.push_back(word);
  }
  return words;
}

TEST(CliTable, ExamplesAreLinesOfTheirCommands) {
  for (const CommandRow& row : command_list()) {
    EXPECT_NE(row.examples[0], row.examples[1]) << row.name;
    for (const std::string_view example : row.examples) {
      EXPECT_LE(example.size(), 78u) << example;
      const std::size_t begin = example.rfind("sheaf " + std::string(row.name));
      ASSERT_NE(begin, example.npos) << example;
      const std::string_view line = example.substr(begin + std::string_view("sheaf ").size());
      EXPECT_EQ(parsed_line(words_of_example(line)).row, &row) << example;
    }
  }
}

TEST(CliTable, TheNearestWordHasAtMostTwoLettersWrong) {
  const std::string_view known[] = {"get", "mget", "watch", "locate"};
  EXPECT_EQ(nearest("gte", known), "get");
  EXPECT_EQ(nearest("wacht", known), "watch");
  EXPECT_EQ(nearest("locat", known), "locate");
  EXPECT_EQ(nearest("frobnicate", known), "");
  EXPECT_EQ(nearest("x", known), "");
  EXPECT_EQ(nearest("loc", known), "locate") << "begins no other word";
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(1000, 'g'), known), "");
  const std::string_view options[] = {"--keys", "--interval", "--if-absent", "--if-present"};
  EXPECT_EQ(nearest("--interv", options), "--interval");
  EXPECT_EQ(nearest("--if", options), "") << "begins two";
  EXPECT_EQ(nearest("--", options), "");
}

TEST(CliHelp, NoLineIsWiderThanATerminal) {
  std::string all = help_of(command_list(), "");
  for (const CommandRow& row : command_list()) all += help_of(command_list(), row.name);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
    at = end + 1;
  }
}

TEST(CliHelp, OfACommandWithFewOptionsFitsATerminalBelowThePrompt) {
  for (const CommandRow& row : command_list()) {
    const std::string help = help_of(command_list(), row.name);
    const auto lines = std::ranges::count(help, '\n');
    EXPECT_LE(lines, row.options.size() <= 4 ? 23 : row.options.size() <= 8 ? 24 : 30) << row.name;
    for (const std::string_view example : row.examples)
      EXPECT_THAT(help, HasSubstr("\n  " + std::string(example) + "\n"));
  }
}

TEST(CliHelp, WhatAllCommandsShareIsSaidOnce) {
  const std::string shared = help_of(command_list(), "options");
  for (const OptionRow& option : global_options())
    EXPECT_THAT(shared, HasSubstr("  " + std::string(option.name)));
  for (const VariableRow& variable : environment_variables())
    EXPECT_THAT(shared, HasSubstr("  " + std::string(variable.name)));
  EXPECT_THAT(shared, HasSubstr("Exit codes:"));
  EXPECT_THAT(help_of(command_list(), "get"), Not(HasSubstr("--servers")));
  EXPECT_THAT(help_of(command_list(), ""), Not(HasSubstr("--servers")));
}

TEST(CliHelp, OfACommandNamesNoOptionThatItRefuses) {
  for (const CommandRow& row : command_list()) {
    if (row.refused.options.empty()) continue;
    const std::string help = help_of(command_list(), row.name);
    for (const std::string_view option : row.refused.options) {
      EXPECT_THAT(help, Not(HasSubstr(std::string(option) + " "))) << row.name;
      EXPECT_THAT(help, Not(HasSubstr(std::string(option) + ","))) << row.name;
      EXPECT_EQ(refusal_of({std::string(row.name), std::string(option), "x"}).find(option), 0u);
    }
    EXPECT_THAT(help, HasSubstr("--json"));
  }
}

TEST(CliHelp, TheOverviewHasEveryCommandAndEachItsOptions) {
  for (const CommandRow& row : command_list()) {
    EXPECT_THAT(help_of(command_list(), ""), HasSubstr("  " + std::string(row.name)));
    const std::string help = help_of(command_list(), row.name);
    EXPECT_TRUE(help.starts_with("Usage: sheaf [OPTIONS] " + std::string(row.name))) << help;
    for (const OptionRow& option : row.options)
      EXPECT_THAT(help, HasSubstr("  " + std::string(option.name)));
  }
}

// True if a table of that chapter has a row for the command: its first cell has the command's name,
// or the last word of it, at the beginning of code.
bool has_row(std::string_view page, std::string_view chapter, std::string_view command) {
  const std::size_t begin = page.find(chapter);
  page = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  for (const auto line : page | std::views::split('\n')) {
    std::string_view row(line.begin(), line.end());
    if (!row.starts_with("| ")) continue;
    row = row.substr(0, row.find(" | "));
    for (const std::string_view name : {command, command.substr(command.rfind(' ') + 1)}) {
      for (const char end : {' ', '`'}) {
        if (row.contains("`" + std::string(name) + end)) return true;
      }
    }
  }
  return false;
}

TEST(CliPage, HasARowForEveryCommandAndForItsLinesOfJson) {
  std::ifstream file(SHEAF_TEST_DOCS "/cli.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::set<std::string_view> texts{"help", "completion", "man"};  // without lines
  for (const CommandRow& row : command_list()) {
    EXPECT_TRUE(has_row(page, "\n## Commands\n", row.name)) << row.name;
    EXPECT_EQ(has_row(page, "\n## Lines of JSON\n", row.name), !texts.contains(row.name))
        << row.name;
  }
  EXPECT_FALSE(has_row(page, "\n## Commands\n", "gets"));
}

// docs/cli.md is written by hand. It must have every word of the table.
TEST(CliPage, HasEveryCommandOptionAndVariable) {
  std::ifstream file(SHEAF_TEST_DOCS "/cli.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  ASSERT_FALSE(page.empty());
  const auto has = [&](std::string_view word) { EXPECT_THAT(page, HasSubstr(std::string(word))); };
  for (const CommandRow& row : command_list()) {
    has("`" + std::string(row.name.substr(0, row.name.find(' '))));
    for (const OptionRow& option : row.options) has(option.name);
  }
  for (const OptionRow& option : global_options()) {
    if (option.name != "--help") has("`" + std::string(option.name));
  }
  for (const VariableRow& row : environment_variables()) has(row.name);
}

TEST(CliManual, HasEveryCommandOptionVariableAndExitCode) {
  const std::string page = manual_page(command_list());
  EXPECT_TRUE(page.starts_with(".TH SHEAF 1"));
  const auto plain = [](std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '-' ? std::string("\\-") : std::string(1, c);
    return out;
  };
  const auto bold = [&](std::string_view text) { return "\\fB" + plain(text) + "\\fR"; };
  for (const CommandRow& row : command_list()) {
    EXPECT_THAT(page, HasSubstr(".SS " + bold(row.name)));
    for (const OptionRow& option : row.options) EXPECT_THAT(page, HasSubstr(bold(option.name)));
    EXPECT_THAT(page, HasSubstr(plain(row.examples[1])));
  }
  for (const VariableRow& row : environment_variables())
    EXPECT_THAT(page, HasSubstr(bold(row.name)));
  for (const ExitRow& row : exit_codes())
    EXPECT_THAT(page, HasSubstr(bold(std::to_string(row.code))));
}

TEST(CliCompletion, ThreeShellsHaveScriptsWithEveryWord) {
  EXPECT_FALSE(completion_script(command_list(), "csh"));
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(command_list(), shell).value();
    for (const CommandRow& row : command_list()) {
      EXPECT_THAT(script, HasSubstr(std::string(row.name.substr(row.name.find(' ') + 1)))) << shell;
      EXPECT_THAT(script, HasSubstr(std::string(row.completion.words))) << shell;
      for (const OptionRow& option : row.options) {
        EXPECT_THAT(script, HasSubstr(std::string(option.name.substr(2)))) << shell;
        EXPECT_THAT(script, HasSubstr(std::string(option.completion.words))) << shell;
      }
    }
  }
}

}  // namespace
}  // namespace sheaf::cli
