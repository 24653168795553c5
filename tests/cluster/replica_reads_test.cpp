// Reads that replicas may answer: which server is asked, and what its answer means.

#include <array>

#include "tests/cluster/replica_reads_harness.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

using ReplicaReads = ReplicaReadsTest;

TEST_F(ReplicaReads, OnlyAReplicaIsAskedToServeItsCopy) {
  EXPECT_EQ(session("r:1")->use, protocol::SessionUse::reads);
  EXPECT_EQ(session("a:1")->use, protocol::SessionUse::requests);
  EXPECT_EQ(session("b:1")->use, protocol::SessionUse::requests);
}

TEST_F(ReplicaReads, AReadGoesToWhoIsExpectedToAnswerFirst) {
  make_replica_faster();
  RedirectedOp& first = read("7");
  EXPECT_EQ(in_flight("r:1"), 1u);
  // The replica, which has one request, is expected to take as long as the owner.
  RedirectedOp& second = read("8");
  RedirectedOp& third = read("9");
  EXPECT_EQ(in_flight("r:1"), 2u);
  EXPECT_EQ(in_flight("a:1"), 1u);
  answer("r:1");
  answer("r:1");
  answer("a:1");
  EXPECT_EQ(first.node, "r:1");
  EXPECT_EQ(third.ends + second.ends, 2u);
}

TEST_F(ReplicaReads, AReplicaThatWasSlowIsAskedAgainAfterAWhile) {
  start("7");
  loop.pass(1ms);
  answer("a:1");
  read("7");
  loop.pass(50ms);
  answer("r:1");
  read("7");
  EXPECT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  for (int second = 0; second < 8 && in_flight("r:1") == 0; ++second) {
    loop.pass(1s);
    start("7");
    loop.pass(1ms);
    answer("a:1");
    read("7");
    if (in_flight("a:1") > 0) answer("a:1");
  }
  EXPECT_EQ(in_flight("r:1"), 1u);
}

TEST_F(ReplicaReads, WhateverMayNotLagGoesToTheOwner) {
  make_replica_faster();
  RedirectedOp& op = start("7");
  EXPECT_EQ(in_flight("r:1"), 0u);
  answer("a:1");
  EXPECT_EQ(op.node, "a:1");
}

TEST_F(ReplicaReads, TheKeysOfAnotherPrimaryAreNotAskedForThere) {
  make_replica_faster();
  RedirectedOp& op = read("107");
  answer("b:1");
  EXPECT_EQ(op.node, "b:1");
}

TEST_F(ReplicaReads, AReplicaThatIsNotConnectedIsNotAsked) {
  make_replica_faster();
  lose("r:1");
  RedirectedOp& op = read("7");
  EXPECT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
}

TEST_F(ReplicaReads, AMissIsAskedForAtTheOwner) {
  make_replica_faster();
  RedirectedOp& there = read("7");
  miss("r:1");
  EXPECT_EQ(there.ends, 0u);
  EXPECT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  EXPECT_TRUE(there.answered);
  EXPECT_EQ(there.node, "a:1");

  RedirectedOp& absent = read("7");
  miss("r:1");
  miss("a:1");
  EXPECT_EQ(absent.ends, 1u);
  EXPECT_TRUE(absent.answered);
}

TEST_F(ReplicaReads, AMissThatIsTrustedIsOne) {
  begin_with(ReplicaMiss::trust);
  make_replica_faster();
  RedirectedOp& op = read("7");
  miss("r:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "r:1");
  EXPECT_EQ(in_flight("a:1"), 0u);
}

// The replica's view may be far out of date.
TEST_F(ReplicaReads, WhatAReplicaSaysOfOtherServersTeachesNothing) {
  for (const ReplicaMiss misses : {ReplicaMiss::confirm, ReplicaMiss::trust}) {
    begin_with(misses);
    make_replica_faster();
    const std::uint64_t before = epoch();
    const std::size_t fetches = maps.fetches.size();
    RedirectedOp& op = read("7");
    moved("r:1", 7, "b");
    EXPECT_EQ(op.ends, 0u);
    EXPECT_EQ(in_flight("b:1"), 0u);
    answer("a:1");
    EXPECT_TRUE(op.answered);
    EXPECT_EQ(op.node, "a:1");
    EXPECT_EQ(epoch(), before);
    EXPECT_EQ(owner_of(7), "a:1");
    EXPECT_EQ(maps.fetches.size(), fetches);
  }
}

TEST_F(ReplicaReads, WhatAReplicaRefusesIsAskedForAtTheOwner) {
  make_replica_faster();
  RedirectedOp& loading = read("7");
  later("r:1");
  answer("a:1");
  EXPECT_TRUE(loading.answered);

  RedirectedOp& refused = read("7");
  answer_with("r:1", protocol::Status::refused);
  answer_with("a:1", protocol::Status::refused);
  EXPECT_EQ(refused.ends, 1u);
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_EQ(refused.node, "a:1");
}

TEST_F(ReplicaReads, WhatTheOwnerSaysThenIsFollowed) {
  make_replica_faster();
  RedirectedOp& op = read("7");
  miss("r:1");
  moved("a:1", 7, "b");
  answer("b:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(owner_of(7), "b:1");
}

TEST_F(ReplicaReads, AReadThatLosesItsReplicaGoesToTheOwner) {
  make_replica_faster();
  RedirectedOp& op = read("7");
  lose("r:1");
  EXPECT_EQ(op.ends, 0u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "a:1");
}

TEST_F(ReplicaReads, AReadThatAReplicaDoesNotAnswerEndsByItsDeadline) {
  make_replica_faster();
  RedirectedOp& op = read("7", 100ms);
  EXPECT_EQ(in_flight("r:1"), 1u);
  loop.pass(100ms);
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::unknown);
  EXPECT_EQ(op.reason, Reason::timed_out);
  EXPECT_EQ(in_flight("a:1"), 0u);
}

TEST_F(ReplicaReads, WhoeverHasLetAReadTimeOutIsAvoided) {
  make_replica_faster();
  read("7", 100ms);
  loop.pass(100ms);
  for (int i = 0; i < 3; ++i) {
    RedirectedOp& op = read("7");
    answer("a:1");
    EXPECT_EQ(op.node, "a:1");
  }
}

TEST_F(ReplicaReads, ACancelledReadEndsOnceAndGoesNowhere) {
  make_replica_faster();
  RedirectedOp& op = read("7");
  cluster->cancel(op.request, loop.now());
  loop.settle();
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.reason, Reason::cancelled);
  EXPECT_EQ(in_flight("a:1"), 0u);
}

