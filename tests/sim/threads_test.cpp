// Calls, batches and asynchronous calls of several threads on one real client, in an order that the
// seed chooses. See thread_world.h for what a run finds.

#include <gtest/gtest.h>

#include "tests/sim/kit/room_runs.h"
#include "tests/sim/thread_world.h"

namespace sheaf::sim {
namespace {

TEST(Threads, NoCallHangsAndNothingIsLostOrMixedUpForEverySeed) {
  const Seeds seeds = seeds_of(3000);
  const RoomCounts sum = run_seeds<ThreadWorld>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.calls, 30 * seeds.count());
  EXPECT_GT(sum.special, 18 * seeds.count());
  EXPECT_GT(sum.failures, seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(Threads, ServersThatComeAndGoFailNoCallForEverySeed) {
  const Seeds seeds = seeds_of(800);
  const RoomCounts sum = run_seeds<ThreadWorld>(seeds, {.servers_change = true});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.changes, 2 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 2);
}

// In this seed a key gets another server while a get of it waits for a connection, another
// operation on the key is under way there, and then the get's time is over: it must not go there to
// wait.
TEST(Threads, ACallWhoseTimeIsOverIsNotMovedToTheNextServer) {
  EXPECT_EQ(run_room<ThreadWorld>(55'105, {.servers_change = true}).finding, "");
}

TEST(Threads, ADriverInThePlaceOfThreadsLosesNothingForEverySeed) {
  const Seeds seeds = seeds_of(1800);
  const RoomCounts sum = run_seeds<ThreadWorld>(seeds, {.driven = true});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.calls, 30 * seeds.count());
  EXPECT_GT(sum.special, 18 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 2);
}

TEST(Threads, SeveralThreadsThatTurnADriverLoseNothingAndAllEndForEverySeed) {
  const Seeds seeds = seeds_of(600);
  const RoomCounts sum = run_seeds<ThreadWorld>(seeds, {.driven = true, .turning = 3});
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.calls, 30 * seeds.count());
  EXPECT_GT(sum.special, 18 * seeds.count());
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
