#include "cluster/hedging/hedge_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "node/latency.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;
using Duration = HedgePlan::Duration;

void teach(HedgePlan& plan, std::size_t reads, Duration took) {
  for (std::size_t i = 0; i < reads; ++i) {
    plan.on_begin();
    plan.on_answer(took);
  }
}

TEST(HedgePlan, SaysNothingBeforeItHasSeenEnoughReads) {
  HedgePlan plan;
  teach(plan, HedgePlan::fewest - 1, 5ms);
  EXPECT_EQ(plan.delay(), std::nullopt);
  EXPECT_FALSE(plan.decide(1s, 0ms));
  teach(plan, 1, 5ms);
  EXPECT_EQ(plan.delay(), 10ms);
  EXPECT_TRUE(plan.decide(1s, 0ms));
}

TEST(HedgePlan, WaitsLongerThanNearlyAllReadsTook) {
  HedgePlan plan;
  for (int i = 0; i < 1'000; ++i) {
    plan.on_begin();
    plan.on_answer(i % 10 == 9 ? 40ms : 3ms);  // a tenth is slow
  }
  EXPECT_EQ(plan.delay(), 40ms);
  for (int i = 0; i < 1'000; ++i) {
    plan.on_begin();
    plan.on_answer(i % 50 == 49 ? 40ms : 3ms);  // 2 % are
  }
  EXPECT_EQ(plan.delay(), 6ms);
}

TEST(HedgePlan, ADelayIsNeverBelowAMillisecondAndTwiceTheMedian) {
  HedgePlan fast;
  teach(fast, 300, 20us);
  EXPECT_EQ(fast.delay(), HedgePlan::floor);
  HedgePlan even;
  for (int i = 0; i < 300; ++i) even.on_answer(i % 2 == 0 ? 2ms : 3ms);
  EXPECT_GE(even.delay(), 4ms);
}

TEST(HedgePlan, ADelayFollowsTheLatestReads) {
  HedgePlan plan;
  teach(plan, 500, 2ms);
  teach(plan, 500, 20ms);
  EXPECT_EQ(plan.delay(), 40ms);
  teach(plan, 500, 2ms);
  EXPECT_EQ(plan.delay(), 4ms);
}

TEST(HedgePlan, AReadThatWasGivenUpEarlySaysNothing) {
  HedgePlan plan;
  teach(plan, 256, 5ms);
  for (int i = 0; i < 256; ++i) plan.on_given_up(1ms);
  EXPECT_EQ(plan.delay(), 10ms);
  for (int i = 0; i < 256; ++i) plan.on_given_up(300ms);
  EXPECT_EQ(plan.delay(), 600ms);
}

