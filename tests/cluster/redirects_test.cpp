// Where redirected requests go, and how they end.

#include "cluster/moving/redirects.h"

#include "tests/cluster/redirects_harness.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;
using protocol::Redirect;
using protocol::Verb;

TEST_F(RedirectsTest, MovedStartsAtTheOtherMemberAtOnceAndMendsTheSlot) {
  RedirectedOp& op = start("7");
  const Deadline begun = loop.now().mono;
  moved("a:1", 7, "b");
  EXPECT_EQ(op.ends, 0u);
  ASSERT_EQ(in_flight("b:1"), 1u);
  EXPECT_FALSE(asks("b:1"));
  EXPECT_EQ(owner_of(7), "b:1");
  EXPECT_EQ(owner_of(6), "a:1");
  answer("b:1");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_TRUE(op.answered);
  EXPECT_EQ(op.node, "b:1");
  EXPECT_EQ(op.ended_at, begun + 2 * test::latency) << "two answers, and no pause between them";
  const RedirectedOp& next = start("7");
  EXPECT_EQ(in_flight("b:1"), 1u) << "the slot is known to have moved";
  answer("b:1");
  EXPECT_TRUE(next.answered);
}

TEST_F(RedirectsTest, AskGoesThereOnceAndTeachesNothing) {
  RedirectedOp& op = start("7");
  ask("a:1", 7, "b");
  ASSERT_EQ(in_flight("b:1"), 1u);
  EXPECT_TRUE(asks("b:1"));
  EXPECT_EQ(epoch(), 1u);
  answer("b:1");
  EXPECT_TRUE(op.answered);
  EXPECT_FALSE(op.asking_at_end) << "the submitter may use its operation again";
  start("7");
  EXPECT_EQ(in_flight("a:1"), 1u);
  EXPECT_FALSE(asks("a:1"));
}

TEST_F(RedirectsTest, MovedAfterAskDoesNotAsk) {
  start("7");
  ask("a:1", 7, "b");
  moved("b:1", 7, "b", 2);
  connect();
  ASSERT_EQ(in_flight("b:2"), 1u);
  EXPECT_FALSE(asks("b:2"));
}

