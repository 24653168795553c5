#pragma once

// A random stream from a seed. It is a ChaCha20 key stream, so one token drawn from it (correlation
// data, client IDs) does not predict others, and a simulation replays from its seed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sheaf {

using Seed = std::array<std::uint32_t, 8>;

class Random {
 public:
  explicit Random(const Seed& seed) noexcept : key_(seed) {}
  // For tests and simulation: expands one number to a seed.
  explicit Random(std::uint64_t seed) noexcept;
  // The stream of a seed from where `drawn` words have been drawn.
  Random(const Seed& seed, std::uint64_t drawn) noexcept;

  std::uint64_t drawn() const noexcept { return block_ * 16 + used_ - 16; }

  std::uint32_t u32() noexcept;
  std::uint64_t u64() noexcept { return std::uint64_t{u32()} << 32 | u32(); }
  // 0 <= result < bound; bound > 0. The bias (below bound / 2^64) is ignored.
  std::uint64_t below(std::uint64_t bound) noexcept { return u64() % bound; }
  // low <= result < high.
  double between(double low, double high) noexcept;
  void fill(std::span<std::byte> out) noexcept;
  // A seed for a child stream.
  Seed fork() noexcept;
  // `size` characters of 0-9a-f.
  std::string hex(std::size_t size);

 private:
  void refill() noexcept;

  Seed key_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 16> pool_{};
  unsigned used_ = 16;
};

// A stream that is seldom drawn from. It draws what Random does, more slowly, in a third of the
// memory.
class RareRandom {
 public:
  explicit RareRandom(const Seed& seed) noexcept : seed_(seed) {}

  // Calls `use` with the stream.
  template <class Use>
  auto draw(const Use& use) {
    Random stream(seed_, drawn_);
    const auto drawn = use(stream);
    drawn_ = stream.drawn();
    return drawn;
  }

 private:
  Seed seed_;
  std::uint64_t drawn_ = 0;
};

// A seed from the operating system. Only shells call it (client, cli, plugin, pipe).
Seed entropy() noexcept;

}  // namespace sheaf
