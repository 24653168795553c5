#include "node/window.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "node/ramp.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

TEST(Window, CountAndBytesAreBounded) {
  Window window(3, 100);
  EXPECT_TRUE(window.admit(40));
  EXPECT_FALSE(window.admit(61)) << "one byte too many";
  EXPECT_TRUE(window.admit(60));
  EXPECT_FALSE(window.admit(1));
  EXPECT_TRUE(window.admit(0));
  EXPECT_FALSE(window.admit(0)) << "one request too many";
  window.release(60);
  EXPECT_TRUE(window.admit(60));
}

TEST(Window, ALargerRequestIsAdmittedWhenItIsAlone) {
  Window window(8, 100);
  EXPECT_TRUE(window.admit(1));
  EXPECT_FALSE(window.admit(5000));
  window.release(1);
  EXPECT_TRUE(window.admit(5000));
  EXPECT_FALSE(window.admit(0)) << "nothing beside it";
  window.release(5000);
  EXPECT_EQ(window.count(), 0u);
  EXPECT_EQ(window.bytes(), 0u);
}

TEST(Window, ARequestOfManyKeysTakesAsManyPlaces) {
  Window window(8, 1000);
  EXPECT_TRUE(window.admit(10, 6));
  EXPECT_FALSE(window.admit(10, 3)) << "one place too many";
  EXPECT_TRUE(window.admit(10, 2));
  EXPECT_FALSE(window.fits(0));
  window.release(10, 6);
  EXPECT_EQ(window.count(), 2u);
  EXPECT_FALSE(window.admit(10, 100));
  window.release(10, 2);
  EXPECT_TRUE(window.admit(10, 100)) << "when it is alone";
}

TEST(Window, NarrowedBoundsLetWhatIsInFlightFinish) {
  Window window(10, 1000);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(window.admit(100));
  window.set_bounds(2, 300);
  EXPECT_FALSE(window.fits(1));
  for (int i = 0; i < 4; ++i) window.release(100);
  EXPECT_FALSE(window.fits(1));
  window.release(100);
  EXPECT_TRUE(window.admit(200));
  EXPECT_FALSE(window.admit(1));
}

TEST(Window, NeverExceedsItsBoundsWhateverTheOrder) {
  Random random(9);
  Window window(16, 4096);
  std::vector<std::size_t> held;
  for (int i = 0; i < 100'000; ++i) {
    if (random.below(2) == 0 && !held.empty()) {
      std::swap(held[random.below(held.size())], held.back());
      window.release(held.back());
      held.pop_back();
    } else {
      const std::size_t bytes = random.below(10) == 0 ? 10'000 : random.below(1000);
      if (window.admit(bytes)) held.push_back(bytes);
    }
    ASSERT_EQ(window.count(), held.size());
    ASSERT_LE(window.count(), 16u);
    ASSERT_TRUE(window.bytes() <= 4096 || window.count() == 1);
  }
}

TEST(Ramp, GrowsFromASmallPartToAllWithoutEverBeingNothing) {
  for (const std::uint64_t full : {1ull, 2ull, 15ull, 16ull, 1024ull, 8ull << 20}) {
    std::uint64_t last = 0;
    for (auto passed = 0ms; passed <= 2s; passed += 10ms) {
      const std::uint64_t limit = ramp_limit(full, 5s, 2s, {5s + passed, 0ms});
      EXPECT_GE(limit, last);
      EXPECT_GE(limit, 1u);
      EXPECT_LE(limit, full);
      last = limit;
    }
    EXPECT_EQ(last, full);
  }
  EXPECT_EQ(ramp_limit(1024, 5s, 2s, {5s, 0ms}), 64u);
  EXPECT_EQ(ramp_limit(1024, 5s, 2s, {6s, 0ms}), 512u);
  EXPECT_EQ(ramp_limit(1024, 5s, 2s, {60s, 0ms}), 1024u);
}

}  // namespace
}  // namespace sheaf::node
