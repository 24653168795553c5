#include "cli/line/guarded_words.h"

#include <algorithm>
#include <cstddef>

namespace sheaf::cli {

namespace {

constexpr char word_guard = '\x01';
constexpr char literal_guard = '\x02';

std::string guarded(std::string_view word, char guard = word_guard) {
  std::string out(1, guard);
  out.append(word);
  return out;
}

// Such a word is the index of a list's item, not an option.
bool is_negative_number(std::string_view word) {
  return word.size() > 1 && word.front() == '-' &&
         word.find_first_not_of("0123456789", 1) == word.npos;
}

bool needs_guard(std::string_view word) {
  return word.empty() || is_negative_number(word) || word == "++" || word.front() == word_guard ||
         word.front() == literal_guard || (word.front() == '[' && word.back() == ']');
}

// CLI11 reads "--name=" as no value at all, and "--name=[x]" as a list. "--name=true" would set a
// flag; with the guard the value is not a flag's, and CLI11 refuses it.
void append_word(std::vector<std::string>& out, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (word.starts_with("--") && equals != std::string::npos) {
    const std::string_view value = std::string_view(word).substr(equals + 1);
    out.push_back(word.substr(0, equals + 1) + guarded(value));
    return;
  }
  out.push_back(needs_guard(word) ? guarded(word) : word);
}

// True if the word is a command, or the first word of one.
bool is_command(CommandTable table, std::string_view word) {
  return find_command(table, word) != nullptr || begins_commands(table, word);
}

}  // namespace

std::vector<std::string> guard_words(CommandTable table, const std::vector<std::string>& words) {
  std::vector<std::string> out;
  out.reserve(words.size() + 1);
  const auto end_of_options = std::ranges::find(words, "--");
  std::string command;
  // Extends the command until it is complete: "list" needs "push".
  const auto read = [&](const std::string& word) {
    if (command.empty()) {
      if (is_command(table, word)) command = word;
    } else if (begins_commands(table, command) &&
               find_command(table, command + " " + word) != nullptr) {
      command += " " + word;
    }
  };
  for (auto word = words.begin(); word != end_of_options; ++word) {
    // CLI11 takes a key with the name of a command for that command.
    if (find_command(table, command) != nullptr && is_command(table, *word)) {
      out.push_back(guarded(*word));
      continue;
    }
    read(*word);
    append_word(out, *word);
  }
  if (end_of_options == words.end()) return out;
  for (auto word = std::next(end_of_options); word != words.end(); ++word) {
    // "sheaf --json -- get KEY": the first word after "--" is then the command.
    const bool wanted = find_command(table, command) == nullptr;
    if (wanted) read(*word);
    out.push_back(wanted ? *word : guarded(*word, literal_guard));
  }
  return out;
}

std::string unguard(std::string_view word) {
  if (word.starts_with(word_guard) || word.starts_with(literal_guard)) word.remove_prefix(1);
  return std::string(word);
}

bool literal(std::string_view guarded) noexcept { return guarded.starts_with(literal_guard); }

}  // namespace sheaf::cli