TEST_F(RedirectsTest, AnAskingRequestThatComesBackToTheOwnerDoesNotAskThere) {
  RedirectedOp& op = start("7");
  ask("a:1", 7, "seed");
  apply({a, b}, {{100, 0}, {16'384, 1}});  // while it waits for a connection
  EXPECT_EQ(op.ends, 0u);
  ASSERT_EQ(in_flight("a:1"), 1u);
  EXPECT_FALSE(asks("a:1"));
}

TEST_F(RedirectsTest, AnAskingRequestGoesToTheOwnerWithoutAskingIfItsServerHasLeft) {
  start("7");
  ask("a:1", 7, "b");
  ask("b:1", 7, "a");  // waits for 2 ms
  apply({b, c}, {{16'384, 1}});
  loop.pass(2ms);
  ASSERT_EQ(in_flight("c:1"), 1u);
  EXPECT_FALSE(asks("c:1"));
}

TEST_F(RedirectsTest, AnAskingRequestWaitsForItsServerThoughTheTopologyChanges) {
  start("7");
  ask("a:1", 7, "seed");
  apply({a, b, {"seed", 1, 1}}, {{100, 0}, {16'384, 1}});
  EXPECT_EQ(in_flight("a:1"), 0u);
  ASSERT_EQ(in_flight("seed:1"), 1u);
  EXPECT_TRUE(asks("seed:1"));
}

TEST_F(RedirectsTest, LaterIsSentAgainEverMoreSlowlyUntilTheDeadline) {
  RedirectedOp& op = start("7", 100ms);
  const Deadline begun = loop.now().mono;
  for (const auto delay : {5ms, 10ms, 20ms, 40ms}) {
    later("a:1");
    loop.pass(delay - 1ms);
    ASSERT_EQ(in_flight("a:1"), 0u);
    loop.pass(1ms);
    ASSERT_EQ(in_flight("a:1"), 1u);
  }
  later("a:1");  // the next attempt would be too late
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.reason, Reason::timed_out);
  EXPECT_EQ(op.text, "TRYAGAIN it (no time is left for another attempt)");
  EXPECT_EQ(op.ended_at, begun + 75ms + 5 * test::latency);
  EXPECT_EQ(op.node, "a:1");
  loop.pass(1s);
  EXPECT_EQ(epoch(), 1u) << "nothing was learned";
}

TEST_F(RedirectsTest, ADeadlineThatIsMissedWhileItWaitsEndsItAsRefused) {
  RedirectedOp& op = start("7", 6ms);
  later("a:1");
  loop.turn(loop.now().mono + 20ms);  // the process was late: both moments have passed
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.reason, Reason::timed_out);
  EXPECT_EQ(op.text, "TRYAGAIN it (no time is left for another attempt)");
  loop.pass(1s);
  EXPECT_EQ(in_flight("a:1"), 0u);
  EXPECT_EQ(op.ends, 1u);
}

TEST_F(RedirectsTest, TheDeadlineAtTheOtherServerIsThatOfAnyRequest) {
  RedirectedOp& op = start("7", 50ms);
  moved("a:1", 7, "b");
  loop.pass(49ms - test::latency);
  EXPECT_EQ(op.ends, 0u);
  loop.pass(1ms);
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::unknown);
  EXPECT_EQ(op.reason, Reason::timed_out);
  EXPECT_EQ(op.node, "b:1");
}

TEST_F(RedirectsTest, TwoServersThatDisagreeAreAskedInTurnsUntilTheDeadline) {
  RedirectedOp& op = start("7", 1s);
  std::string at = "a";
  for (const auto delay : {0ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 250ms, 250ms}) {
    const std::string other = at == "a" ? "b" : "a";
    moved(at + ":1", 7, other);
    EXPECT_EQ(owner_of(7), other + ":1");
    if (delay > 0ms) {
      ASSERT_EQ(in_flight(other + ":1"), 0u);
      loop.pass(delay);
    }
    ASSERT_EQ(in_flight(other + ":1"), 1u);
    at = other;
  }
  moved("a:1", 7, "b");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.text, "MOVED it (no time is left for another attempt)");
}

TEST_F(RedirectsTest, WhileTheServerThatAskNamesCannotBeReachedTheRequestWaitsForIt) {
  RedirectedOp& op = start("7", 20s);
  unsigned times = 0;
  const Deadline end = loop.now().mono + 2s;
  while (op.ends == 0 && loop.now().mono < end) {
    if (in_flight("a:1") > 0) {
      ++times;
      ask("a:1", 7, "seed");
    }
    while (network.dialing() > 0) network.refuse();
    loop.pass(5ms);
  }
  EXPECT_EQ(op.ends, 0u) << op.text;
  EXPECT_GE(times, 8u) << "5, 10, 20, 40, 80, 160, 250 ms, ...";
  EXPECT_LE(times, 14u);
  const auto has_it = [&] {
    const node::FakeSession* const there = session("seed:1");
    return there != nullptr && there->in_flight() > 0 && there->verbs.back() == Verb::get;
  };
  for (int i = 0; i < 40 && !has_it(); ++i) {
    if (in_flight("a:1") > 0) ask("a:1", 7, "seed");
    if (in_flight("seed:1") > 0 && !has_it()) answer("seed:1");  // a probe
    while (network.dialing() > 0) network.accept();
    loop.pass(50ms);
  }
  ASSERT_TRUE(has_it());
  EXPECT_TRUE(asks("seed:1"));
  answer("seed:1");
  EXPECT_TRUE(op.answered);
}

TEST_F(RedirectsTest, ARequestWhoseAskLedNowhereSaysSoAtItsDeadline) {
  RedirectedOp& op = start("7", 100ms);
  for (int i = 0; i < 30 && op.ends == 0; ++i) {
    if (in_flight("a:1") > 0) ask("a:1", 7, "seed");
    while (network.dialing() > 0) network.refuse();
    loop.pass(5ms);
  }
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.reason, Reason::timed_out);
  EXPECT_EQ(op.text, "ASK it (seed:1 could not be reached) (no time is left for another attempt)");
}

TEST_F(RedirectsTest, CancelEndsItWhileItWaits) {
  RedirectedOp& op = start("7");
  later("a:1");
  const std::size_t records = log.records.size();
  cluster->cancel(op.request, loop.now());
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.reason, Reason::cancelled);
  EXPECT_EQ(op.text, "TRYAGAIN it");
  EXPECT_EQ(log.records.size(), records);
  loop.pass(10s);
  EXPECT_EQ(in_flight("a:1"), 0u);
  EXPECT_EQ(op.ends, 1u);
}

TEST_F(RedirectsTest, CancelEndsItAtTheOtherServer) {
  RedirectedOp& op = start("7");
  ask("a:1", 7, "b");
  cluster->cancel(op.request, loop.now());
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::unknown);
  EXPECT_EQ(op.reason, Reason::cancelled);
  EXPECT_FALSE(op.asking_at_end);
}

TEST_F(RedirectsTest, ShutDownEndsItWhileItWaits) {
  RedirectedOp& op = start("7");
  later("a:1");
  cluster->shut_down(loop.now());
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::shutdown);
}

TEST_F(RedirectsTest, IfTheServerLeavesMeanwhileItGoesToTheOwnerOfItsKey) {
  RedirectedOp& op = start("7");
  later("a:1");
  apply({b, c}, {{100, 1}, {16'384, 0}});
  loop.pass(5ms);
  ASSERT_EQ(in_flight("c:1"), 1u);
  answer("c:1");
  EXPECT_EQ(op.node, "c:1");
}

TEST_F(RedirectsTest, IfTheServerOfAHopLeavesMeanwhileItGoesToTheOwnerOfItsKey) {
  start("7");
  moved("a:1", 7, "b");
  moved("b:1", 7, "a");  // waits for 2 ms
  apply({b, c}, {{100, 1}, {16'384, 0}});
  loop.pass(2ms);
  EXPECT_EQ(in_flight("c:1"), 1u);
}

TEST_F(RedirectsTest, IfTheServerLeavesAndNobodyOwnsTheSlotItWaitsAndThenIsRefused) {
  RedirectedOp& op = start("7", 30s);
  later("a:1");
  apply({b}, {});
  loop.pass(29s);
  EXPECT_EQ(op.ends, 0u);
  loop.pass(1s);
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.text, "no server owns slot 7 (no time is left for another attempt)");
  EXPECT_EQ(op.node, "a:1");
}

TEST_F(RedirectsTest, ItOutlivesTheNodeThatRedirectedIt) {
  RedirectedOp& op = start("7", 5s);
  later("a:1");
  for (int i = 0; i < 6; ++i) {
    loop.pass(300ms);
    later("a:1");
  }
  apply({b, c}, {{100, 1}, {16'384, 0}});
  loop.pass(100ms);  // the node is destroyed meanwhile
  EXPECT_EQ(cluster->nodes().size(), 2u);
  cluster->cancel(op.request, loop.now());
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.node, "a:1");
}

TEST_F(RedirectsTest, AServerThatHasLeftIsFollowed) {
  RedirectedOp& op = start("7");
  RedirectedOp& free = start("8");
  left["a:1"] = cluster->topology().find("a:1")->index();
  apply({b, c}, {{16'384, 0}});
  moved("a:1", 7, "c");
  ASSERT_EQ(in_flight("c:1"), 1u);
  EXPECT_EQ(owner_of(7), "c:1");
  later("a:1");
  loop.pass(5ms);
  answer("b:1");
  EXPECT_TRUE(free.answered) << "it is not asked again, for it is no member";
  answer("c:1");
  EXPECT_EQ(op.node, "c:1");
}

TEST_F(RedirectsTest, AWaitEndsAtTheOwnerThatTheSlotHasByThen) {
  start("7");
  later("a:1");
  apply({a, b}, {{7, 0}, {16'384, 1}});
  loop.pass(5ms);
  EXPECT_EQ(in_flight("a:1"), 0u);
  EXPECT_EQ(in_flight("b:1"), 1u);
}

TEST_F(RedirectsTest, WhatBelongsToAConnectionEndsAsIfThatHadEnded) {
  RedirectedOp& first = start("7");
  answer("a:1");
  RedirectedOp& bound = start("7", 5s, first.connection);
  later("a:1");
  loop.pass(5ms);
  ASSERT_EQ(in_flight("a:1"), 1u) << "the same connection may be asked again";
  moved("a:1", 7, "b");
  EXPECT_EQ(bound.ends, 1u);
  EXPECT_EQ(bound.outcome, Outcome::not_sent);
  EXPECT_EQ(bound.reason, Reason::connection_lost);
  EXPECT_EQ(in_flight("b:1"), 0u);
}

TEST_F(RedirectsTest, WhatBelongsToAConnectionWaitsForItThoughTheSlotMoves) {
  RedirectedOp& first = start("7");
  answer("a:1");
  start("7", 5s, first.connection);
  later("a:1");
  apply({a, b}, {{16'384, 1}});
  loop.pass(5ms);
  EXPECT_EQ(in_flight("a:1"), 1u);
}

TEST_F(RedirectsTest, WhatIsForOneNodeOrForManyKeysIsNotSentElsewhere) {
  RedirectedOp on_node;
  on_node.request.operation.key = "7";
  on_node.request.operation.deadline = loop.now().mono + 5s;
  on_node.request.sink = &on_node;
  cluster->start_on(cluster->topology().find("a:1")->index(), on_node.request, loop.now());
  loop.settle();
  moved("a:1", 7, "b");
  EXPECT_EQ(on_node.outcome, Outcome::refused);
  EXPECT_EQ(on_node.text, "MOVED it");
  const std::string_view keys[] = {"7", "8"};
  RedirectedOp many;
  many.request.operation.verb = Verb::get_many;
  many.request.operation.keys = keys;
  many.request.operation.deadline = loop.now().mono + 5s;
  many.request.sink = &many;
  cluster->start_at(epoch(), cluster->topology().find("a:1")->index(), many.request, loop.now());
  loop.settle();
  ask("a:1", 7, "b");
  EXPECT_EQ(many.outcome, Outcome::refused);
  EXPECT_EQ(in_flight("b:1"), 0u);
}

TEST_F(RedirectsTest, WhereRedirectsAreReturnedEachEndsItsRequestUnsentAndTeachesNothing) {
  cluster->shut_down(loop.now());
  loop.settle();
  RedirectRules rules;
  rules.returns = true;
  begin(rules);
  log.records.clear();
  const std::uint64_t before = epoch();
  const RedirectedOp& first = start("7");
  moved("a:1", 7, "b");
  const RedirectedOp& second = start("7");
  ask("a:1", 7, "b");
  const RedirectedOp& third = start("7");
  later("a:1");
  for (const RedirectedOp* const op : {&first, &second, &third}) {
    EXPECT_EQ(op->outcome, Outcome::not_sent) << op->number;
    EXPECT_EQ(op->node, "a:1");
  }
  EXPECT_EQ(third.text, "TRYAGAIN it");
  EXPECT_EQ(in_flight("b:1"), 0u);
  EXPECT_EQ(epoch(), before);
  EXPECT_TRUE(log.records.empty()) << "they are carried out over another path";
}

TEST_F(RedirectsTest, AServerThatNamesItselfIsReachedOverANewConnection) {
  RedirectedOp& other = start("8");
  RedirectedOp& op = start("7");
  const node::FakeSession* const old_one = session("a:1");
  session("a:1")->answer();
  moved("a:1", 7, "a");
  EXPECT_TRUE(other.answered);
  loop.pass(2ms);
  connect();
  ASSERT_NE(session("a:1"), old_one);
  ASSERT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  EXPECT_TRUE(op.answered);
}

TEST_F(RedirectsTest, WhatAnOldConnectionAnsweredDoesNotEndTheNewOne) {
  start("7");
  start("8");
  node::FakeSession& old_one = *session("a:1");
  moved("a:1", 7, "a");
  loop.pass(2ms);
  connect();
  node::FakeSession* const new_one = session("a:1");
  ASSERT_NE(new_one, &old_one);
  ASSERT_EQ(new_one->in_flight(), 1u);
  write(old_one, {protocol::Redirect::Kind::moved, false, 8, 1, "a"}, "MOVED it");
  network.deliver(old_one);
  loop.pass(2ms);
  EXPECT_EQ(session("a:1"), new_one);
  EXPECT_EQ(new_one->in_flight(), 2u);
}

TEST_F(RedirectsTest, AnOldConnectionFinishesWhatIsInFlightOnItFirst) {
  RedirectedOp& op = start("7");
  RedirectedOp& slow = start("8");
  node::FakeSession* const old_one = session("a:1");
  moved("a:1", 7, "a");
  loop.pass(2ms);
  EXPECT_EQ(old_one->in_flight(), 1u) << "of the request that was there already";
  EXPECT_NE(session("a:1"), old_one) << "another is made meanwhile";
  old_one->answer();
  network.deliver(*old_one);
  EXPECT_TRUE(slow.answered);
  connect();
  answer("a:1");
  EXPECT_TRUE(op.answered);
}

TEST(Redirects, AreRefusalsForAClusterThatDoesNotFollow) {
  node::FakeLoop loop;
  node::FakeNetwork network{loop};
  test::NoEvents log;
  ClusterConfig config;
  config.nodes = {{"a", 1, 1}};
  ClientCluster cluster(config, Topology::make(config),
                        node::NodeParts{loop, network, network, log}, Random(1).fork());
  network.accept();
  RedirectedOp op;
  op.request.operation.key = "7";
  op.request.operation.deadline = loop.now().mono + 5s;
  op.request.sink = &op;
  cluster.start(op.request, loop.now());
  protocol::Reply reply;
  reply.status = protocol::Status::refused;
  reply.text = "TRYAGAIN";
  reply.redirect = Redirect{};
  network.session().answer(reply);
  network.deliver(network.session());
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.text, "TRYAGAIN");
  cluster.shut_down(loop.now());
  loop.settle();
}

}  // namespace
}  // namespace sheaf::cluster
