#pragma once

// FastRandom: the random numbers of a simulation, by SplitMix64. A simulation draws many, and
// guessing them gains nothing.

#include <cstdint>

namespace sheaf::sim {

class FastRandom {
 public:
  explicit FastRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t u64() noexcept {
    std::uint64_t mixed = state_ += 0x9e37'79b9'7f4a'7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
    return mixed ^ (mixed >> 31);
  }
  // 0 <= result < bound; bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept { return u64() % bound; }
  // low <= result < high.
  double between(double low, double high) noexcept {
    return low + (high - low) * (static_cast<double>(u64() >> 11) * 0x1.0p-53);
  }

 private:
  std::uint64_t state_;
};

}  // namespace sheaf::sim
