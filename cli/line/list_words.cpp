#include "cli/line/list_words.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace sheaf::cli {

namespace {

constexpr std::array<std::pair<std::string_view, ListAction>, 8> list_actions = {{
    {"push", ListAction::push},
    {"insert", ListAction::insert},
    {"update", ListAction::update},
    {"remove", ListAction::remove},
    {"range", ListAction::range},
    {"len", ListAction::length},
    {"clear", ListAction::clear},
    {"drop-holes", ListAction::drop_holes},
}};

std::optional<std::int64_t> parse_index(std::string_view text) {
  std::int64_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, index);
  if (error != std::errc() || at != end) return std::nullopt;
  return index;
}

}  // namespace

std::expected<ListArguments, std::string> read_list_words(std::string_view action,
                                                          const std::string& name,
                                                          std::vector<std::string> rest,
                                                          bool piped) {
  ListArguments out;
  for (const auto& [word, each] : list_actions) {
    if (word == action) out.action = each;
  }
  out.name = name;
  const bool indexed = out.action != ListAction::push && !rest.empty();
  const std::size_t indexes = !indexed ? 0 : out.action == ListAction::range ? 2 : 1;
  for (std::size_t i = 0; i < indexes; ++i) {
    const auto index = parse_index(rest[i]);
    if (!index) {
      return std::unexpected("an index must be an integer, negative counts from the end, not " +
                             printable(rest[i]) + ".");
    }
    (i == 0 ? out.index : out.last) = *index;
  }
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(indexes));
  if (out.action == ListAction::push && piped) {
    out.from_stdin = true;
    rest.clear();
  }
  out.values = std::move(rest);
  return out;
}

}  // namespace sheaf::cli
