#include "base/random.h"

#include <cstring>

namespace sheaf {
namespace {

// A row of the state, which has four by four words.
using Row [[gnu::vector_size(16)]] = std::uint32_t;

Row rotate(Row row, int bits) noexcept { return row << bits | row >> (32 - bits); }

// Four quarter rounds in parallel, one in each column.
void quarter(Row& a, Row& b, Row& c, Row& d) noexcept {
  a += b, d = rotate(d ^ a, 16);
  c += d, b = rotate(b ^ c, 12);
  a += b, d = rotate(d ^ a, 8);
  c += d, b = rotate(b ^ c, 7);
}

}  // namespace

Random::Random(std::uint64_t seed) noexcept : key_{} {
  key_[0] = static_cast<std::uint32_t>(seed);
  key_[1] = static_cast<std::uint32_t>(seed >> 32);
}

Random::Random(const Seed& seed, std::uint64_t drawn) noexcept : key_(seed), block_(drawn / 16) {
  if (drawn % 16 == 0) return;
  refill();
  used_ = static_cast<unsigned>(drawn % 16);
}

// RFC 8439 §2.3, nonce zero, 64-bit block counter.
void Random::refill() noexcept {
  const Row first{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  const Row second{key_[0], key_[1], key_[2], key_[3]};
  const Row third{key_[4], key_[5], key_[6], key_[7]};
  const Row fourth{static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32)};
  ++block_;
  Row a = first, b = second, c = third, d = fourth;
  for (int round = 0; round < 10; ++round) {
    quarter(a, b, c, d);
    // Turns diagonals into columns; the shuffles below turn them back.
    b = __builtin_shufflevector(b, b, 1, 2, 3, 0);
    c = __builtin_shufflevector(c, c, 2, 3, 0, 1);
    d = __builtin_shufflevector(d, d, 3, 0, 1, 2);
    quarter(a, b, c, d);
    b = __builtin_shufflevector(b, b, 3, 0, 1, 2);
    c = __builtin_shufflevector(c, c, 2, 3, 0, 1);
    d = __builtin_shufflevector(d, d, 1, 2, 3, 0);
  }
  const std::array<Row, 4> sum{a + first, b + second, c + third, d + fourth};
  std::memcpy(pool_.data(), sum.data(), sizeof pool_);
  used_ = 0;
}

std::uint32_t Random::u32() noexcept {
  if (used_ == pool_.size()) refill();
  return pool_[used_++];
}

double Random::between(double low, double high) noexcept {
  return low + (high - low) * (static_cast<double>(u64() >> 11) * 0x1.0p-53);
}

void Random::fill(std::span<std::byte> out) noexcept {
  for (; out.size() >= sizeof(std::uint32_t); out = out.subspan(sizeof(std::uint32_t))) {
    const std::uint32_t word = u32();
    std::memcpy(out.data(), &word, sizeof word);
  }
  if (out.empty()) return;
  const std::uint32_t word = u32();
  std::memcpy(out.data(), &word, out.size());
}

Seed Random::fork() noexcept {
  Seed child;
  for (auto& word : child) word = u32();
  return child;
}

std::string Random::hex(std::size_t size) {
  std::string text(size, '0');
  for (char& c : text) c = "0123456789abcdef"[u32() & 15];
  return text;
}

}  // namespace sheaf
