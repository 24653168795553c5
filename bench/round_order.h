#pragma once

// RoundOrder: the order in which a round runs its contestants, another in each round and the same
// in each run.
//
// Where the kernel has moved threads for one contestant, they often stay for the next: one that
// polls leaves a server's thread on the other processor. In a fixed order a lone caller that sleeps
// reached half the rate of the same caller elsewhere in the round.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace bench {

class RoundOrder {
 public:
  explicit RoundOrder(std::size_t contestants) : order_(contestants) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  const std::vector<std::size_t>& next() {
    std::ranges::shuffle(order_, random_);
    return order_;
  }

 private:
  std::vector<std::size_t> order_;
  std::mt19937 random_;
};

}  // namespace bench
