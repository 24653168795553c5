#pragma once

// Shared by MD5 and SHA-1, which hash four short texts at once: most processors compute on four
// numbers as fast as on one.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace sheaf::four_texts {

using Four = std::uint32_t __attribute__((vector_size(16)));

// What both functions hash at a time, and the longest text that fits in it with its padding.
using Block = std::array<char, 64>;
inline constexpr std::size_t longest = 55;

// The text, the one bit behind it, and zeros, with room for the length in the last 8 bytes.
inline Block padded(std::string_view text) noexcept {
  Block block{};
  if (!text.empty()) std::memcpy(block.data(), text.data(), text.size());
  block[text.size()] = static_cast<char>(0x80);
  return block;
}

// Calls of_four(index) for each four short texts in a row, and of_one(index) for any other text.
template <class OfFour, class OfOne>
void each(std::span<const std::string_view> texts, const OfFour& of_four, const OfOne& of_one) {
  const auto is_short = [](std::string_view text) { return text.size() <= longest; };
  for (std::size_t at = 0; at < texts.size();) {
    const auto four = texts.subspan(at, std::min<std::size_t>(4, texts.size() - at));
    if (four.size() == 4 && std::ranges::all_of(four, is_short)) {
      of_four(at);
      at += 4;
    } else {
      of_one(at++);
    }
  }
}

}  // namespace sheaf::four_texts
