#include "cli/line/program_words.h"

#include "base/nearest_word.h"
#include "base/text.h"
#include "cli/line/help.h"

namespace sheaf::cli {

std::expected<HelpWords, std::string> read_help_words(const ParsedLine& line) {
  HelpWords words;
  for (const std::string& word : line.texts()) words.name += (words.name.empty() ? "" : " ") + word;
  if (has_help(line.table, words.name)) return words;
  std::vector<std::string_view> known;
  for (const CommandRow& row : line.table) known.push_back(row.name);
  return std::unexpected("There is no command \"" + printable(words.name) + "\"." +
                         did_you_mean(words.name, known) + " See sheaf help.");
}

std::expected<CompletionWords, std::string> read_completion_words(const ParsedLine& line) {
  CompletionWords words{line.text(0)};
  if (words.shell == "bash" || words.shell == "zsh" || words.shell == "fish") return words;
  return std::unexpected("completion is for bash, zsh and fish, not \"" + printable(words.shell) +
                         "\".");
}

std::expected<NoWords, std::string> read_no_words(const ParsedLine&) { return NoWords{}; }

}  // namespace sheaf::cli
