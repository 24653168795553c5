#include "cli/list_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace sheaf::cli {

namespace {

struct Form {
  std::string_view word;
  ListAction action;
  std::size_t least, most;  // arguments after the name
  std::string_view wants;
};

constexpr std::size_t any_number = static_cast<std::size_t>(-1);
constexpr std::array<Form, 8> list_forms = {{
    {"push", ListAction::push, 1, any_number, "push NAME VALUE... or push NAME -"},
    {"insert", ListAction::insert, 2, 2, "insert NAME INDEX VALUE"},
    {"update", ListAction::update, 2, 2, "update NAME INDEX VALUE"},
    {"remove", ListAction::remove, 1, 1, "remove NAME INDEX"},
    {"range", ListAction::range, 2, 2, "range NAME FIRST LAST"},
    {"len", ListAction::length, 0, 0, "len NAME"},
    {"clear", ListAction::clear, 0, 0, "clear NAME"},
    {"drop-holes", ListAction::drop_holes, 0, 0, "drop-holes NAME"},
}};

std::optional<std::int64_t> parse_index(std::string_view text) {
  std::int64_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, index);
  if (error != std::errc() || at != end) return std::nullopt;
  return index;
}

}  // namespace

std::expected<ListArguments, std::string> read_list_words(const std::string& action,
                                                          const std::string& name,
                                                          std::vector<std::string> rest) {
  const auto* const form = std::ranges::find(list_forms, action, &Form::word);
  if (form == list_forms.end()) {
    return std::unexpected(
        "list has no action " + printable(action) +
        "; it is push, insert, update, remove, range, len, clear or drop-holes.");
  }
  if (rest.size() < form->least || rest.size() > form->most) {
    return std::unexpected("list wants " + std::string(form->wants) + ".");
  }
  ListArguments out;
  out.action = form->action;
  out.name = name;
  const bool indexed = form->action != ListAction::push && !rest.empty();
  const std::size_t indexes = !indexed ? 0 : form->action == ListAction::range ? 2 : 1;
  for (std::size_t i = 0; i < indexes; ++i) {
    const auto index = parse_index(rest[i]);
    if (!index) {
      return std::unexpected("an index must be an integer, negative counts from the end, not " +
                             printable(rest[i]) + ".");
    }
    (i == 0 ? out.index : out.last) = *index;
  }
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(indexes));
  if (form->action == ListAction::push && rest == std::vector<std::string>{"-"}) {
    out.from_stdin = true;
    rest.clear();
  }
  out.values = std::move(rest);
  return out;
}

}  // namespace sheaf::cli
