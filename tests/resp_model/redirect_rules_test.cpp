// The rules of redirects, word for word as redis-server 7.0.15 answers. The transcripts were taken
// from a live cluster with three primaries at these ports and a replica of the first. Garnet's
// texts are those of Garnet 2.2.

#include <gtest/gtest.h>

#include "tests/resp_model/talk.h"

namespace sheaf::test::resp_model {
namespace {

constexpr NodeNumber a = 0;  // slots 0 .. 5461
constexpr NodeNumber b = 1;
constexpr NodeNumber d = 2;  // slots 10923 .. 16383
constexpr NodeNumber r = 3;  // replica of a

// "wxz" is in slot 949, "foo" in slot 12182.
constexpr Slot moved_slot = 949;

struct RedirectRules : testing::Test {
  explicit RedirectRules(ClusterOptions options = {}) : talk(3, std::move(options)) {
    talk.cluster.add_replica(a, {"127.0.0.1", 17'414}, talk.now);
    talk.cluster.settle(talk.now);
  }
  void expect(NodeNumber node, std::string_view command, std::string_view reply) {
    EXPECT_EQ(talk.to(node, command), reply) << command << " at " << node;
  }
  void open_slot() {
    talk.cluster.set_importing(moved_slot, b, a);
    talk.cluster.set_migrating(moved_slot, a, b);
  }
  Talk talk;
};

struct GarnetRules : RedirectRules {
  GarnetRules() : RedirectRules({.dialect = garnet()}) {}
};

constexpr std::string_view try_again =
    "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";

TEST_F(RedirectRules, ANodeServesItsSlotsAndNamesTheOwnerOfOthers) {
  expect(a, "GET wxz", "$-1\r\n");
  expect(a, "GET foo", "-MOVED 12182 127.0.0.1:17413\r\n");
  expect(a, "SET foo 1", "-MOVED 12182 127.0.0.1:17413\r\n");
}

TEST_F(RedirectRules, KeysOfSeveralSlotsAreRefused) {
  expect(a, "MGET wxz foo", "-CROSSSLOT Keys in request don't hash to the same slot\r\n");
  expect(a, "DEL wxz foo", "-CROSSSLOT Keys in request don't hash to the same slot\r\n");
}

TEST_F(RedirectRules, AReplicaServesReadsOfItsPrimaryAfterReadonly) {
  expect(r, "GET wxz", "-MOVED 949 127.0.0.1:17411\r\n");
  expect(r, "READONLY", "+OK\r\n");
  expect(r, "GET wxz", "$-1\r\n");
  expect(r, "SET wxz 1", "-MOVED 949 127.0.0.1:17411\r\n");
  expect(r, "GET foo", "-MOVED 12182 127.0.0.1:17413\r\n");
  expect(r, "READWRITE", "+OK\r\n");
  expect(r, "GET wxz", "-MOVED 949 127.0.0.1:17411\r\n");
}

TEST_F(RedirectRules, TheSourceOfAMigrationServesWhatItStillHas) {
  expect(a, "SET wxz 1", "+OK\r\n");
  expect(a, "SET {wxz}a 2", "+OK\r\n");
  open_slot();
  expect(a, "GET wxz", "$1\r\n1\r\n");
  expect(a, "GET {wxz}z", "-ASK 949 127.0.0.1:17412\r\n");
  expect(a, "SET {wxz}z 1", "-ASK 949 127.0.0.1:17412\r\n");
  expect(a, "MGET wxz {wxz}z", try_again);
  expect(a, "EXISTS wxz {wxz}z", try_again);
  expect(a, "MGET {wxz}y {wxz}z", "-ASK 949 127.0.0.1:17412\r\n");
  expect(a, "MGET {wxz}y {wxz}y", "-ASK 949 127.0.0.1:17412\r\n");
  expect(d, "GET wxz", "-MOVED 949 127.0.0.1:17411\r\n");
}

TEST_F(RedirectRules, TheTargetOfAMigrationServesOneCommandAfterAsking) {
  open_slot();
  expect(b, "GET wxz", "-MOVED 949 127.0.0.1:17411\r\n");
  expect(b, "ASKING", "+OK\r\n");
  expect(b, "GET {wxz}z", "$-1\r\n");
  expect(b, "GET {wxz}z", "-MOVED 949 127.0.0.1:17411\r\n");
  talk.to(b, "ASKING");
  expect(b, "PING", "+PONG\r\n");
  expect(b, "GET {wxz}z", "-MOVED 949 127.0.0.1:17411\r\n");
  talk.to(b, "ASKING");
  expect(b, "FOO a b", "-ERR unknown command 'FOO', with args beginning with: 'a' 'b' \r\n");
  expect(b, "GET {wxz}z", "-MOVED 949 127.0.0.1:17411\r\n");
  talk.to(b, "ASKING");
  talk.to(b, "ASKING");
  expect(b, "GET {wxz}z", "$-1\r\n");
  talk.to(b, "ASKING");
  expect(b, "GET foo", "-MOVED 12182 127.0.0.1:17413\r\n");
}

TEST_F(RedirectRules, TheTargetServesSeveralKeysOnlyIfItHasThemAll) {
  open_slot();
  const auto ask = [&](std::string_view command, std::string_view reply) {
    talk.to(b, "ASKING");
    expect(b, command, reply);
  };
  ask("MGET {wxz}y {wxz}z", try_again);
  ask("MGET {wxz}y {wxz}y", "*2\r\n$-1\r\n$-1\r\n");
  ask("SET {wxz}y 1", "+OK\r\n");
  ask("MGET {wxz}y {wxz}z", try_again);
  ask("SET {wxz}z 2", "+OK\r\n");
  ask("MGET {wxz}y {wxz}z", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
}

TEST_F(RedirectRules, AKeyGoesFromTheSourceToTheTargetAndThenTheSlotDoes) {
  talk.to(a, "SET wxz 1");
  talk.to(a, "SET {wxz}a 2");
  talk.to(r, "READONLY");
  open_slot();
  EXPECT_TRUE(talk.cluster.move_one_key(moved_slot, a, b, talk.now));  // {wxz}a
  EXPECT_TRUE(talk.cluster.move_one_key(moved_slot, a, b, talk.now));
  EXPECT_FALSE(talk.cluster.move_one_key(moved_slot, a, b, talk.now));
  expect(a, "GET wxz", "-ASK 949 127.0.0.1:17412\r\n");
  expect(r, "GET wxz", "$-1\r\n");  // a replica does not know migrations
  talk.cluster.set_owner(moved_slot, b, b, talk.now);
  expect(b, "GET wxz", "$1\r\n1\r\n");
  expect(a, "GET wxz", "-ASK 949 127.0.0.1:17412\r\n");
  expect(d, "GET wxz", "-MOVED 949 127.0.0.1:17411\r\n");
  talk.cluster.settle(talk.now);
  expect(a, "GET wxz", "-MOVED 949 127.0.0.1:17412\r\n");
  expect(d, "GET wxz", "-MOVED 949 127.0.0.1:17412\r\n");
}

TEST_F(RedirectRules, ASlotOfNobodyIsNotServedWhateverElseIsWrong) {
  Talk fresh(1);
  const NodeNumber alone = fresh.cluster.add_primary({"127.0.0.1", 17'412}, fresh.now);
  for (std::size_t slot = 0; slot < protocol::resp::slot_count; ++slot) {
    fresh.cluster.node(alone).view.set_owner(static_cast<Slot>(slot), nobody);
  }
  EXPECT_EQ(fresh.to(alone, "GET x"), "-CLUSTERDOWN Hash slot not served\r\n");
  EXPECT_EQ(fresh.to(alone, "MGET x foo"), "-CLUSTERDOWN Hash slot not served\r\n");
}

TEST_F(RedirectRules, AClusterThatIsDownServesNoKeysForATime) {
  talk.cluster.node(a).faults.down_until = talk.now + 1s;
  expect(a, "GET wxz", "-CLUSTERDOWN The cluster is down\r\n");
  expect(a, "GET foo", "-CLUSTERDOWN The cluster is down\r\n");
  expect(a, "PING", "+PONG\r\n");
  EXPECT_NE(talk.to(a, "CLUSTER INFO").find("cluster_state:fail"), std::string::npos);
  talk.pass(1s);
  expect(a, "GET wxz", "$-1\r\n");
  EXPECT_EQ(talk.cluster.log().errors("CLUSTERDOWN"), 2u);
}

TEST_F(RedirectRules, ANodeThatLoadsRedirectsButServesNothing) {
  talk.cluster.node(a).faults.loading_until = talk.now + 1s;
  expect(a, "GET wxz", "-LOADING Redis is loading the dataset in memory\r\n");
  expect(a, "PING", "-LOADING Redis is loading the dataset in memory\r\n");
  expect(a, "GET foo", "-MOVED 12182 127.0.0.1:17413\r\n");
  expect(a, "READONLY", "+OK\r\n");
  talk.pass(1s);
  expect(a, "GET wxz", "$-1\r\n");
}

// ---- Garnet

TEST_F(GarnetRules, TextsAndTheImportingNodeDiffer) {
  expect(a, "MGET wxz foo", "-CROSSSLOT Keys in request do not hash to the same slot\r\n");
  open_slot();
  talk.to(b, "ASKING");
  expect(b, "MGET {wxz}y {wxz}z", "*2\r\n$-1\r\n$-1\r\n");
  expect(b, "FOO a", "-ERR unknown command\r\n");
}

TEST_F(GarnetRules, AskingIsForARunOfGetsThatComeTogether) {
  open_slot();
  const std::string get = command_bytes("GET wxz");
  talk.to(b, "PING");
  EXPECT_EQ(talk.connection(b).receive(command_bytes("ASKING") + get + get, talk.now),
            "+OK\r\n$-1\r\n$-1\r\n");
  EXPECT_EQ(talk.connection(b).receive(get, talk.now), "-MOVED 949 127.0.0.1:17411\r\n");
  EXPECT_EQ(talk.connection(b).receive(command_bytes("ASKING") + get + command_bytes("PING") + get,
                                       talk.now),
            "+OK\r\n$-1\r\n+PONG\r\n-MOVED 949 127.0.0.1:17411\r\n");
}

TEST_F(GarnetRules, AReplicaSendsWritesOfAnUnassignedSlotToNowhere) {
  talk.cluster.node(r).view.set_owner(moved_slot, nobody);
  expect(r, "SET wxz 1", "-MOVED 949 unassigned:0\r\n");
  expect(r, "GET wxz", "-CLUSTERDOWN Hash slot not served\r\n");
}

TEST(OldGarnetRules, AWriteThatHitsAMigratingSlotGetsABareError) {
  ClusterOptions options{.dialect = garnet()};
  options.dialect.bare_migrating = true;
  Talk talk(3, options);
  talk.to(a, "SET wxz 1");
  talk.cluster.set_migrating(moved_slot, a, b);
  EXPECT_EQ(talk.to(a, "SET wxz 2"), "-MIGRATING\r\n");
  EXPECT_EQ(talk.to(a, "GET wxz"), "$1\r\n1\r\n");
  EXPECT_EQ(talk.to(a, "SET {wxz}z 2"), "-ASK 949 127.0.0.1:17412\r\n");
}

}  // namespace
}  // namespace sheaf::test::resp_model
