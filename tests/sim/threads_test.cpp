// Calls, batches and asynchronous calls of several threads on one real client, in an order that the
// seed chooses. See thread_world.h for what a run finds.
//
// Replay one seed: SHEAF_SIM_SEED=1234 test_sim --gtest_filter='Threads.*'. More of them:
// SHEAF_SIM_SEEDS=100000.

#include <gtest/gtest.h>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/thread_world.h"

namespace sheaf::sim {
namespace {

using socket::LaneControls;

struct Ended {
  std::string finding;  // empty: nothing
  std::uint64_t trace = 0;
  ThreadCounts counts;
};

Ended run(std::uint64_t seed, const LaneControls& controls = {}) {
  const auto world = std::make_shared<ThreadWorld>(seed, controls);
  Ended ended;
  ended.finding = SimThreads::run(world->world(), seed, [world] { world->main(); });
  ended.trace = world->world().trace();
  ended.counts = world->counts();
  return ended;
}

TEST(Threads, NoCallHangsAndNothingIsLostOrMixedUpForEverySeed) {
  const std::uint64_t one = number_from_environment("SHEAF_SIM_SEED", 0);
  const std::uint64_t first = one != 0 ? one : 1;
  const std::uint64_t count = one != 0 ? 1 : seeds_to_run(1000);
  ThreadCounts sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Ended ended = run(seed);
    ASSERT_EQ(ended.finding, "") << "replay with SHEAF_SIM_SEED=" << seed;
    sum.calls += ended.counts.calls;
    sum.batches += ended.counts.batches;
    sum.callbacks += ended.counts.callbacks;
    sum.failures += ended.counts.failures;
  }
  if (one != 0) return;
  EXPECT_GT(sum.calls, 30 * count);
  EXPECT_GT(sum.batches, 10 * count);
  EXPECT_GT(sum.callbacks, 8 * count);
  EXPECT_GT(sum.failures, count);
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(Threads, ASeedReplaysExactly) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Ended first = run(seed);
    const Ended second = run(seed);
    ASSERT_EQ(first.trace, second.trace) << seed;
    ASSERT_EQ(first.counts.calls, second.counts.calls) << seed;
  }
}

// Controls: the first of 2,000 seeds that finds what such a lane does wrong, and that finds nothing
// in the lane as it is.
std::uint64_t first_finding(const LaneControls& controls) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    if (run(seed, controls).finding.empty()) continue;
    EXPECT_EQ(run(seed).finding, "") << seed;
    return seed;
  }
  ADD_FAILURE() << "no seed found it";
  return 0;
}

TEST(Threads, ADriverThatIsNotWokenForNewWorkIsFound) {
  EXPECT_LT(first_finding({.wake = false}), 20u);
}

// The race: work is queued after the driver has looked and before it sleeps.
TEST(Threads, ADriverThatSleepsWithoutALookIsFound) {
  EXPECT_LT(first_finding({.look = false}), 1000u);
}

TEST(Threads, APromotionBeforeTheDriverHasLeftTheLoopIsFound) {
  EXPECT_LT(first_finding({.promote_last = false}), 20u);
}

}  // namespace
}  // namespace sheaf::sim
