#pragma once

// Views of bytes. Raw input and output are spans; keys, values, topics and texts are string_views.

#include <cstddef>
#include <span>
#include <string_view>

namespace sheaf {

using Bytes = std::span<const std::byte>;

inline std::string_view as_text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace sheaf
