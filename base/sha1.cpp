#include "base/sha1.h"

#include <bit>
#include <cstddef>

namespace sheaf {
namespace {

constexpr std::size_t block_size = 64;
using Block = std::array<std::uint8_t, block_size>;

// RFC 3174 section 5: the function and the constant of each 20 of the 80 steps.
std::uint32_t mix(unsigned round, std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
  if (round == 0) return (b & c) | (~b & d);
  if (round == 2) return (b & c) | (b & d) | (c & d);
  return b ^ c ^ d;
}
constexpr std::array<std::uint32_t, 4> constants{0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

void add_block(Sha1& state, const Block& block) noexcept {
  std::array<std::uint32_t, 80> words;
  for (unsigned i = 0; i < 16; ++i) {
    words[i] = 0;
    for (unsigned byte = 0; byte < 4; ++byte) words[i] = words[i] << 8 | block[4 * i + byte];
  }
  for (unsigned i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (unsigned i = 0; i < 80; ++i) {
    const std::uint32_t next =
        std::rotl(a, 5) + mix(i / 20, b, c, d) + e + words[i] + constants[i / 20];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const Sha1 mixed{a, b, c, d, e};
  for (unsigned i = 0; i < 5; ++i) state[i] += mixed[i];
}

}  // namespace

// The text is followed by a one bit, by zeros, and by its length in bits as the last 8 bytes of a
// block.
Sha1 sha1(std::string_view data) noexcept {
  Sha1 state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::uint64_t bits = std::uint64_t{data.size()} * 8;
  const std::size_t blocks = (data.size() + 8) / block_size + 1;
  for (std::size_t i = 0; i < blocks; ++i) {
    Block block{};
    const std::size_t start = i * block_size;
    for (std::size_t at = 0; at < block_size && start + at <= data.size(); ++at) {
      const bool text = start + at < data.size();
      block[at] = text ? static_cast<std::uint8_t>(data[start + at]) : 0x80;
    }
    if (i + 1 == blocks) {
      for (unsigned byte = 0; byte < 8; ++byte) {
        block[block_size - 1 - byte] = static_cast<std::uint8_t>(bits >> 8 * byte);
      }
    }
    add_block(state, block);
  }
  return state;
}

}  // namespace sheaf
