#pragma once

// The part of a key that decides its place, in sheaf and in Redis clusters: the text between the
// first "{" and the next "}" if there is a byte between them, otherwise the whole key. Keys with
// the same tag share a node.

#include <string_view>

namespace sheaf {

constexpr std::string_view routing_key(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == key.npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace sheaf