TEST_F(ReplicaReads, AReplicaAnswersWhileItsPrimaryIsDown) {
  lose("a:1");
  RedirectedOp& there = read("7");
  EXPECT_EQ(in_flight("r:1"), 1u);
  answer("r:1");
  EXPECT_TRUE(there.answered);
  EXPECT_EQ(there.node, "r:1");
}

TEST_F(ReplicaReads, AMissWhileThePrimaryIsDownIsNone) {
  make_replica_faster();
  lose("a:1");
  RedirectedOp& op = read("7", 200ms);
  miss("r:1");
  EXPECT_EQ(op.ends, 0u);
  loop.pass(200ms);
  EXPECT_EQ(op.ends, 1u);
  EXPECT_FALSE(op.answered);
  EXPECT_EQ(op.outcome, Outcome::not_sent);
}

TEST_F(ReplicaReads, WithoutTheOptionOwnersAnswerAlone) {
  begin_with(ReplicaMiss::confirm, ReadTarget::primary);
  start("7");
  loop.pass(2ms);
  answer("a:1");
  RedirectedOp& op = read("7");
  answer("a:1");
  EXPECT_EQ(op.node, "a:1");
}

// Otherwise a former primary could answer what locks ask, with old values.
TEST_F(ReplicaReads, AReplicaThatGetsASlotMakesItsConnectionsAnew) {
  make_replica_faster();
  node::FakeSession* const before = session("r:1");
  RedirectedOp& in_progress = read("7");
  start("8");
  moved("a:1", 8, "r");
  EXPECT_EQ(owner_of(8), "r:1");
  EXPECT_EQ(before->in_flight(), 1u);  // nothing new on the old connection
  before->answer();
  network.deliver(*before);
  EXPECT_TRUE(in_progress.answered);
  connect();
  ASSERT_NE(session("r:1"), before);
  EXPECT_EQ(session("r:1")->use, protocol::SessionUse::requests);
  EXPECT_EQ(session("r:1")->keys.back(), "8");
  answer("r:1");
  EXPECT_EQ(ops.back().node, "r:1");
}

TEST_F(ReplicaReads, APrimaryThatBecomesAReplicaMakesItsConnectionsAnew) {
  apply({r, b, a}, {{100, 0}, {16'384, 1}}, std::array{nobody, nobody, 0u});
  EXPECT_EQ(session("a:1")->use, protocol::SessionUse::reads);
  EXPECT_EQ(session("r:1")->use, protocol::SessionUse::requests);
  RedirectedOp& op = start("7");
  answer("r:1");
  EXPECT_EQ(op.node, "r:1");
}

TEST_F(ReplicaReads, AConnectionThatIsBeingMadeIsGivenUpWhenTheRoleChanges) {
  lose("r:1");
  for (int i = 0; i < 50 && network.dialing() == 0; ++i) loop.pass(10ms);
  ASSERT_EQ(network.dialing(), 1u);
  ASSERT_EQ(session("r:1")->use, protocol::SessionUse::reads);
  cluster->apply(topology_of({r, b, a}, {{100, 0}, {16'384, 1}}, std::array{nobody, nobody, 0u}),
                 loop.now());
  connect();
  EXPECT_EQ(session("r:1")->use, protocol::SessionUse::requests);
}

TEST_F(ReplicaReads, AReadThatWaitsForAReplicaThatLeavesGoesToTheOwner) {
  make_replica_faster();
  session("r:1")->capacity = 0;
  RedirectedOp& op = read("7");
  apply({a, b}, {{100, 0}, {16'384, 1}});
  EXPECT_EQ(op.ends, 0u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
}

// It would answer from its copy although the slot is gone.
TEST_F(ReplicaReads, AReplicaIsNotAskedWhereASlotHasGone) {
  take_down("b:1");
  for (int i = 0; i < 5; ++i) {
    start("107", 100ms);
    loop.pass(1s);
    EXPECT_EQ(in_flight("r:1"), 0u);
  }
}

}  // namespace
}  // namespace sheaf::cluster
