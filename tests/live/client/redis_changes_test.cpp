// A whole client on a Redis cluster that changes: slots move, a primary fails over, a server stands
// still and one comes back with another address, all while threads write and read.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include "tests/live/client/loaded_cluster.h"

namespace sheaf::test {
namespace {

class RedisChanges : public testing::Test {
 protected:
  static RespClusterOptions options() {
    RespClusterOptions options;
    options.replicas = 1;
    options.server.persistent = true;
    return options;
  }

  LoadedCluster loaded{options()};
  RespCluster& cluster = loaded.cluster;
};

TEST_F(RedisChanges, SlotsMoveUnderLoad) {
  loaded.move_slots(3);
  loaded.expect_all_good();
}

TEST_F(RedisChanges, APrimaryFailsOverUnderLoad) {
  cluster.fail_over(3);
  loaded.expect_all_good();
}

TEST_F(RedisChanges, AServerStandsStillUnderLoad) {
  loaded.stand_still(1, 5s);
  loaded.expect_all_good();
}

TEST_F(RedisChanges, AServerComesBackElsewhereUnderLoad) {
  cluster.kill(2);
  cluster.restart_elsewhere(2);
  loaded.expect_all_good();
}

}  // namespace
}  // namespace sheaf::test

#endif
