// The same as redis_changes_test.cpp on Garnet, as far as Garnet can do it.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/live/client/loaded_cluster.h"
#include "tests/support/garnet_process.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using Clock = std::chrono::steady_clock;

RespClusterOptions garnet_options(std::size_t replicas) {
  RespClusterOptions options;
  options.software = RespSoftware::garnet;
  options.replicas = replicas;
  options.server.persistent = true;
  return options;
}

// MOVED and ASK give a port and "?" as the host.
TEST(GarnetChanges, SlotsMoveUnderLoadBetweenServersThatNameNoHosts) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  RespClusterOptions options = garnet_options(0);
  options.server.arguments = {"--cluster-preferred-endpoint-type", "unknown"};
  LoadedCluster loaded(options);
  loaded.move_slots();
  loaded.expect_all_good();
}

// Both servers redirect clients to each other, then for a moment none serves the slots. Sometimes
// they have no owner in the end, until a server is told to own them. If Garnet gives up, all
// servers have named the old primary all the time, although it did not serve.
TEST(GarnetChanges, APlannedFailoverIsTriedUnderLoad) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  LoadedCluster loaded(garnet_options(1));
  loaded.expect_loss(Loss::latest);
  RespCluster& cluster = loaded.cluster;
  const auto change = loaded.change_begins("failover", 0);
  EXPECT_EQ(cluster.text(3, {"CLUSTER", "FAILOVER"}), "+OK");
  wait_for_condition("the failover has ended", [&] {
    const std::string state = cluster.text(3, {"INFO", "replication"});
    return state.contains("last_failover_state:failover-aborted") ||
           state.contains("last_failover_state:failover-completed");
  });
  auto ended = Clock::now();
  const auto has_owner = [&] {
    try {
      return cluster.owner(0) == 0 || cluster.owner(0) == 3;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  wait_for_condition("the slots have an owner, or none for 5 s",
                     [&] { return has_owner() || Clock::now() - ended > 5s; });
  if (!has_owner()) {
    testing::Test::RecordProperty("outcome", "nobody owned the slots");
    EXPECT_EQ(cluster.text(0, {"CLUSTER", "ADDSLOTSRANGE", 0, 5460}), "+OK");
    ended = Clock::now();
  }
  cluster.wait_until_settled();
  loaded.expect_served(change, cluster.owner(0), ended);
  loaded.expect_all_good();
}

// The failover needs FORCE, because Garnet aborts a planned failover if a replica is even a moment
// late. Two servers then take writes for a moment, and those of the old one are lost. A killed
// server also loses the writes that it had acknowledged but not yet written to its file.
TEST(GarnetChanges, SlotsMoveOneStandsStillAPrimaryFailsOverAndOneComesBackUnderOneLoad) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  LoadedCluster loaded(garnet_options(1));
  loaded.move_slots();
  loaded.stand_still(1, 5s);
  loaded.expect_loss(Loss::latest);
  loaded.fail_over(0, 3, "FORCE");
  loaded.restart_elsewhere(2);
  loaded.expect_all_good();
}

}  // namespace
}  // namespace sheaf::test

#endif
