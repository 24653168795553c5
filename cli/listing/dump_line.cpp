#include "cli/listing/dump_line.h"

#include <utility>

#include "base/percent.h"
#include "base/text.h"

namespace sheaf::cli {

std::optional<DumpedItem> item_of_dump_line(std::string_view line) {
  constexpr std::string_view begin = "key=";
  if (!line.starts_with(begin)) return std::nullopt;
  line.remove_prefix(begin.size());
  auto key = percent_decode(take_until(line, ' '));
  if (!key || key->empty()) return std::nullopt;
  DumpedItem item{std::move(*key), {}, {}};
  while (!line.empty()) {
    std::string_view word = take_until(line, ' ');
    const std::string_view name = take_until(word, '=');
    const auto number = parse_decimal(word);  // none for exp=-1
    if (name == "exp" && number) item.expiry = static_cast<std::int64_t>(*number);
    if (name == "size") item.size = number;
  }
  return item;
}

DumpLine read_dump_line(std::string_view line) {
  using enum DumpLine::Kind;
  if (line == "OK") return {begin};
  if (line == "END") return {end};
  if (line.starts_with("BUSY ")) return {busy};
  if (line.starts_with("CLIENT_ERROR unauthenticated")) return {login};
  auto found = item_of_dump_line(line);
  return found ? DumpLine{item, std::move(*found)} : DumpLine{other};
}

}  // namespace sheaf::cli
