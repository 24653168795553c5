#include "cli/command_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.h"

namespace sheaf::cli {

namespace {

constexpr char word_guard = '\x01';

constexpr std::array<std::pair<Command, std::string_view>, 16> command_words = {{
    {Command::get, "get"},
    {Command::set, "set"},
    {Command::del, "del"},
    {Command::mget, "mget"},
    {Command::mset, "mset"},
    {Command::incr, "incr"},
    {Command::touch, "touch"},
    {Command::list, "list"},
    {Command::lock, "lock"},
    {Command::locate, "locate"},
    {Command::ring, "ring"},
    {Command::nodes, "nodes"},
    {Command::stats, "stats"},
    {Command::watch, "watch"},
    {Command::exec, "exec"},
    {Command::dev, "dev"},
}};

std::string guarded(std::string_view word) {
  std::string out(1, word_guard);
  out.append(word);
  return out;
}

// Not an option: the index of a list's item.
bool is_negative_number(std::string_view word) {
  return word.size() > 1 && word.front() == '-' &&
         word.find_first_not_of("0123456789", 1) == word.npos;
}

bool needs_guard(std::string_view word) {
  return word.empty() || is_negative_number(word) || word == "++" || word.front() == word_guard ||
         (word.front() == '[' && word.back() == ']');
}

// "--name=" gives CLI11 no value at all, and "--name=[x]" a list: such a value becomes a word.
void append_word(std::vector<std::string>& out, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (word.starts_with("--") && equals != std::string::npos) {
    const std::string_view value = std::string_view(word).substr(equals + 1);
    if (needs_guard(value)) {
      out.push_back(word.substr(0, equals));
      out.push_back(guarded(value));
      return;
    }
  }
  out.push_back(needs_guard(word) ? guarded(word) : word);
}

}  // namespace

std::string_view command_word(Command command) noexcept {
  return std::ranges::find(command_words, command, &decltype(command_words)::value_type::first)
      ->second;
}

std::optional<Command> command_of(std::string_view word) noexcept {
  const auto* const found =
      std::ranges::find(command_words, word, &decltype(command_words)::value_type::second);
  if (found == command_words.end()) return std::nullopt;
  return found->first;
}

std::vector<std::string> guard_words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  out.reserve(words.size() + 1);
  const auto end_of_options = std::ranges::find(words, "--");
  bool command_seen = false;
  for (auto word = words.begin(); word != end_of_options; ++word) {
    command_seen = command_seen || command_of(*word).has_value();
    append_word(out, *word);
  }
  if (end_of_options == words.end()) return out;
  for (auto word = std::next(end_of_options); word != words.end(); ++word) {
    // "sheaf --json -- get KEY": the first word after "--" is then the command.
    out.push_back(command_seen ? guarded(*word) : *word);
    command_seen = true;
  }
  return out;
}

std::string unguard(std::string_view word) {
  if (word.starts_with(word_guard)) word.remove_prefix(1);
  return std::string(word);
}

std::string usage_sentence(std::string_view text) {
  constexpr std::size_t longest = 300;
  std::string plain(text);
  std::erase(plain, word_guard);
  std::ranges::replace(plain, '\n', ' ');
  std::string sentence = printable(plain, longest);
  while (sentence.ends_with(' ') || sentence.ends_with('.')) sentence.pop_back();
  return sentence + "; sheaf --help tells more.";
}

}  // namespace sheaf::cli
