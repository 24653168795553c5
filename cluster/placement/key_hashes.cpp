// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/key_hashes.h"

#include <array>
#include <bit>

namespace sheaf::cluster {
namespace {

// By byte: the remainder of that byte's division by the polynomial of CRC-32, in reversed bits.
constexpr auto remainders = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? 0xedb88320u : 0u);
    table[byte] = rest;
  }
  return table;
}();

}  // namespace

void OneAtATime::add(std::string_view text) noexcept {
  std::uint32_t value = state_;
  for (const char c : text) {
    value += static_cast<std::uint32_t>(static_cast<signed char>(c));
    value += value << 10;
    value ^= value >> 6;
  }
  state_ = value;
}

std::uint32_t OneAtATime::hash() const noexcept {
  std::uint32_t value = state_;
  value += value << 3;
  value ^= value >> 11;
  return value + (value << 15);
}

std::uint32_t one_at_a_time(std::string_view text) noexcept {
  OneAtATime hash;
  hash.add(text);
  return hash.hash();
}

std::uint32_t crc32(std::string_view text, std::uint32_t before) noexcept {
  std::uint32_t rest = ~before;
  for (const char c : text) {
    rest = rest >> 8 ^ remainders[(rest ^ static_cast<std::uint8_t>(c)) & 0xff];
  }
  return ~rest;
}

std::uint32_t Murmur3::scrambled(std::uint32_t word) noexcept {
  return std::rotl(word * 0xcc9e2d51, 15) * 0x1b873593;
}

void Murmur3::add_word() noexcept {
  state_ = std::rotl(state_ ^ scrambled(tail_), 13) * 5 + 0xe6546b64;
  tail_ = 0;
}

// An empty tail is 0, and so is what it adds.
std::uint32_t Murmur3::hash() const noexcept {
  std::uint32_t value = state_ ^ scrambled(tail_) ^ size_;
  value = (value ^ value >> 16) * 0x85ebca6b;
  value = (value ^ value >> 13) * 0xc2b2ae35;
  return value ^ value >> 16;
}

}  // namespace sheaf::cluster
