// Calls, batches and asynchronous calls of several threads on one real client, in an order that the
// seed chooses. See thread_world.h for what a run finds.
//
// Replay one seed: SHEAF_SIM_SEED=1234 test_sim --gtest_filter='Threads.*'. More of them:
// SHEAF_SIM_SEEDS=100000.

#include <gtest/gtest.h>

#include "tests/sim/kit/room_runs.h"
#include "tests/sim/thread_world.h"

namespace sheaf::sim {
namespace {

TEST(Threads, NoCallHangsAndNothingIsLostOrMixedUpForEverySeed) {
  const std::uint64_t one = number_from_environment("SHEAF_SIM_SEED", 0);
  const RoomCounts sum = run_seeds<ThreadWorld>(3000);
  if (one != 0) return;
  const std::uint64_t count = seeds_to_run(3000);
  EXPECT_GT(sum.calls, 30 * count);
  EXPECT_GT(sum.special, 18 * count);
  EXPECT_GT(sum.failures, count);
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(Threads, ServersThatComeAndGoFailNoCallForEverySeed) {
  const RoomCounts sum = run_seeds<ThreadWorld>(800, {.servers_change = true});
  if (number_from_environment("SHEAF_SIM_SEED", 0) != 0) return;
  EXPECT_GT(sum.changes, 2 * seeds_to_run(800));
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(Threads, ADriverInThePlaceOfThreadsLosesNothingForEverySeed) {
  const RoomCounts sum = run_seeds<ThreadWorld>(1800, {.driven = true});
  if (number_from_environment("SHEAF_SIM_SEED", 0) != 0) return;
  const std::uint64_t count = seeds_to_run(1800);
  EXPECT_GT(sum.calls, 30 * count);
  EXPECT_GT(sum.special, 18 * count);
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(Threads, SeveralThreadsThatTurnADriverLoseNothingAndAllEndForEverySeed) {
  const RoomCounts sum = run_seeds<ThreadWorld>(600, {.driven = true, .turning = 3});
  if (number_from_environment("SHEAF_SIM_SEED", 0) != 0) return;
  const std::uint64_t count = seeds_to_run(600);
  EXPECT_GT(sum.calls, 30 * count);
  EXPECT_GT(sum.special, 18 * count);
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(Threads, ADriverThatIsNotToldWhatACallerLeavesIsFound) {
  EXPECT_LT(first_finding<ThreadWorld>({.driven = true, .lane = {.tell_driver = false}}), 100u);
}

TEST(Threads, ANodeThatClosesWithRequestsInFlightIsFound) {
  EXPECT_LT(
      first_finding<ThreadWorld>({.servers_change = true, .cluster = {.wait_for_end = false}}),
      200u);
}

TEST(Threads, ASeedReplaysExactly) { expect_replays<ThreadWorld>(50); }

TEST(Threads, ADriverThatIsNotWokenForNewWorkIsFound) {
  EXPECT_LT(first_finding<ThreadWorld>({.lane = {.wake = false}}), 20u);
}

// The race: work is queued after the driver has looked and before it sleeps.
TEST(Threads, ADriverThatSleepsWithoutALookIsFound) {
  EXPECT_LT(first_finding<ThreadWorld>({.lane = {.look = false}}), 1000u);
}

TEST(Threads, APromotionBeforeTheDriverHasLeftTheLoopIsFound) {
  EXPECT_LT(first_finding<ThreadWorld>({.lane = {.promote_last = false}}), 20u);
}

}  // namespace
}  // namespace sheaf::sim
