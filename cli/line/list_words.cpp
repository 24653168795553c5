#include "cli/line/list_words.h"

#include <charconv>
#include <utility>

#include "base/text.h"

namespace sheaf::cli {

namespace {

std::expected<std::int64_t, std::string> read_index(const std::string& text) {
  std::int64_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, index);
  if (error == std::errc() && at == end) return index;
  return std::unexpected("an index must be an integer (a negative one counts from the end), not " +
                         printable(text) + ".");
}

}  // namespace

std::expected<ListWords, std::string> read_list_words(const ParsedLine& line) {
  return ListWords{line.text(0)};
}

std::expected<ListItemWords, std::string> read_list_item_words(const ParsedLine& line) {
  const auto index = read_index(line.text(1));
  if (!index) return std::unexpected(index.error());
  return ListItemWords{line.text(0), *index, line.text(2)};
}

std::expected<ListRangeWords, std::string> read_list_range_words(const ParsedLine& line) {
  const auto first = read_index(line.text(1));
  if (!first) return std::unexpected(first.error());
  const auto last = read_index(line.text(2));
  if (!last) return std::unexpected(last.error());
  return ListRangeWords{line.text(0), *first, *last, line.has("--raw")};
}

std::expected<ListPushWords, std::string> read_list_push_words(const ParsedLine& line) {
  ListPushWords words{
      line.text(0), {}, line.arguments.size() == 2 && line.is_stdin(1), line.has("--persist")};
  if (!words.from_stdin) words.values = line.texts(1);
  return words;
}

}  // namespace sheaf::cli
