#pragma once

// The usual reply, a text, read without a tree: "$5\r\nhello\r\n".
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <optional>
#include <string_view>

namespace sheaf::protocol::resp {

struct WholeText {
  std::string_view text;
  std::size_t size = 0;  // of all its bytes
};

// The text at the beginning of `data`. Nothing if it is not complete, has a million bytes or more,
// or is anything else: ReplyReader says what.
inline std::optional<WholeText> read_whole_text(std::string_view data) noexcept {
  constexpr std::size_t most_digits = 6;
  constexpr std::size_t least = 6;  // "$0\r\n\r\n"
  if (data.size() < least || data[0] != '$') return std::nullopt;
  std::size_t size = 0;
  std::size_t at = 1;
  for (; at <= most_digits && data[at] >= '0' && data[at] <= '9'; ++at) {
    if (at + 1 == data.size()) return std::nullopt;
    size = size * 10 + static_cast<unsigned>(data[at] - '0');
  }
  if (at == 1 || (data[1] == '0' && at > 2)) return std::nullopt;
  const std::size_t begin = at + 2;
  const std::size_t end = begin + size;
  if (end + 2 > data.size()) return std::nullopt;
  if (data[at] != '\r' || data[at + 1] != '\n') return std::nullopt;
  if (data[end] != '\r' || data[end + 1] != '\n') return std::nullopt;
  return WholeText{data.substr(begin, size), end + 2};
}

}  // namespace sheaf::protocol::resp
