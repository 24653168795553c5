#pragma once

// Which seeds a test of many runs simulates. The environment says it:
//
//   SHEAF_SIM_SEED=4711      only this one, to replay it
//   SHEAF_SIM_SEEDS=100000   so many
//   SHEAF_SIM_FIRST=50001    beginning with this one, so that processes can share a range

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>

#include "tests/support/extent.h"
#include "tests/support/sanitized.h"

namespace sheaf::sim {

// A range of seeds for a loop, which ends after the first seed that fails. Each failure says how to
// replay its seed.
class Seeds {
 public:
  class Iterator {
   public:
    Iterator(std::uint64_t first, std::uint64_t count) : seed_(first), end_(first + count) {
      begin();
    }
    std::uint64_t operator*() const { return seed_; }
    Iterator& operator++() {
      ++seed_;
      begin();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const {
      return seed_ == end_ || testing::Test::HasFailure();
    }

   private:
    void begin() {
      trace_.emplace(__FILE__, __LINE__, "replay with SHEAF_SIM_SEED=" + std::to_string(seed_));
    }

    std::uint64_t seed_;
    std::uint64_t end_;
    std::optional<testing::ScopedTrace> trace_;
  };

  Seeds(std::uint64_t first, std::uint64_t count, bool replays)
      : first_(first), count_(count), replays_(replays) {}

  Iterator begin() const { return {first_, count_}; }
  std::default_sentinel_t end() const { return {}; }
  std::uint64_t count() const { return count_; }
  // True if sums over all seeds mean something: they are many, none is replayed, and none has
  // failed.
  bool adds_up() const { return count_ >= 200 && !replays_ && !testing::Test::HasFailure(); }

 private:
  std::uint64_t first_;
  std::uint64_t count_;
  bool replays_;
};

// `usual` seeds, scaled to the extent of the run and fewer under a sanitizer, unless the
// environment says which.
inline Seeds seeds_of(std::uint64_t usual) {
  using test::number_from_environment;
  if (std::getenv("SHEAF_SIM_SEED") != nullptr) {
    return {number_from_environment("SHEAF_SIM_SEED", 1), 1, true};
  }
  return {number_from_environment("SHEAF_SIM_FIRST", 1),
          number_from_environment("SHEAF_SIM_SEEDS", test::extent_of(test::share_of(usual))),
          false};
}

}  // namespace sheaf::sim
