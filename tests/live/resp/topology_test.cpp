// The views of a live cluster of redis-servers, and the maps made from them: before, during and
// after changes of slots, roles and addresses.

#include <gtest/gtest.h>

#include <string>

#include "tests/live/resp/all_slots.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/redis_process.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using protocol::resp::hash_slot;
using protocol::resp::SlotMap;

RespClusterOptions with_a_login() {
  RespClusterOptions options;
  options.replicas = 1;
  options.server.user = "app";
  options.server.password = "s3cret";
  options.server.persistent = true;
  return options;
}

TEST(RedisCluster, EverySlotWhereTheViewsSayThroughAMigration) {
  const LentCluster lent;
  RespCluster& cluster = *lent;
  expect_views_are_true(cluster);

  // {foo} is in slot 12182, which belongs to the third server. It moves to the first one, key by
  // key.
  const std::uint16_t slot = hash_slot("{foo}");
  const std::size_t from = cluster.owner(slot);
  ASSERT_EQ(from, 2u);
  const std::string here = "127.0.0.1:" + std::to_string(cluster.server(from).port());
  const std::string there = "127.0.0.1:" + std::to_string(cluster.server(0).port());
  for (const char* const key : {"{foo}1", "{foo}2", "{foo}3"}) {
    EXPECT_EQ(cluster.text(from, {"SET", key, "v"}), "+OK");
  }
  cluster.begin_migration(slot, 0);
  EXPECT_EQ(cluster.move_keys(slot, 0, 1), 1u);
  expect_views_are_true(cluster, {slot});
  std::size_t moved = 0;
  for (const char* const key : {"{foo}1", "{foo}2", "{foo}3"}) {
    const std::string reply = cluster.text(from, {"GET", key});
    if (reply != "\"v\"") ++moved;
    EXPECT_TRUE(reply == "\"v\"" || reply == "-ASK 12182 " + there) << reply;
    EXPECT_EQ(cluster.text(0, {"GET", key}), "-MOVED 12182 " + here);
  }
  EXPECT_EQ(moved, 1u);
  EXPECT_EQ(cluster.text(from, {"MGET", "{foo}1", "{foo}2", "{foo}3"}),
            "-TRYAGAIN Multiple keys request during rehashing of slot");
  EXPECT_EQ(cluster.text(0, {"ASKING"}), "+OK");
  EXPECT_EQ(cluster.text(0, {"GET", "{foo}new"}), "null");

  while (cluster.move_keys(slot, 0) > 0) {
  }
  cluster.end_migration(slot, 0);
  cluster.wait_until_settled();
  EXPECT_EQ(cluster.owner(slot), 0u);
  expect_views_are_true(cluster);
  for (const char* const key : {"{foo}1", "{foo}2", "{foo}3"}) {
    EXPECT_EQ(cluster.text(0, {"GET", key}), "\"v\"");
    EXPECT_EQ(cluster.text(from, {"GET", key}), "-MOVED 12182 " + there);
  }
}

TEST(RedisCluster, EverySlotWhereTheViewsSayThroughFailoversAndANewAddress) {
  const LentCluster lent(with_a_login());
  RespCluster& cluster = *lent;
  expect_views_are_true(cluster);
  EXPECT_EQ(cluster.text(0, {"SET", "{bar}", "v"}), "+OK");  // slot 5061, of the first server

  cluster.fail_over(3);  // server 3 replicates server 0
  EXPECT_EQ(cluster.owner(0), 3u);
  expect_views_are_true(cluster);
  EXPECT_EQ(cluster.text(3, {"GET", "{bar}"}), "\"v\"");

  cluster.kill(1);
  cluster.fail_over(4, "TAKEOVER");
  EXPECT_EQ(cluster.owner(8'000), 4u);
  expect_views_are_true(cluster);

  // One by one, because servers that know only each other's old addresses take long to reconnect.
  cluster.restart_elsewhere(1);
  cluster.wait_until_settled();
  cluster.kill(3);
  cluster.restart_elsewhere(3);
  cluster.wait_until_settled();
  expect_views_are_true(cluster);
  EXPECT_EQ(cluster.owner(0), 3u);
  EXPECT_EQ(cluster.text(3, {"GET", "{bar}"}), "\"v\"");
}

// Without an order from outside, the servers agree that one is gone. Only one of them may take
// over, so that a slow machine changes nothing else.
TEST(RedisCluster, AServerThatStopsIsReplacedAndComesBackAsAReplica) {
  const LentCluster lent(with_a_login());
  RespCluster& cluster = *lent;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    EXPECT_EQ(cluster.text(i, {"CONFIG", "SET", "cluster-replica-validity-factor", "0"}), "+OK");
  }
  cluster.set_node_timeout(std::chrono::seconds(2));
  EXPECT_EQ(cluster.text(3, {"CONFIG", "SET", "cluster-replica-no-failover", "no"}), "+OK");
  const SlotMap before = SlotMap::merge(cluster.views(), {});
  cluster.stop(0);
  wait_for_condition("its replica takes over", [&] { return cluster.owner(0) == 3; });
  cluster.wait_until_settled();
  cluster.set_node_timeout(std::chrono::seconds(20));
  expect_served_as_in(SlotMap::merge(cluster.views(), before), cluster);
  cluster.resume(0);
  cluster.wait_until_settled();
  EXPECT_EQ(cluster.owner(0), 3u);
  expect_views_are_true(cluster);
}

TEST(RedisCluster, KeysAreInTheSlotsThatTheServerSays) {
  const LentCluster lent({.primaries = 1});
  RespConnection connection = lent->connect(0);
  expect_keys_in_their_slots(connection, 5'000);
}

}  // namespace
}  // namespace sheaf::test
