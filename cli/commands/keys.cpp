#include "cli/commands/keys.h"

#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "cli/system/input.h"

namespace sheaf::cli {

namespace {

// "line 3", or the key itself.
std::string name_of(const KeysWords& words, std::size_t index, std::string_view key) {
  if (words.from_stdin) return "line " + std::to_string(index + 1);
  return "key \"" + printable(key) + "\"";
}

}  // namespace

std::unique_ptr<KeyList> read_keys(Context& context, const KeysWords& words) {
  auto list = std::make_unique<KeyList>();
  std::vector<std::string_view> given(words.keys.begin(), words.keys.end());
  if (words.from_stdin) {
    auto input = read_all(context.in, most_input);
    if (!input) {
      (void)refuse(context, input.error() + ".");
      return nullptr;
    }
    list->text = std::move(*input);
    given = split_lines(list->text);
  }
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!seen.insert(given[i]).second) continue;
    const auto location = context.client.locate(given[i]);
    if (!location && location.error().outcome == Outcome::invalid) {
      (void)refuse(context, name_of(words, i, given[i]) + ": " + sentence_of(location.error()));
      return nullptr;
    }
    list->keys.push_back(given[i]);
  }
  return list;
}

}  // namespace sheaf::cli
