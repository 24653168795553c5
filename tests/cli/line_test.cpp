// What is made from the table of commands: help, manual page, completions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "cli/line/command_table.h"
#include "cli/line/help.h"

namespace sheaf::cli {
namespace {

using testing::HasSubstr;

TEST(CliTable, CountsTheArgumentsOfARow) {
  const auto counts = [](const char* name) {
    const ArgumentCount count = count_of_arguments(*find_command(name));
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
  for (const CommandRow& row : command_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.purpose.empty() || row.purpose.ends_with('.')) << row.name;
    EXPECT_TRUE(row.text.empty() || row.text.ends_with('.') || row.text.ends_with(')')) << row.name;
    for (const OptionRow& option : row.options) {
      EXPECT_TRUE(option.name.starts_with("--")) << option.name;
      EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << option.name;
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
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(1000, 'g'), known), "");
}

TEST(CliHelp, NoLineIsWiderThanATerminal) {
  std::string all = help_of("");
  for (const CommandRow& row : command_table()) all += help_of(row.name);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
    at = end + 1;
  }
}

TEST(CliHelp, TheOverviewHasEveryCommandAndEachItsOptions) {
  for (const CommandRow& row : command_table()) {
    EXPECT_THAT(help_of(""), HasSubstr("  " + std::string(row.name)));
    const std::string help = help_of(row.name);
    EXPECT_TRUE(help.starts_with("Usage: sheaf [OPTIONS] " + std::string(row.name))) << help;
    for (const OptionRow& option : row.options)
      EXPECT_THAT(help, HasSubstr("  " + std::string(option.name)));
  }
}

// docs/cli.md is written by hand, and lacks no word of the table.
TEST(CliPage, HasEveryCommandOptionAndVariable) {
  std::ifstream file(SHEAF_TEST_DOCS "/cli.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  ASSERT_FALSE(page.empty());
  const auto has = [&](std::string_view word) { EXPECT_THAT(page, HasSubstr(std::string(word))); };
  for (const CommandRow& row : command_table()) {
    has("`" + std::string(row.name.substr(0, row.name.find(' '))));
    for (const OptionRow& option : row.options) has(option.name);
  }
  for (const OptionRow& option : global_options()) {
    if (option.name != "--help") has("`" + std::string(option.name));
  }
  for (const VariableRow& row : environment_variables()) has(row.name);
}

TEST(CliManual, HasEveryCommandOptionVariableAndExitCode) {
  const std::string page = manual_page();
  EXPECT_TRUE(page.starts_with(".TH SHEAF 1"));
  const auto bold = [](std::string_view text) {
    std::string out = "\\fB";
    for (const char c : text) out += c == '-' ? std::string("\\-") : std::string(1, c);
    return out + "\\fR";
  };
  for (const CommandRow& row : command_table()) {
    EXPECT_THAT(page, HasSubstr(".SS " + bold(row.name)));
    for (const OptionRow& option : row.options) EXPECT_THAT(page, HasSubstr(bold(option.name)));
  }
  for (const VariableRow& row : environment_variables())
    EXPECT_THAT(page, HasSubstr(bold(row.name)));
  for (const ExitRow& row : exit_codes())
    EXPECT_THAT(page, HasSubstr(bold(std::to_string(row.code))));
}

TEST(CliCompletion, ThreeShellsHaveScriptsWithEveryWord) {
  EXPECT_FALSE(completion_script("csh"));
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(shell).value();
    for (const CommandRow& row : command_table()) {
      EXPECT_THAT(script, HasSubstr(std::string(row.name.substr(row.name.find(' ') + 1)))) << shell;
      for (const OptionRow& option : row.options)
        EXPECT_THAT(script, HasSubstr(std::string(option.name.substr(2)))) << shell;
    }
  }
}

}  // namespace
}  // namespace sheaf::cli
