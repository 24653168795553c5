#include "cli/listing/dump_line.h"

#include <utility>

#include "base/text.h"

namespace sheaf::cli {
namespace {

bool stays(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string encode_key(std::string_view key) {
  std::string text;
  text.reserve(key.size());
  for (const char& c : key) {
    if (stays(c)) {
      text.append(1, c);
    } else {
      text.append(1, '%');
      hex_append(text, {&c, 1});
    }
  }
  return text;
}

std::optional<std::string> decode_key(std::string_view text) {
  std::string key;
  key.reserve(text.size());
  while (!text.empty()) {
    if (text.front() != '%') {
      key.append(1, text.front());
      text.remove_prefix(1);
      continue;
    }
    const auto byte = text.size() < 3 ? std::nullopt : hex_decode(text.substr(1, 2));
    if (!byte) return std::nullopt;
    key.append(*byte);
    text.remove_prefix(3);
  }
  return key;
}

std::optional<DumpedItem> item_of_dump_line(std::string_view line) {
  constexpr std::string_view begin = "key=";
  if (!line.starts_with(begin)) return std::nullopt;
  line.remove_prefix(begin.size());
  auto key = decode_key(take_until(line, ' '));
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
