// Reads with two attempts: when the second starts, which answer ends the call, and what becomes of
// the other. The test plays the servers, in virtual time.

#include <array>
#include <memory>

#include "base/random.h"
#include "tests/cluster/replica_reads_harness.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

class HedgedReads : public ReplicaReadsTest {
 protected:
  HedgedReads() { begin_hedged(ReplicaMiss::confirm); }

  void begin_hedged(ReplicaMiss misses) {
    config.hedged_reads = true;
    begin_with(misses);
  }
  // Reads that this server answers within 1 ms, and the other one in `slow`: from now on reads go
  // to the first, and are late after 2 ms.
  void train(const std::string& fast, unsigned reads = 80, std::chrono::nanoseconds slow = 1100us) {
    for (unsigned i = 0; i < reads; ++i) {
      const RedirectedOp& op = read("7");
      const std::string server = in_flight("a:1") > 0 ? "a:1" : "r:1";
      loop.pass(server == fast ? 1ms : slow);
      answer(server);
      ASSERT_TRUE(op.answered);
    }
  }
  // A read at `first` that is late, so that the other server has it, too.
  RedirectedOp& late_read(const std::string& first, std::chrono::nanoseconds timeout = 5s) {
    train(first);
    RedirectedOp& op = read("7", timeout);
    EXPECT_EQ(in_flight(first), 1u);
    EXPECT_EQ(in_flight(other_than(first)), 0u);
    loop.pass(2ms);
    EXPECT_EQ(in_flight(other_than(first)), 1u);
    EXPECT_EQ(op.ends, 0u);
    return op;
  }
  static std::string other_than(const std::string& server) {
    return server == "a:1" ? "r:1" : "a:1";
  }
  NodeStats stats(const std::string& server) {
    const std::vector<NodeStats> all = cluster->nodes().stats();
    return *std::ranges::find(all, server, &NodeStats::node);
  }
  std::uint64_t tallied(const std::string& server) {
    std::uint64_t count = 0;
    for (const auto& one : cluster->node(cluster->topology().find(server)->index()).operations()) {
      count += one.done + one.absent + one.refused + one.not_sent + one.unknown;
    }
    return count;
  }
};

