// Clusters that require a password: clients, replicas and migrations log in.

#include <gtest/gtest.h>

#include <string>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/garnet_process.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using protocol::resp::hash_slot;

// A key is written, replicated and moved to another server. It survives a restart and, except on
// Garnet, a failover.
void expect_everything_works(RespSoftware software, const std::string& user) {
  RespClusterOptions options;
  options.software = software;
  options.replicas = 1;
  options.server.user = user;
  options.server.password = "s3cret";
  options.server.persistent = true;
  const LentCluster lent(options);
  RespCluster& cluster = *lent;

  RespConnection stranger(cluster.server(0).port());
  EXPECT_EQ(stranger.text({"GET", "{foo}"}), "-NOAUTH Authentication required.");

  const std::uint16_t slot = hash_slot("{foo}");
  ASSERT_EQ(cluster.owner(slot), 2u);
  EXPECT_EQ(cluster.text(2, {"SET", "{foo}", "v"}), "+OK");
  cluster.migrate(slot, 0);
  cluster.wait_until_settled();
  EXPECT_EQ(cluster.text(0, {"GET", "{foo}"}), "\"v\"");

  RespConnection replica = cluster.connect(3);
  EXPECT_EQ(replica.text({"READONLY"}), "+OK");
  wait_for_condition("the replica has it",
                     [&] { return replica.text({"GET", "{foo}"}) == "\"v\""; });
  // On a busy machine, a Garnet with a login was seen to lose the slots of a forced failover again,
  // permanently. Failovers without a password are in garnet_test.cpp.
  if (software != RespSoftware::garnet) {
    cluster.fail_over(3, "");
    EXPECT_EQ(cluster.owner(slot), 3u);
    EXPECT_EQ(cluster.text(3, {"GET", "{foo}"}), "\"v\"");
  }

  const std::size_t home = cluster.owner(slot);
  cluster.kill(home);
  cluster.restart(home);
  cluster.wait_until_settled();
  EXPECT_EQ(cluster.text(home, {"GET", "{foo}"}), "\"v\"");
}

TEST(RedisClusterCredentials, APassword) { expect_everything_works(usual_software(), ""); }

TEST(RedisClusterCredentials, AUser) { expect_everything_works(usual_software(), "app"); }

TEST(GarnetClusterCredentials, APassword) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  expect_everything_works(RespSoftware::garnet, "");
}

TEST(GarnetClusterCredentials, AUser) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  expect_everything_works(RespSoftware::garnet, "app");
}

}  // namespace
}  // namespace sheaf::test
