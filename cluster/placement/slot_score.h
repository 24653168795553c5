#pragma once

// Scores of weighted rendezvous in integers. They are bit-identical on every machine and compiler,
// because they place keys. docs/wire/locators.md, "Slots".
//
// Thread rule: pure functions and constants.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace sheaf::cluster {

// The upper 64 bits of the product of two 64-bit numbers.
constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t low_half = 0xFFFF'FFFF;
  const std::uint64_t low = (a & low_half) * (b & low_half);
  const std::uint64_t middle = (a >> 32) * (b & low_half) + (low >> 32);
  const std::uint64_t other = (a & low_half) * (b >> 32) + (middle & low_half);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

inline constexpr unsigned log_bits = 42;        // fraction bits of a logarithm
inline constexpr unsigned log_table_bits = 10;  // the table has 2^10 + 1 entries

// floor(2^42 * log2(1 + i / 1024)), computed bit by bit: squaring doubles the logarithm, and its
// integer part is the next bit.
constexpr std::uint64_t log_table_entry(std::uint64_t i) noexcept {
  std::uint64_t x = (std::uint64_t{1} << 63) + (i << (63 - log_table_bits));  // 1 <= x < 2, Q63
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < log_bits; ++bit) {
    const std::uint64_t square = multiply_high(x, x);  // Q62
    const bool two_or_more = square >> 63 != 0;
    result = result << 1 | (two_or_more ? 1u : 0u);
    x = two_or_more ? square : square << 1;
  }
  return result;
}

inline constexpr auto log_table = [] {
  std::array<std::uint64_t, (1u << log_table_bits) + 1> table{};
  for (std::uint64_t i = 0; i + 1 < table.size(); ++i) table[i] = log_table_entry(i);
  table.back() = std::uint64_t{1} << log_bits;
  return table;
}();

// 2^42 * log2(draw), linear between the entries of the table. It never falls as the draw grows.
constexpr std::uint64_t fixed_log2(std::uint64_t draw) noexcept {
  if (draw == 0) draw = 1;
  const auto zeros = static_cast<unsigned>(std::countl_zero(draw));
  const std::uint64_t mantissa = draw << zeros;  // the top bit is the 1 before the point
  const std::uint64_t i = mantissa >> 53 & 0x3FF;
  const std::uint64_t rest = mantissa >> 22 & 0x7FFF'FFFF;  // the next 31 bits
  const std::uint64_t step = log_table[i + 1] - log_table[i];
  return (std::uint64_t{63 - zeros} << log_bits) + log_table[i] + (step * rest >> 31);
}

// 2^42 * -log2(draw / 2^64), from 1 to 2^48. The node with the least race / weight wins a slot.
// race / weight is exponentially distributed with the weight as its rate, so each node wins with
// the probability weight / sum of weights.
constexpr std::uint64_t race(std::uint64_t draw) noexcept {
  return (std::uint64_t{1} << 48) - fixed_log2(draw);
}

// The draw of a node for a slot: number slot + 1 of the SplitMix64 stream that the hash of the
// node's identity seeds.
constexpr std::uint64_t slot_draw(std::uint64_t node_hash, std::uint32_t slot) noexcept {
  std::uint64_t z = node_hash + (std::uint64_t{slot} + 1) * 0x9E37'79B9'7F4A'7C15;
  z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EB;
  return z ^ z >> 31;
}

// A node's bid for a slot.
struct SlotBid {
  std::uint64_t draw = 0;
  std::uint64_t race = 0;  // race(draw)
  std::uint64_t weight = 1;
  std::string_view identity;
};

// The least race / weight wins, compared as fractions. A tie goes to the greater draw, then to the
// lesser identity.
constexpr bool outbids(const SlotBid& a, const SlotBid& b) noexcept {
  const std::uint64_t left = a.race * b.weight;
  const std::uint64_t right = b.race * a.weight;
  if (left != right) return left < right;
  if (a.draw != b.draw) return a.draw > b.draw;
  return a.identity < b.identity;
}

}  // namespace sheaf::cluster