TEST_F(HedgedReads, AReadThatIsLateIsAlsoSentToAReplica) {
  RedirectedOp& op = late_read("a:1");
  answer("r:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "r:1");
  EXPECT_TRUE(op.request.from_replica());
}

TEST_F(HedgedReads, AReadThatAReplicaIsLateForIsAlsoSentToTheOwner) {
  RedirectedOp& op = late_read("r:1");
  answer("a:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "a:1");
  EXPECT_FALSE(op.request.from_replica());
}

TEST_F(HedgedReads, TheLaterAnswerIsDroppedAndItsConnectionGoesOn) {
  for (const std::string first : {"a:1", "r:1"}) {
    begin_hedged(ReplicaMiss::confirm);
    RedirectedOp& op = late_read(first);
    const std::size_t dials = network.dials;
    node::FakeSession* const slow = session(first);
    answer(other_than(first));
    EXPECT_EQ(op.ends, 1u);
    EXPECT_EQ(in_flight(first), 1u);
    answer(first);
    EXPECT_EQ(op.ends, 1u);
    EXPECT_EQ(op.node, other_than(first));
    RedirectedOp& next = start("7");
    answer("a:1");
    EXPECT_TRUE(next.answered);
    EXPECT_EQ(session(first), slow);
    EXPECT_EQ(network.dials, dials);
  }
}

TEST_F(HedgedReads, TheFirstAttemptMayStillWin) {
  RedirectedOp& op = late_read("a:1");
  answer("a:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.node, "a:1");
  answer("r:1");
  EXPECT_EQ(op.ends, 1u);
}

TEST_F(HedgedReads, OnlyTheOptionMakesThem) {
  config.hedged_reads = false;
  begin_with(ReplicaMiss::confirm);
  train("a:1");
  RedirectedOp& op = read("7");
  loop.pass(1s);
  EXPECT_EQ(in_flight("r:1"), 0u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
}

TEST_F(HedgedReads, NothingIsHedgedAtTheBeginning) {
  train("a:1", HedgePlan::fewest - 1);
  read("7");
  loop.pass(1s);
  EXPECT_EQ(in_flight("a:1") + in_flight("r:1"), 1u);
}

TEST_F(HedgedReads, WhatMayNotLagIsNeverHedged) {
  train("a:1");
  start("7");
  loop.pass(1s);
  EXPECT_EQ(in_flight("a:1"), 1u);
  EXPECT_EQ(in_flight("r:1"), 0u);
}

TEST_F(HedgedReads, NothingButAGetIsEverHedged) {
  train("a:1");
  RedirectedOp& op = ops.emplace_back();
  static constexpr std::array<std::string_view, 2> keys{"7", "8"};
  op.request.operation.verb = protocol::Verb::get_many;
  op.request.operation.keys = keys;
  op.request.operation.deadline = loop.now().mono + 5s;
  op.request.may_lag = true;
  op.request.sink = &op;
  cluster->start_at(epoch(), cluster->topology().owner("7"), op.request, loop.now());
  loop.pass(1s);
  EXPECT_EQ(in_flight("a:1") + in_flight("r:1"), 1u);
}

TEST_F(HedgedReads, TheKeysOfAPrimaryWithoutAReplicaAreNotHedged) {
  train("a:1");
  read("107");
  loop.pass(1s);
  EXPECT_EQ(in_flight("b:1"), 1u);
  EXPECT_EQ(in_flight("a:1") + in_flight("r:1"), 0u);
}

TEST_F(HedgedReads, AReplicaThatIsNotConnectedIsNotAsked) {
  train("a:1");
  lose("r:1");
  RedirectedOp& op = read("7");
  loop.pass(100ms);
  EXPECT_EQ(stats("r:1").hedges, 0u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
}

// The delay doubles until a holder is there.
TEST_F(HedgedReads, AReplicaThatComesBackIsAskedThen) {
  train("a:1");
  lose("r:1");
  RedirectedOp& op = read("7");
  for (int i = 0; i < 50 && network.dialing() == 0; ++i) loop.pass(10ms);
  connect();
  loop.pass(1s);
  ASSERT_EQ(in_flight("r:1"), 1u);
  answer("r:1");
  EXPECT_EQ(op.node, "r:1");
}

TEST_F(HedgedReads, FourHedgesAreAllThatEightyReadsPayFor) {
  train("a:1");
  for (int i = 0; i < 4; ++i) {
    read("7");
    loop.pass(100ms);
  }
  EXPECT_EQ(stats("r:1").hedges + stats("a:1").hedges, 4u);
  read("7");
  loop.pass(1s);
  EXPECT_EQ(stats("r:1").hedges + stats("a:1").hedges, 4u);
}

// ---- answers of no use

TEST_F(HedgedReads, AMissOfTheReplicaLeavesTheReadToTheOwner) {
  RedirectedOp& op = late_read("a:1");
  miss("r:1");
  EXPECT_EQ(op.ends, 0u);
  loop.pass(100ms);
  EXPECT_EQ(in_flight("r:1"), 0u);  // it is not asked again
  miss("a:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "a:1");
}

TEST_F(HedgedReads, AMissOfTheReplicaIsConfirmedByTheRequestThatTheOwnerHas) {
  RedirectedOp& op = late_read("r:1");
  miss("r:1");
  EXPECT_EQ(op.ends, 0u);
  EXPECT_EQ(in_flight("a:1"), 1u);
  miss("a:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "a:1");
}

TEST_F(HedgedReads, AMissOfTheOwnerNeedsNoConfirmation) {
  RedirectedOp& op = late_read("r:1");
  miss("a:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_TRUE(op.answered);
  miss("r:1");
  EXPECT_EQ(in_flight("a:1"), 0u);
  EXPECT_EQ(op.ends, 1u);
}

TEST_F(HedgedReads, AMissThatIsTrustedEndsTheRead) {
  begin_hedged(ReplicaMiss::trust);
  RedirectedOp& op = late_read("a:1");
  miss("r:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "r:1");
}

TEST_F(HedgedReads, WhatOneRefusesTheOtherMayAnswer) {
  for (const std::string first : {"a:1", "r:1"}) {
    for (const std::string refuses : {"a:1", "r:1"}) {
      begin_hedged(ReplicaMiss::confirm);
      RedirectedOp& op = late_read(first);
      answer_with(refuses, protocol::Status::refused);
      EXPECT_EQ(op.ends, 0u);
      answer(other_than(refuses));
      EXPECT_EQ(op.ends, 1u);
      EXPECT_TRUE(op.answered);
      EXPECT_EQ(op.node, other_than(refuses));
    }
  }
}

TEST_F(HedgedReads, WhatBothRefuseTheOwnerIsAskedOnceMore) {
  for (const std::string first : {"a:1", "r:1"}) {
    begin_hedged(ReplicaMiss::confirm);
    RedirectedOp& op = late_read(first);
    answer_with(first, protocol::Status::refused);
    answer_with(other_than(first), protocol::Status::refused);
    EXPECT_EQ(op.ends, 0u);
    EXPECT_EQ(in_flight("r:1"), 0u);
    answer_with("a:1", protocol::Status::refused);
    EXPECT_EQ(op.ends, 1u);
    EXPECT_EQ(op.outcome, Outcome::refused);
    EXPECT_EQ(op.node, "a:1");
  }
}

TEST_F(HedgedReads, AConnectionThatIsLostLeavesTheReadToTheOther) {
  for (const std::string first : {"a:1", "r:1"}) {
    for (const std::string lost : {"a:1", "r:1"}) {
      begin_hedged(ReplicaMiss::confirm);
      RedirectedOp& op = late_read(first);
      lose(lost);
      EXPECT_EQ(op.ends, 0u);
      answer(other_than(lost));
      EXPECT_EQ(op.ends, 1u);
      EXPECT_TRUE(op.answered);
    }
  }
}

TEST_F(HedgedReads, AReadThatLosesBothGoesToTheOwnerOnceItIsConnected) {
  RedirectedOp& op = late_read("a:1");
  lose("a:1");
  lose("r:1");
  EXPECT_EQ(op.ends, 0u);
  for (int i = 0; i < 50 && network.dialing() == 0; ++i) loop.pass(10ms);
  connect();
  answer("a:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_TRUE(op.answered);
}

// ---- redirects

TEST_F(HedgedReads, WhatTheOwnerSaysOfItsSlotIsFollowed) {
  RedirectedOp& op = late_read("a:1");
  moved("a:1", 7, "b");
  EXPECT_EQ(owner_of(7), "b:1");
  EXPECT_EQ(in_flight("b:1"), 1u);
  answer("r:1");  // of the slot's old owner: dropped
  EXPECT_EQ(op.ends, 0u);
  answer("b:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "b:1");
}

TEST_F(HedgedReads, AnOwnerThatSaysLaterLeavesTheReadToItsReplica) {
  RedirectedOp& op = late_read("a:1");
  later("a:1");
  EXPECT_EQ(op.ends, 0u);
  answer("r:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "r:1");
}

TEST_F(HedgedReads, WhatAServerSaysToASecondAttemptIsNotFollowed) {
  RedirectedOp& op = late_read("r:1");
  moved("a:1", 7, "b");
  EXPECT_EQ(op.ends, 0u);
  EXPECT_EQ(owner_of(7), "a:1");
  EXPECT_EQ(in_flight("b:1"), 0u);
  miss("r:1");
  moved("a:1", 7, "b");  // it is asked as for any miss, and followed
  answer("b:1");
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "b:1");
}

// The write goes to the slot's new owner. The read came after it, and counts as not carried out,
// because the answer of a replica says nothing about the order.
TEST_F(HedgedReads, AnEarlierWriteThatIsRedirectedIsNotOvertaken) {
  train("a:1", 80, 3ms);  // so that the read goes where the write is
  RedirectedOp& write = start("7");
  RedirectedOp& op = read("7");
  ASSERT_EQ(in_flight("a:1"), 2u);
  loop.pass(4ms);
  ASSERT_EQ(in_flight("r:1"), 1u);
  moved("a:1", 7, "b");
  EXPECT_EQ(write.ends, 0u);
  EXPECT_EQ(in_flight("b:1"), 0u);  // the read is still where the write was
  answer("r:1");
  EXPECT_TRUE(op.answered);
  answer("b:1");
  EXPECT_TRUE(write.answered) << write.text;
  EXPECT_EQ(write.node, "b:1");
}

// ---- ends

TEST_F(HedgedReads, TheDeadlineEndsBothAttempts) {
  RedirectedOp& op = late_read("a:1", 100ms);
  loop.pass(99ms);
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::unknown);
  EXPECT_EQ(op.reason, Reason::timed_out);
  EXPECT_EQ(in_flight("a:1") + in_flight("r:1"), 0u);
  EXPECT_EQ(stats("a:1").timed_out + stats("r:1").timed_out, 1u);
}

TEST_F(HedgedReads, TheDeadlineEndsAReadThatOnlyTheSecondServerHas) {
  for (const std::string first : {"a:1", "r:1"}) {
    begin_hedged(ReplicaMiss::confirm);
    RedirectedOp& op = late_read(first, 100ms);
    answer_with(first, protocol::Status::refused);
    loop.pass(100ms);
    EXPECT_EQ(op.ends, 1u);
    EXPECT_EQ(op.reason, Reason::timed_out);
    EXPECT_EQ(op.node, other_than(first));
    EXPECT_EQ(in_flight("a:1") + in_flight("r:1"), 0u);
  }
}

TEST_F(HedgedReads, ALateAttemptEndsByTheDeadlineOfItsCall) {
  RedirectedOp& op = late_read("a:1", 100ms);
  answer("r:1");
  EXPECT_EQ(in_flight("a:1"), 1u);
  loop.pass(100ms);
  EXPECT_EQ(in_flight("a:1"), 0u);
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(stats("a:1").timed_out, 0u);  // no call has timed out
}

TEST_F(HedgedReads, ACancelledReadEndsAtOnce) {
  RedirectedOp& op = late_read("a:1");
  cluster->cancel(op.request, loop.now());
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.reason, Reason::cancelled);
  loop.settle();
  answer("r:1");
  EXPECT_EQ(op.ends, 1u);
}

TEST_F(HedgedReads, AReadThatOnlyTheSecondServerHasCanBeCancelled) {
  RedirectedOp& op = late_read("a:1");
  answer_with("a:1", protocol::Status::refused);
  cluster->cancel(op.request, loop.now());
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.reason, Reason::cancelled);
  loop.settle();
  EXPECT_EQ(in_flight("a:1") + in_flight("r:1"), 0u);
}

TEST_F(HedgedReads, AClosingClientEndsTheReadOnce) {
  for (const bool refused : {false, true}) {
    begin_hedged(ReplicaMiss::confirm);
    RedirectedOp& op = late_read("a:1");
    if (refused) answer_with("a:1", protocol::Status::refused);
    cluster->shut_down(loop.now());
    for (int i = 0; i < 10 && !cluster->empty(); ++i) loop.settle();
    EXPECT_TRUE(cluster->empty());
    EXPECT_EQ(op.ends, 1u);
    EXPECT_FALSE(op.answered);
  }
}

// The caller's request and key are gone by the time that the slow server answers.
TEST_F(HedgedReads, AReadThatHasEndedLeavesNothingOfItsCaller) {
  for (const std::string first : {"a:1", "r:1"}) {
    for (const bool second_wins : {true, false}) {
      begin_hedged(ReplicaMiss::confirm);
      train(first);
      const std::string winner = second_wins ? other_than(first) : first;
      auto op = std::make_unique<RedirectedOp>();
      op->key = "7";
      op->request.operation.verb = protocol::Verb::get;
      op->request.operation.key = op->key;
      op->request.operation.deadline = loop.now().mono + 5s;
      op->request.may_lag = true;
      op->request.sink = op.get();
      cluster->start(op->request, loop.now());
      loop.pass(2ms);
      answer(winner);
      EXPECT_TRUE(op->answered);
      op.reset();
      ASSERT_EQ(in_flight(other_than(winner)), 1u);
      if (second_wins) {
        answer(other_than(winner));
      } else {
        lose(other_than(winner));
      }
    }
  }
}

TEST_F(HedgedReads, AReadThatWaitsForRoomIsNotSentOnceItHasAnAnswer) {
  train("a:1");
  session("a:1")->capacity = 0;
  RedirectedOp& op = read("7");
  loop.pass(2ms);
  answer("r:1");
  EXPECT_TRUE(op.answered);
  const std::size_t sent = session("a:1")->keys.size();
  session("a:1")->capacity = 10;
  RedirectedOp& next = start("8");
  answer("a:1");
  EXPECT_TRUE(next.answered);
  EXPECT_EQ(session("a:1")->keys.size(), sent + 1);
}

TEST_F(HedgedReads, AReplicaThatLeavesWithASecondAttemptEndsIt) {
  RedirectedOp& op = late_read("a:1", 100ms);
  apply({a, b}, {{100, 0}, {16'384, 1}});
  EXPECT_EQ(op.ends, 0u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
  loop.pass(1s);
  EXPECT_EQ(cluster->nodes().size(), 2u);
}

// ---- what is counted

TEST_F(HedgedReads, ACallCountsOnceWhereItsAnswerCameFrom) {
  late_read("a:1");
  const std::uint64_t owner = tallied("a:1");
  const std::uint64_t replica = tallied("r:1");
  answer("r:1");
  answer("a:1");
  EXPECT_EQ(tallied("a:1"), owner);
  EXPECT_EQ(tallied("r:1"), replica + 1);
  EXPECT_EQ(stats("r:1").hedges, 1u);
  EXPECT_EQ(stats("r:1").hedges_won, 1u);
  EXPECT_EQ(stats("a:1").hedges, 0u);
}

TEST_F(HedgedReads, AHedgeThatDoesNotAnswerFirstHasNotWon) {
  late_read("a:1");
  answer("a:1");
  answer("r:1");
  EXPECT_EQ(stats("r:1").hedges, 1u);
  EXPECT_EQ(stats("r:1").hedges_won, 0u);
}

TEST_F(HedgedReads, WhoeverWasTooSlowIsAvoidedAtOnce) {
  train("a:1");
  read("7");
  loop.pass(2ms);
  answer("r:1");
  RedirectedOp& next = read("7");
  EXPECT_EQ(in_flight("r:1"), 1u);
  answer("r:1");
  EXPECT_EQ(next.node, "r:1");
}

// ---- everything at once

// Servers answer, refuse, redirect and hang up in any order, while callers cancel: each read ends
// once, by its deadline, and only an answer that counts ends it as answered.
TEST_F(HedgedReads, EveryReadEndsOnceWhateverHappens) {
  const std::array<std::string, 3> servers{"a:1", "r:1", "b:1"};
  std::uint64_t hedges = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    begin_hedged(seed % 2 == 0 ? ReplicaMiss::confirm : ReplicaMiss::trust);
    train("a:1", 200);
    ops.clear();
    for (int step = 0; step < 60; ++step) {
      const std::string& server = servers[random.below(servers.size())];
      switch (random.below(12)) {
        case 0:
        case 1:
        case 2:
          if (ops.size() < 15) read("7", std::chrono::milliseconds(5 + random.below(40)));
          break;
        case 3:
          if (ops.size() < 15) start("7", 30ms);
          break;
        case 4:
        case 5:
        case 6:
          if (in_flight(server) > 0) answer(server);
          break;
        case 7:
          if (in_flight(server) > 0) miss(server);
          break;
        case 8:
          if (in_flight(server) > 0 && random.below(2) == 0) {
            answer_with(server, protocol::Status::refused);
          } else if (in_flight(server) > 0) {
            later(server);
          }
          break;
        case 9:
          if (in_flight(server) > 0 && server != "b:1") moved(server, 7, "b");
          break;
        case 10:
          if (!ops.empty()) cluster->cancel(ops[random.below(ops.size())].request, loop.now());
          loop.settle();
          break;
        default:
          loop.pass(std::chrono::microseconds(random.below(6'000)));
          connect();
          if (random.below(10) == 0 && session(server) != nullptr) lose(server);
          break;
      }
    }
    hedges += stats("a:1").hedges + stats("r:1").hedges;
    loop.pass(100ms);
    for (const RedirectedOp& op : ops) EXPECT_EQ(op.ends, 1u) << op.number;
  }
  EXPECT_GT(hedges, 100u);
}

}  // namespace
}  // namespace sheaf::cluster
