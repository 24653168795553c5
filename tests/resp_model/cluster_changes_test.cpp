// Changes of a model cluster: what its nodes answer in between, when each of them learns of a
// change, and that no key is lost.

#include <gtest/gtest.h>

#include "tests/resp_model/talk.h"

namespace sheaf::test::resp_model {
namespace {

constexpr Slot moving = 949;  // the slot of "wxz"

ClusterOptions gossiping(std::chrono::nanoseconds least, std::chrono::nanoseconds most) {
  return {.gossip = {least, most}};
}

std::string moved_to(std::uint16_t port) {
  return "-MOVED 949 127.0.0.1:" + std::to_string(port) + "\r\n";
}
std::string ask_at(std::uint16_t port) {
  return "-ASK 949 127.0.0.1:" + std::to_string(port) + "\r\n";
}

TEST(ClusterChanges, AMigrationGoesSlotBySlotAndKeyByKey) {
  Talk talk(3, gossiping(50ms, 50ms));
  talk.to(0, "SET wxz 1");
  talk.to(0, "SET {wxz}a 2");
  talk.changes.migrate({moving, moving}, 0, 1, {.step = 10ms, .gap = 20ms}, talk.now);
  EXPECT_TRUE(talk.cluster.node(1).view.importing().contains(moving));
  EXPECT_FALSE(talk.cluster.node(0).view.migrating().contains(moving));
  talk.pass(10ms);
  EXPECT_TRUE(talk.cluster.node(0).view.migrating().contains(moving));
  EXPECT_EQ(talk.to(0, "GET wxz"), "$1\r\n1\r\n");
  talk.pass(10ms);
  EXPECT_EQ(talk.to(0, "GET wxz"), ask_at(17'412));
  EXPECT_EQ(talk.to(0, "GET {wxz}a"), "$1\r\n2\r\n");
  talk.pass(30ms);  // the other key, no key left, the target owns the slot
  EXPECT_EQ(talk.to(1, "GET wxz"), "$1\r\n1\r\n");
  EXPECT_EQ(talk.to(0, "GET wxz"), ask_at(17'412));
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'411));
  talk.pass(20ms);
  EXPECT_EQ(talk.to(0, "GET wxz"), moved_to(17'412));
  EXPECT_TRUE(talk.changes.over());
  talk.pass(29ms);
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'411));
  talk.pass(1ms);
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'412));
  EXPECT_EQ(talk.cluster.node(2).view.entry(1).epoch, 4u);
}

TEST(ClusterChanges, WhileASlotFlipsBothNodesRedirectToEachOther) {
  Talk talk(3, gossiping(100ms, 100ms));
  talk.to(0, "SET wxz 1");
  talk.changes.flip({0, 1'000}, 0, 1, {.gap = 30ms}, talk.now);
  EXPECT_EQ(talk.to(0, "GET wxz"), moved_to(17'412));
  EXPECT_EQ(talk.to(1, "GET wxz"), moved_to(17'411));
  talk.pass(30ms);
  EXPECT_EQ(talk.to(1, "GET wxz"), "$1\r\n1\r\n");
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'411));
  talk.pass(100ms);
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'412));
}

TEST(ClusterChanges, OnGarnetASlotThatNobodyClaimsYetIsNotServed) {
  Talk talk(3, {.dialect = garnet(), .gossip = {10ms, 10ms}});
  talk.changes.flip({moving, moving}, 0, 1, {.gap = 30ms}, talk.now);
  talk.pass(10ms);
  EXPECT_EQ(talk.to(2, "GET wxz"), "-CLUSTERDOWN Hash slot not served\r\n");
  EXPECT_EQ(talk.to(1, "GET wxz"), "-CLUSTERDOWN Hash slot not served\r\n");
  talk.pass(40ms);
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'412));
  EXPECT_EQ(talk.to(1, "GET wxz"), "$-1\r\n");
}

class Failover : public testing::TestWithParam<bool> {
 protected:
  Failover()
      : talk(3, {.dialect = GetParam() ? garnet() : Dialect{}, .gossip = {10ms, 10ms}}),
        replica(talk.cluster.add_replica(0, {"127.0.0.1", 17'414}, talk.now)),
        second(talk.cluster.add_replica(0, {"127.0.0.1", 17'415}, talk.now)) {
    talk.cluster.settle(talk.now);
    talk.to(0, "SET wxz 1");
  }
  Talk talk;
  NodeNumber replica;
  NodeNumber second;
};

TEST_P(Failover, OfALivingPrimaryBouncesAndThenTheReplicaHasItsSlots) {
  talk.changes.fail_over(replica, {.gap = 30ms}, talk.now);
  EXPECT_EQ(talk.to(0, "GET wxz"), moved_to(17'414));
  EXPECT_EQ(talk.to(replica, "GET wxz"), moved_to(17'411));
  talk.pass(30ms);
  EXPECT_EQ(talk.to(replica, "SET wxz 2"), "+OK\r\n");
  talk.pass(20ms);
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'414));
  EXPECT_EQ(talk.cluster.node(0).view.own().primary, replica);
  EXPECT_EQ(talk.cluster.node(second).view.own().primary, replica);
  talk.to(0, "READONLY");
  EXPECT_EQ(talk.to(0, "GET wxz"), "$1\r\n2\r\n");
}

TEST_P(Failover, OfASilentPrimaryIsHeardByItWhenItGoesOn) {
  talk.cluster.stop(0);
  talk.changes.fail_over(replica, {.gap = 30ms}, talk.now);
  talk.pass(100ms);
  EXPECT_EQ(talk.to(2, "GET wxz"), moved_to(17'414));
  EXPECT_EQ(talk.to(replica, "GET wxz"), "$1\r\n1\r\n");
  talk.cluster.go_on(0, talk.now);
  EXPECT_EQ(talk.to(0, "GET wxz"), "$1\r\n1\r\n");  // for a moment there are two primaries
  talk.pass(20ms);
  EXPECT_EQ(talk.to(0, "GET wxz"), moved_to(17'414));
  EXPECT_EQ(talk.cluster.node(0).view.own().primary, replica);
}

TEST_P(Failover, CanGoBackAndForth) {
  for (int round = 0; round < 4; ++round) {
    const NodeNumber next = round % 2 == 0 ? replica : 0;
    talk.changes.fail_over(next, {.gap = 30ms}, talk.now);
    talk.pass(100ms);
    EXPECT_EQ(talk.to(next, "INCRBY wxz 1"), ":" + std::to_string(round + 2) + "\r\n");
    for (NodeNumber node = 0; node < talk.cluster.size(); ++node) {
      EXPECT_EQ(talk.cluster.node(node).view.owner(moving), next) << round << " at " << node;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, Failover, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "Garnet" : "Redis");
});

TEST(ClusterChanges, ANodeThatRestartsElsewhereIsFoundAfterTheGossip) {
  Talk talk(3, gossiping(10ms, 10ms));
  talk.to(0, "SET wxz 1");
  talk.cluster.restart(0, {"127.0.0.2", 17'499}, talk.now);
  EXPECT_TRUE(talk.connection(0).closed());
  EXPECT_EQ(talk.to(0, "PING"), "");
  talk.reconnect(0);
  EXPECT_EQ(talk.to(0, "GET wxz"), "$1\r\n1\r\n");
  EXPECT_EQ(talk.to(1, "GET wxz"), moved_to(17'411));
  talk.pass(10ms);
  EXPECT_EQ(talk.to(1, "GET wxz"), "-MOVED 949 127.0.0.2:17499\r\n");
}

class Doubling : public testing::TestWithParam<bool> {};

TEST_P(Doubling, GivesHalfOfTheSlotsToNewNodesAndLosesNoKey) {
  Talk talk(3, gossiping(5ms, 50ms));
  const auto key = [](unsigned i) { return "k" + std::to_string(i); };
  for (unsigned i = 0; i < 500; ++i) {
    const NodeNumber owner = talk.cluster.node(0).view.owner(protocol::resp::hash_slot(key(i)));
    ASSERT_EQ(talk.to(owner, "SET " + key(i) + " v" + key(i)), "+OK\r\n");
  }
  std::vector<NodeNumber> newcomers;
  for (std::uint16_t i = 0; i < 3; ++i) {
    const auto port = static_cast<std::uint16_t>(17'420 + i);
    newcomers.push_back(talk.cluster.add_primary({"127.0.0.1", port}, talk.now));
  }
  talk.pass(200ms);
  talk.changes.share(newcomers, GetParam(), {.step = 100us, .gap = 1ms}, talk.now);
  while (!talk.changes.over()) {
    talk.pass(500ms);
    for (unsigned i = 0; i < 500; ++i) {
      ASSERT_EQ(talk.cluster.places_of(key(i), talk.now).size(), 1u);
    }
  }
  talk.pass(200ms);
  for (NodeNumber node = 0; node < 6; ++node) {
    const ClusterView& view = talk.cluster.node(node).view;
    EXPECT_NEAR(static_cast<double>(view.slots_of(node)), 16'384 / 6.0, 2);
    EXPECT_EQ(view.slots_of(nobody), 0u);
    EXPECT_TRUE(view.migrating().empty() && view.importing().empty());
  }
  for (unsigned i = 0; i < 500; ++i) {
    const NodeNumber owner = talk.cluster.node(0).view.owner(protocol::resp::hash_slot(key(i)));
    EXPECT_EQ(talk.cluster.places_of(key(i), talk.now), std::vector<NodeNumber>{owner});
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Doubling, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "AllAtOnce" : "SlotBySlot");
});

TEST(ClusterChanges, AMigrationWhoseSourceIsReplacedGivesBackWhatHasMoved) {
  Talk talk(2);
  const NodeNumber replica = talk.cluster.add_replica(0, {"127.0.0.1", 17'414}, talk.now);
  talk.cluster.settle(talk.now);
  talk.to(0, "SET wxz 1");
  talk.to(0, "SET {wxz}a 2");
  talk.changes.migrate({moving, moving}, 0, 1, {.step = 10ms}, talk.now);
  talk.pass(20ms);
  EXPECT_EQ(talk.cluster.places_of("wxz", talk.now), std::vector<NodeNumber>{1});
  talk.changes.fail_over(replica, {.gap = 1ms}, talk.now);
  talk.pass(20ms);
  EXPECT_TRUE(talk.changes.over());
  EXPECT_EQ(talk.to(replica, "MGET wxz {wxz}a"), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
  EXPECT_EQ(talk.to(1, "GET wxz"), moved_to(17'414));
}

TEST(ClusterChanges, AReplicaThatIsPromotedDoesNotClaimWhatHasLeftItsPrimary) {
  Talk talk(2, gossiping(1s, 1s));
  const NodeNumber replica = talk.cluster.add_replica(0, {"127.0.0.1", 17'414}, talk.now);
  talk.cluster.settle(talk.now);
  talk.to(0, "SET wxz 1");
  talk.changes.flip({moving, moving}, 0, 1, {.gap = 1ms}, talk.now);
  talk.pass(1ms);
  talk.changes.fail_over(replica, {.gap = 1ms}, talk.now);
  talk.pass(5ms);
  EXPECT_EQ(talk.to(replica, "GET wxz"), moved_to(17'412));
  talk.pass(5s);
  EXPECT_EQ(talk.to(1, "GET wxz"), "$1\r\n1\r\n");
  EXPECT_TRUE(talk.cluster.settled());
}

TEST(ClusterChanges, EpochsAreTakenOnceOnly) {
  Talk talk(3, gossiping(1s, 1s));
  talk.cluster.set_owner(moving, 1, 1, talk.now);
  talk.cluster.set_owner(moving, 2, 2, talk.now);  // it has not learned of the first change
  EXPECT_EQ(talk.cluster.node(1).view.own().epoch, 4u);
  EXPECT_EQ(talk.cluster.node(2).view.own().epoch, 5u);
  talk.pass(5s);
  for (NodeNumber node = 0; node < 3; ++node) {
    EXPECT_EQ(talk.cluster.node(node).view.owner(moving), 2u) << node;
  }
}

TEST(ClusterChanges, AMigrationFromANodeThatDoesNotOwnTheSlotDoesNothing) {
  Talk talk(3);
  talk.to(0, "SET wxz 1");
  talk.changes.migrate({moving, moving}, 1, 0, {}, talk.now);
  talk.pass(1s);
  EXPECT_TRUE(talk.changes.over());
  EXPECT_EQ(talk.to(0, "GET wxz"), "$1\r\n1\r\n");
}

TEST(ClusterChanges, AWaryNodeServesNothingUntilItHasHeardWhatItMissed) {
  Talk talk(3, {.gossip = {1ms, 10ms}, .wary = true});
  talk.to(0, "SET wxz 1");
  talk.cluster.stop(0);
  talk.pass(1s);
  talk.cluster.go_on(0, talk.now);
  EXPECT_EQ(talk.to(0, "GET wxz"), "-CLUSTERDOWN The cluster is down\r\n");
  talk.pass(20ms);
  EXPECT_EQ(talk.to(0, "GET wxz"), "$1\r\n1\r\n");
}

TEST(ClusterChanges, AKeyGetsLostOnlyIfItIsAskedFor) {
  Talk talk(1);
  talk.to(0, "SET wxz 1");
  talk.cluster.lose("wxz", talk.now);
  EXPECT_EQ(talk.to(0, "GET wxz"), "$-1\r\n");
}

}  // namespace
}  // namespace sheaf::test::resp_model
