#include "base/percent.h"

#include "base/text.h"

namespace sheaf {
namespace {

// A string with this capacity is not stored inside its object, so moving it leaves no copy.
constexpr std::size_t secret_room = 32;

bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string percent_encode(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (const char& c : text) {
    if (is_unreserved(c) || kept.contains(c)) {
      out.append(1, c);
    } else {
      out.append(1, '%');
      hex_append(out, {&c, 1});
    }
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() + secret_room);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const auto byte = i + 2 < text.size() ? hex_decode(text.substr(i + 1, 2)) : std::nullopt;
    if (!byte) return std::nullopt;
    out.append(*byte);
    i += 2;
  }
  return out;
}

}  // namespace sheaf
