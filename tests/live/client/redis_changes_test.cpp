// A whole client on a Redis cluster that changes: slots move, a primary fails over, a server stops
// for a while, one returns with another address, one is lost. Threads write and read all the time.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include "tests/live/client/loaded_cluster.h"

namespace sheaf::test {
namespace {

RespClusterOptions with_replicas() {
  RespClusterOptions options;
  options.replicas = 1;
  options.server.persistent = true;
  return options;
}

TEST(RedisChanges, SlotsMoveAPrimaryFailsOverOneStandsStillAndOneComesBackUnderOneLoad) {
  LoadedCluster loaded(with_replicas());
  loaded.move_slots();
  loaded.fail_over(0, 3);
  loaded.stand_still(1, 5s);
  loaded.restart_elsewhere(2);
  loaded.expect_all_good();
}

// Writes that the primary had acknowledged and not yet sent to its replica are lost.
TEST(RedisChanges, APrimaryIsKilledUnderLoadAndItsReplicaIsElected) {
  LoadedCluster loaded(with_replicas());
  loaded.expect_loss(Loss::latest);
  loaded.lose(0, 3);
  loaded.expect_all_good();
}

}  // namespace
}  // namespace sheaf::test

#endif
