// A cluster of the Redis protocol that changes under its clients: every slot moves, key by key or
// all at once, the cluster is down for a while, and its number of nodes doubles. The clients are
// complete, each with its own map of the cluster; the servers are models. A client has up to four
// operations on a key in flight, and SlotLoad checks their order.

#include <gtest/gtest.h>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/slot_load.h"
#include "tests/support/sanitized.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

constexpr test::resp_model::GossipDelay gossip{1ms, 100ms};

TEST(MovingCluster, OneClientNoticesNothingOfEverySlotMigrating) {
  SlotLoad load(1, 4, 1, {.gossip = gossip});
  load.run(2ms);
  load.world.run_for(1s);
  load.migrate_all(64, 30s);
  load.judge();
  load.expect_no_errors();
  load.expect_calm_fetches();
  EXPECT_GT(load.resp.log().errors("ASK"), 10u);
}

// The servers disagree for 29 ms, no matter which of them is asked first.
TEST(MovingCluster, OneClientNoticesNothingOfEverySlotMovingAtOnce) {
  SlotLoad load(2, 4, 1, {.gossip = gossip});
  load.run(2ms);
  load.world.run_for(1s);
  load.flip_all(64, 30s, 29ms);
  load.judge();
  load.expect_no_errors();
  load.expect_calm_fetches();
}

// A small load, for many seeds. The pauses of redirects differ, and so do those of a cluster that
// is down.
TEST(MovingCluster, NothingIsOutOfOrderWhileSlotsMoveForEverySeed) {
  for (const std::uint64_t seed : seeds_of(10)) {
    SlotLoad load(seed, 4, 2, {.gossip = gossip});
    load.run(200us);
    load.world.run_for(100ms);
    load.flip_all(1'024, 200ms, std::chrono::milliseconds(seed % 30));
    load.cluster_down(100ms);
    load.world.run_for(200ms);
    load.judge();
    load.expect_no_errors();
    EXPECT_GT(load.overlaps(), 50u);
  }
}

TEST(MovingCluster, AClusterThatIsDownForThreeSecondsIsServedAgainWithinTwo) {
  SlotLoad load(3, 4, 50, {.gossip = gossip});
  load.run(100ms);
  load.world.run_for(2s);
  load.expect_no_errors();
  load.cluster_down(3s);
  EXPECT_GT(load.errors(), 50u);
  load.expect_served_within(2s);
  load.judge();
  load.expect_only("CLUSTERDOWN");
  load.expect_calm_fetches();
}

// Requests for the map are in vain until the replica takes over, which is when the new map matters
// most.
TEST(MovingCluster, AReplicaThatTakesOverLateIsNoticedWithinTwoSeconds) {
  SlotLoad load(6, 3, 50, {.gossip = gossip, .wary = true});
  load.add_replicas();
  load.run(100ms);
  load.world.run_for(2s);
  load.expect_no_errors();
  load.resp.stop_for(1, 3'600s);
  load.world.run_for(15s);
  EXPECT_GT(load.errors(), 1'000u);
  load.resp.changes().fail_over(4, {}, load.now());
  load.expect_served_within(2s);
  load.judge();
  load.expect_calm_fetches();
}

// Replicas know nothing of migrations and report keys in transit as absent.
TEST(MovingCluster, WhoReadsFromReplicasNoticesNothingOfEverySlotMigrating) {
  SlotLoad load(7, 4, 20, {.gossip = gossip}, {ReadTarget::replicas});
  load.add_replicas();
  load.world.run_for(65s);  // until each client has asked for the map again
  load.run(20ms);
  load.world.run_for(5s);
  EXPECT_GT(load.share_of_replicas(), 0.02);
  load.migrate_all(64, 30s);
  load.judge();
  load.run(20ms);
  load.flip_all(64, 30s, 29ms);
  load.judge();
  load.expect_no_errors();
  load.expect_calm_fetches();
  EXPECT_GT(load.share_of_replicas(), 0.02);
}

// The control: without the confirmation, existing keys would be reported as absent.
TEST(MovingCluster, WhoTrustsReplicasMissesKeysThatAreThereDuringAMigration) {
  SlotLoad load(7, 4, 20, {.gossip = gossip}, {ReadTarget::replicas, ReplicaMiss::trust});
  load.add_replicas();
  load.world.run_for(65s);
  load.run(20ms);
  load.world.run_for(5s);
  load.judge();
  load.run(20ms);
  load.migrate_all(64, 30s);
  EXPECT_GT(load.forgive(), 0u);
}

TEST(MovingCluster, ReplicasAreReadWhileTheirPrimaryIsSilentAndOneTakesOver) {
  SlotLoad load(8, 3, 20, {.gossip = gossip, .wary = true}, {ReadTarget::replicas});
  load.add_replicas();
  load.world.run_for(65s);
  load.run(50ms);
  load.world.run_for(2s);
  load.expect_no_errors();
  load.resp.stop_for(1, 3'600s);
  load.world.run_for(15s);
  load.resp.changes().fail_over(4, {}, load.now());
  load.expect_served_within(2s);
  load.judge();
  load.expect_calm_fetches();
}

TEST(MovingCluster, TwiceAsManyNodesAreNoticedByNobody) {
  for (const bool all_at_once : {false, true}) {
    SCOPED_TRACE(all_at_once);
    SlotLoad load(4, 4, 50, {.gossip = gossip});
    load.run(100ms);
    load.world.run_for(1s);
    load.double_nodes(all_at_once, {1ms, 20ms});
    load.world.run_for(2s);
    load.judge();
    load.expect_no_errors();
    load.expect_calm_fetches();
  }
}

// All changes, one after another, with a thousand clients. A client that gets no redirect asks for
// the map now and then; all these changes make it ask at most twice as often.
TEST(MovingCluster, AThousandClientsAreCalmThroughEverything) {
  const unsigned clients = test::share_of(1'000u);
  SlotLoad load(5, 4, clients, {.gossip = gossip});
  load.world.run_for(3s);
  const Deadline quiet_since = load.now();
  const double first = load.fetches_per_client();
  load.world.run_for(300s);
  const Deadline busy_since = load.now();
  const double quiet = load.fetches_per_client() - first;

  load.run(1s);
  load.world.run_for(5s);
  load.migrate_all(256, 60s);
  load.judge();
  load.run(1s);
  load.flip_all(64, 60s, 29ms);
  load.judge();
  load.run(1s);
  load.double_nodes(false, {2ms, 10ms});
  load.judge();
  load.expect_no_errors();

  load.run(1s);
  load.world.run_for(1s);
  load.cluster_down(3s);
  EXPECT_GT(load.errors(), clients);
  load.expect_served_within(2s);
  load.world.run_for(std::max<std::chrono::nanoseconds>(1s, busy_since + 240s - load.now()));
  load.judge();
  load.expect_only("CLUSTERDOWN");

  load.expect_calm_fetches();
  const auto rate = [](double fetches, std::chrono::nanoseconds time) {
    return fetches / std::chrono::duration<double>(time).count();
  };
  const double busy = load.fetches_per_client() - first - quiet;
  EXPECT_LE(rate(busy, load.now() - busy_since), 2 * rate(quiet, busy_since - quiet_since));
  EXPECT_GT(load.done(), 200 * clients);
  EXPECT_GT(load.resp.log().errors("MOVED"), 20 * clients);
  EXPECT_GT(load.resp.log().errors("ASK"), clients / 10);
}

}  // namespace
}  // namespace sheaf::sim
