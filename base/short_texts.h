#pragma once

// Shared by MD5 and SHA-1, which hash several short texts at once. Most processors compute on four
// numbers as fast as on one, and on eight of them in little more if all fit in registers, because
// one half is computed while the other waits for the step before.
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

namespace sheaf::short_texts {

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

// Calls of_many(index) for each `Count` short texts in a row, and of_one(index) for any other text.
template <std::size_t Count, class OfMany, class OfOne>
void each(std::span<const std::string_view> texts, const OfMany& of_many, const OfOne& of_one) {
  const auto is_short = [](std::string_view text) { return text.size() <= longest; };
  for (std::size_t at = 0; at < texts.size();) {
    const auto many = texts.subspan(at, std::min(Count, texts.size() - at));
    if (many.size() == Count && std::ranges::all_of(many, is_short)) {
      of_many(at);
      at += Count;
    } else {
      of_one(at++);
    }
  }
}

}  // namespace sheaf::short_texts
