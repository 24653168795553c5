// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/mqtt5/wire.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace sheaf::protocol::mqtt5 {
namespace {

// Nonzero exactly if one of eight bytes is U+0000 or not ASCII.
std::uint64_t odd_bytes(const char* at) noexcept {
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return (word | (word - ones)) & (0x80 * ones);
}

// Checks eight bytes at a time; the last eight may overlap those before.
bool is_plain(std::string_view text) noexcept {
  constexpr std::size_t width = sizeof(std::uint64_t);
  if (text.size() < width) {
    return std::ranges::none_of(text, [](char c) { return static_cast<signed char>(c) <= 0; });
  }
  const std::size_t last = text.size() - width;
  std::uint64_t found = odd_bytes(text.data() + last);
  for (std::size_t at = 0; at < last; at += width) found |= odd_bytes(text.data() + at);
  return found == 0;
}

}  // namespace

bool is_mqtt_string(std::string_view text) noexcept {
  // Nearly every string on the wire is ASCII without U+0000: one pass settles those.
  return is_plain(text) || (text.find('\0') == std::string_view::npos && is_utf8(text));
}

bool has_wildcard(std::string_view topic) noexcept {
  return topic.find('+') != std::string_view::npos || topic.find('#') != std::string_view::npos;
}

}  // namespace sheaf::protocol::mqtt5