TEST(HedgePlan, TwentyReadsPayForAHedgeAndTenHedgesCanBeSaved) {
  HedgePlan plan;
  teach(plan, 1'000, 1ms);
  ASSERT_EQ(plan.delay(), 2ms);
  for (unsigned i = 0; i < HedgePlan::most_tokens; ++i) EXPECT_TRUE(plan.decide(50ms, 1ms)) << i;
  EXPECT_FALSE(plan.decide(50ms, 1ms));
  teach(plan, HedgePlan::reads_per_token - 1, 1ms);
  EXPECT_FALSE(plan.decide(50ms, 1ms));
  teach(plan, 1, 1ms);
  EXPECT_TRUE(plan.decide(50ms, 1ms));
  EXPECT_FALSE(plan.decide(50ms, 1ms));
}

TEST(HedgePlan, ASecondHolderThatIsNoFasterIsNotAsked) {
  HedgePlan plan;
  teach(plan, 300, 1ms);
  EXPECT_FALSE(plan.decide(5ms, 5ms));
  EXPECT_FALSE(plan.decide(5ms, 50ms));
  EXPECT_TRUE(plan.decide(5ms, 4ms));
  EXPECT_TRUE(plan.decide(100ms, 50ms));
}

TEST(HedgePlan, ADecisionAgainstAHedgeCostsNoToken) {
  HedgePlan plan;
  teach(plan, HedgePlan::fewest, 1ms);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(plan.decide(5ms, 50ms));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(plan.decide(50ms, 1ms));
}

TEST(HedgePlan, TheLastTokensAreForReadsThatAreVeryLate) {
  HedgePlan plan;
  teach(plan, 1'000, 1ms);
  unsigned soon = 0;
  while (plan.decide(4ms, 1ms)) ++soon;
  EXPECT_EQ(soon, HedgePlan::most_tokens - HedgePlan::reserve);
  EXPECT_TRUE(plan.decide(16ms, 1ms));
  EXPECT_TRUE(plan.decide(16ms, 1ms));
  EXPECT_FALSE(plan.decide(16ms, 1ms));
}

TEST(HedgePlan, NothingIsHedgedWhileMostReadsAreAsSlow) {
  HedgePlan plan;
  teach(plan, 300, 1ms);
  teach(plan, 4, 30ms);  // half of the latest eight
  EXPECT_FALSE(plan.decide(10ms, 1ms));
  EXPECT_FALSE(plan.decide(50ms, 1ms));
  EXPECT_TRUE(plan.decide(60ms, 1ms));
}

// Two holders of each key, as reads see them: one after another, each first at the holder that is
// expected to answer first.
struct TwoHolders {
  explicit TwoHolders(std::uint64_t seed) : random(Random(seed).fork()) {}

  // About `usual`; one in `rare` takes `stall`. 0: none does.
  Duration draw(Duration usual, Duration stall, unsigned rare) {
    if (rare != 0 && random.below(rare) == 0) return stall;
    return usual * (80 + static_cast<int>(random.below(41))) / 100;
  }
  void read(Duration usual, Duration stall = 0ms, unsigned rare = 0) {
    ++reads;
    plan.on_begin();
    const Now begin{now, {}};
    const std::size_t first = holders[1].expected(0, begin) < holders[0].expected(0, begin) ? 1 : 0;
    const Duration took = draw(usual, stall, rare);
    Duration ended = took;
    for (auto waited = plan.delay(); waited && *waited < ended; waited = 2 * *waited) {
      const Now then{now + *waited, {}};
      if (!plan.decide(*waited, holders[1 - first].expected(0, then))) continue;
      ++hedges;
      const Duration second = draw(usual, stall, rare);
      ended = std::min(ended, *waited + second);
      holders[1 - first].on_answer(second, {now + ended, {}});
      break;
    }
    plan.on_answer(took);
    holders[first].on_answer(took, {now + took, {}});
    slowest = std::max(slowest, ended);
    now += took + 1ms;
    ASSERT_LE(hedges * HedgePlan::reads_per_token, reads);
  }

  Random random;
  HedgePlan plan;
  std::array<node::Latency, 2> holders;
  Deadline now = 100s;
  unsigned reads = 0;
  unsigned hedges = 0;
  Duration slowest{0};
};

TEST(HedgePlan, EvenAnswersAreNeverHedged) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    TwoHolders world(seed);
    for (int i = 0; i < 2'000; ++i) world.read(3ms);
    EXPECT_EQ(world.hedges, 0u) << seed;
  }
}

TEST(HedgePlan, RareStallsAreHedged) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    TwoHolders world(seed);
    for (int i = 0; i < 200; ++i) world.read(1ms);
    for (int i = 0; i < 2'000; ++i) world.read(1ms, 50ms, 100);
    EXPECT_GT(world.hedges, 5u) << seed;
    EXPECT_LT(world.hedges, 60u) << seed;  // about one for each stall
  }
}

// At the change a few hedges find out.
TEST(HedgePlan, HoldersThatAreAllTenTimesSlowerAreNotHedged) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    TwoHolders world(seed);
    for (int i = 0; i < 1'000; ++i) world.read(2ms, 30ms, 200);
    const unsigned before = world.hedges;
    for (int i = 0; i < 300; ++i) world.read(20ms);
    EXPECT_LE(world.hedges - before, 5u) << seed;
    const unsigned trained = world.hedges;
    for (int i = 0; i < 2'000; ++i) world.read(20ms);
    EXPECT_EQ(world.hedges, trained) << seed;
  }
}

TEST(HedgePlan, HedgesAreNeverMoreThanOneReadInTwenty) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    TwoHolders world(seed);
    for (int phase = 0; phase < 20; ++phase) {
      const Duration usual = std::chrono::microseconds(100 + world.random.below(20'000));
      const auto rare = static_cast<unsigned>(world.random.below(30));
      for (int i = 0; i < 200; ++i) world.read(usual, 10 * usual, rare);
    }
    EXPECT_LE(world.hedges, world.reads / HedgePlan::reads_per_token) << seed;
  }
}

}  // namespace
}  // namespace sheaf::cluster
