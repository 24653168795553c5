#pragma once

// What of a key decides its place, here and in the clusters of the Redis protocol: the text between
// the first "{" and the next "}" if there is a byte between them, else all of it. Keys with one tag
// share a node.

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
