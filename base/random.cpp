#include "base/random.h"

#include <bit>
#include <cstring>

namespace sheaf {
namespace {

using State = std::array<std::uint32_t, 16>;

void quarter(State& s, unsigned a, unsigned b, unsigned c, unsigned d) noexcept {
  s[a] += s[b], s[d] = std::rotl(s[d] ^ s[a], 16);
  s[c] += s[d], s[b] = std::rotl(s[b] ^ s[c], 12);
  s[a] += s[b], s[d] = std::rotl(s[d] ^ s[a], 8);
  s[c] += s[d], s[b] = std::rotl(s[b] ^ s[c], 7);
}

}  // namespace

Random::Random(std::uint64_t seed) noexcept : key_{} {
  key_[0] = static_cast<std::uint32_t>(seed);
  key_[1] = static_cast<std::uint32_t>(seed >> 32);
}

// RFC 8439 §2.3, nonce zero, 64-bit block counter.
void Random::refill() noexcept {
  State s{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (unsigned i = 0; i < 8; ++i) s[4 + i] = key_[i];
  s[12] = static_cast<std::uint32_t>(block_);
  s[13] = static_cast<std::uint32_t>(block_ >> 32);
  ++block_;
  pool_ = s;
  for (int round = 0; round < 10; ++round) {
    quarter(pool_, 0, 4, 8, 12), quarter(pool_, 1, 5, 9, 13);
    quarter(pool_, 2, 6, 10, 14), quarter(pool_, 3, 7, 11, 15);
    quarter(pool_, 0, 5, 10, 15), quarter(pool_, 1, 6, 11, 12);
    quarter(pool_, 2, 7, 8, 13), quarter(pool_, 3, 4, 9, 14);
  }
  for (unsigned i = 0; i < 16; ++i) pool_[i] += s[i];
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
  while (!out.empty()) {
    const std::uint32_t word = u32();
    const std::size_t size = out.size() < sizeof word ? out.size() : sizeof word;
    std::memcpy(out.data(), &word, size);
    out = out.subspan(size);
  }
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
