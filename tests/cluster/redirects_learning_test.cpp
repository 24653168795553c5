// What a cluster learns from servers that redirect requests.

#include <functional>

#include "cluster/moving/redirects.h"
#include "tests/cluster/redirects_harness.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;
using protocol::Redirect;

TEST_F(RedirectsTest, MovedToAnotherServerOfAnAllowedHostMakesThatAMember) {
  RedirectedOp& of_member = start("7");
  RedirectedOp& of_seed = start("8");
  moved("a:1", 7, "b", 2);
  moved("a:1", 8, "seed", 1);
  ASSERT_EQ(cluster->topology().members().size(), 4u);
  EXPECT_EQ(owner_of(7), "b:2");
  EXPECT_EQ(owner_of(8), "seed:1");
  connect();
  answer("b:2");
  answer("seed:1");
  EXPECT_EQ(of_member.node, "b:2");
  EXPECT_EQ(of_seed.node, "seed:1");
}

constexpr const char* not_named =
    "MOVED it (redirects to c are not allowed: no map of the cluster names it; to allow it, add it "
    "to the nodes of the configuration)";

// A server says again and again that slot 7 is at a host, for at most this long.
class RedirectsToStrangers : public RedirectsTest {
 protected:
  void insist(const RedirectedOp& op, std::chrono::nanoseconds time, const char* host = "c") {
    const Deadline until = loop.now().mono + time;
    while (op.ends == 0 && loop.now().mono < until) {
      if (in_flight("a:1") > 0) moved("a:1", 7, host);
      if (op.ends == 0) loop.pass(5ms);
    }
  }
  void map_comes(bool good = true) {
    cluster->redirects()->on_map(good, loop.now());
    loop.settle();
  }
};

TEST_F(RedirectsToStrangers, WhatNoMapNamesIsRefusedAtTheDeadlineWhileNoMapComes) {
  RedirectedOp& op = start("7", 100ms);
  const std::size_t dials = network.dials;
  insist(op, 200ms);
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.reason, Reason::not_authorized);
  EXPECT_EQ(op.text, not_named);
  EXPECT_EQ(op.node, "a:1");
  EXPECT_EQ(network.dials, dials);
  EXPECT_EQ(cluster->topology().members().size(), 2u);
  EXPECT_EQ(owner_of(7), "a:1");
  ASSERT_FALSE(log.records.empty());
  EXPECT_EQ(log.records.back().outcome, Outcome::refused);
}

TEST_F(RedirectsToStrangers, AMapThatWasAskedForSinceAndDoesNotNameTheHostIsTheEnd) {
  loop.pass(2s);  // since the first map
  RedirectedOp& op = start("7", 1h);
  insist(op, 500ms);
  ASSERT_EQ(op.ends, 0u);
  ASSERT_EQ(maps.fetches.size(), 1u);
  EXPECT_EQ(maps.preferred[0], "a:1") << "who should know";
  map_comes(false);
  insist(op, 1s);
  EXPECT_EQ(op.ends, 0u) << "that was none";
  loop.pass(1s);
  ASSERT_EQ(maps.fetches.size(), 2u);
  map_comes();
  insist(op, 1s);
  ASSERT_EQ(op.ends, 1u);
  EXPECT_EQ(op.outcome, Outcome::refused);
  EXPECT_EQ(op.reason, Reason::not_authorized);
  EXPECT_EQ(op.text, not_named);
  RedirectedOp& next = start("7", 1h);
  moved("a:1", 7, "c");
  EXPECT_EQ(next.ends, 1u) << "nobody waits for it again";
  RedirectedOp& other = start("7", 1h);
  moved("a:1", 7, "d");
  EXPECT_EQ(other.ends, 0u) << "another host";
}

TEST_F(RedirectsToStrangers, AMapThatWasUnderWayBeforeSaysNothing) {
  loop.pass(2s);
  start("1");
  moved("a:1", 1, "b");
  loop.pass(1s);
  ASSERT_EQ(maps.fetches.size(), 1u);
  RedirectedOp& op = start("7", 1h);
  insist(op, 20ms);
  map_comes();
  insist(op, 500ms);
  EXPECT_EQ(op.ends, 0u);
}

TEST_F(RedirectsToStrangers, AHostThatALaterMapNamesIsNone) {
  loop.pass(2s);
  RedirectedOp& op = start("7", 1h);
  insist(op, 500ms);
  map_comes();
  insist(op, 1s);
  ASSERT_EQ(op.ends, 1u);
  apply({a, b, c}, {{100, 0}, {16'384, 1}});
  RedirectedOp& next = start("7", 1h);
  moved("a:1", 7, "c");
  ASSERT_EQ(in_flight("c:1"), 1u);
  answer("c:1");
  EXPECT_EQ(next.node, "c:1");
}

TEST_F(RedirectsToStrangers, WhereNothingMayGoIsRefusedAtOnce) {
  RedirectedOp& op = start("7", 1h);
  moved("a:1", 7, "banned");
  ASSERT_EQ(op.ends, 1u);
  EXPECT_EQ(op.reason, Reason::not_authorized);
  EXPECT_EQ(op.text, "MOVED it (redirects to banned are not allowed: that is how it is)");
}

TEST(Strangers, AreForgottenAfterTheTimeOfTwoMaps) {
  Strangers strangers;
  const auto fetch = [&] {
    strangers.on_asked();
    strangers.on_map();
  };
  fetch();
  EXPECT_TRUE(strangers.may_be_named("x"));
  EXPECT_TRUE(strangers.may_be_named("x"));
  fetch();
  EXPECT_FALSE(strangers.may_be_named("x"));
  fetch();
  EXPECT_FALSE(strangers.may_be_named("x"));
  fetch();
  fetch();
  EXPECT_TRUE(strangers.may_be_named("x")) << "it may have joined meanwhile";
}

TEST(Strangers, AreNotRememberedWithoutEnd) {
  Strangers strangers;
  for (std::size_t i = 0; i < Strangers::most; ++i) strangers.may_be_named(std::to_string(i));
  EXPECT_TRUE(strangers.may_be_named("x"));
  strangers.on_asked();
  strangers.on_map();
  EXPECT_FALSE(strangers.may_be_named("0"));
  EXPECT_TRUE(strangers.may_be_named("x")) << "waits for its deadline";
}

TEST_F(RedirectsTest, MovedToAHostThatTheNextMapNamesWaitsForThat) {
  loop.pass(2s);  // since the first map
  RedirectedOp& op = start("7");
  moved("a:1", 7, "c");
  EXPECT_EQ(op.ends, 0u);
  loop.pass(20ms);
  EXPECT_EQ(maps.fetches.size(), 1u);
  apply({a, b, c}, {{7, 0}, {8, 2}, {100, 0}, {16'384, 1}});
  moved("a:1", 7, "c");
  ASSERT_EQ(in_flight("c:1"), 1u);
  answer("c:1");
  EXPECT_EQ(op.node, "c:1");
}

TEST_F(RedirectsTest, WhereNobodyFetchesMapsMovedToAnyOtherHostIsRefusedAtOnce) {
  RedirectRules rules;
  rules.table = &table;
  cluster->shut_down(loop.now());
  loop.settle();
  begin(rules);
  RedirectedOp& op = start("7");
  moved("a:1", 7, "c");
  EXPECT_EQ(op.ends, 1u);
  EXPECT_EQ(op.reason, Reason::not_authorized);
}

TEST_F(RedirectsTest, AskOfAServerThatIsNoMemberMakesItOneWithoutSlots) {
  RedirectedOp& op = start("7");
  ask("a:1", 7, "seed");
  connect();
  ASSERT_EQ(in_flight("seed:1"), 1u);
  EXPECT_TRUE(asks("seed:1"));
  EXPECT_EQ(owner_of(7), "a:1");
  answer("seed:1");
  EXPECT_EQ(op.node, "seed:1");
}

TEST_F(RedirectsTest, ATargetThatLeavesBeforeTheTurnEndsComesBack) {
  start("7");
  write("a:1", {Redirect::Kind::moved, false, 7, 1, "b"}, "MOVED it");
  session("a:1")->stream->on_writable(loop.now());  // this defers the rest
  struct Between final : socket::Deferred {
    void run_deferred(Now) override { work(); }
    std::function<void()> work;
  } between;
  between.work = [&] {
    EXPECT_EQ(epoch(), 1u);
    cluster->apply(topology_of({a, c}, {{100, 0}, {16'384, 1}}), loop.now());
  };
  loop.defer(between);
  connect();
  EXPECT_EQ(epoch(), 3u);
  EXPECT_EQ(owner_of(7), "b:1");
  EXPECT_EQ(in_flight("b:1"), 1u);
}

TEST_F(RedirectsTest, WithoutAHostTheServerMeansItsOwn) {
  start("7");
  moved("a:1", 7, "", 2);
  connect();
  EXPECT_EQ(owner_of(7), "a:2");
  EXPECT_EQ(in_flight("a:2"), 1u);
}

TEST_F(RedirectsTest, AHostThatTheServerDoesNotKnowIsThatOfTheOwnerInTheMap) {
  apply({a, b, c}, {{100, 0}, {16'384, 1}});
  start("7");
  const Redirect nowhere{Redirect::Kind::moved, true, 7, 1, {}};
  say("a:1", nowhere, "MOVED ?");
  EXPECT_EQ(owner_of(7), "a:1");
  loop.pass(5ms);
  ASSERT_EQ(in_flight("a:1"), 1u) << "it may be b or c";
  apply({a, b, c}, {{7, 0}, {16'384, 1}});
  say("a:1", nowhere, "MOVED ?");
  EXPECT_EQ(in_flight("b:1"), 1u);
}

TEST_F(RedirectsTest, AHostThatTheServerDoesNotKnowIsThatOfTheOnlyOtherMemberWithThePort) {
  start("7");
  const Redirect nowhere{Redirect::Kind::moved, true, 7, 1, {}};
  say("a:1", nowhere, "MOVED ?");
  EXPECT_EQ(owner_of(7), "b:1");
  ASSERT_EQ(in_flight("b:1"), 1u);
  // A member that does not own the slot says so, and is not asked again.
  apply({a, b, c}, {{7, 0}, {8, 1}, {16'384, 0}});
  say("b:1", nowhere, "MOVED ?");
  EXPECT_EQ(in_flight("b:1"), 0u);
}

// No map says where a slot migrates to.
TEST_F(RedirectsTest, AHostThatTheServerDoesNotKnowIsInAskThatOfTheOnlyOtherMemberWithThePort) {
  const Redirect nowhere{Redirect::Kind::ask, true, 7, 1, {}};
  const RedirectedOp& op = start("7");
  say("a:1", nowhere, "ASK ?");
  ASSERT_EQ(in_flight("b:1"), 1u);
  EXPECT_TRUE(asks("b:1"));
  answer("b:1");
  EXPECT_TRUE(op.answered);
  apply({a, b, c}, {{100, 0}, {16'384, 1}});
  start("7");
  say("a:1", nowhere, "ASK ?");
  EXPECT_EQ(in_flight("b:1") + in_flight("c:1"), 0u) << "it may be either";
  loop.pass(5ms);
  EXPECT_EQ(in_flight("a:1"), 1u);
}

TEST_F(RedirectsTest, AllRedirectsOfATurnMakeOneTopology) {
  for (const char* const key : {"1", "2", "3", "4", "5", "6"}) start(key);
  for (std::uint16_t slot = 1; slot <= 6; ++slot) {
    write("a:1", {Redirect::Kind::moved, false, slot, 1, "b"}, "MOVED it");
  }
  network.deliver(*session("a:1"));
  EXPECT_EQ(epoch(), 2u);
  EXPECT_EQ(maps.mended, 1u);
  EXPECT_EQ(owner_of(6), "b:1");
  EXPECT_EQ(in_flight("b:1"), 6u);
}

TEST_F(RedirectsTest, ASlotThatHasMovedAlreadyMakesNoTopology) {
  start("7");
  start("7");
  moved("a:1", 7, "b");
  EXPECT_EQ(epoch(), 2u);
  moved("a:1", 7, "b");
  EXPECT_EQ(epoch(), 2u);
  EXPECT_EQ(in_flight("b:1"), 2u);
}

TEST_F(RedirectsTest, TheMapIsFetchedOnceForAllThatWantIt) {
  loop.pass(2s);  // since the first map
  for (const char* const key : {"1", "2", "3"}) {
    start(key);
    moved("a:1", slot_in_key(key), "b");
  }
  loop.pass(1s);
  EXPECT_EQ(maps.fetches.size(), 1u);
  start("4");
  moved("a:1", 4, "b");
  loop.pass(10s);
  EXPECT_EQ(maps.fetches.size(), 1u) << "while one is fetched";
  cluster->redirects()->on_map(true, loop.now());
  loop.pass(5s);
  EXPECT_EQ(maps.fetches.size(), 2u);
}

TEST_F(RedirectsTest, AskWithoutAHostWaitsForAMapThatSaysToWhomTheSlotIsOnItsWay) {
  apply({a, b, c}, {{100, 0}, {200, 1}, {16'384, 2}});
  loop.pass(2s);
  const Redirect nowhere{Redirect::Kind::ask, true, 7, 1, {}};
  RedirectedOp& op = start("7");
  say("a:1", nowhere, "ASK 7 ?:1");
  EXPECT_EQ(op.ends, 0u);
  loop.pass(1s);
  ASSERT_EQ(maps.fetches.size(), 1u);
  EXPECT_EQ(maps.preferred[0], "a:1") << "only that one knows";
  ASSERT_EQ(in_flight("a:1"), 1u);
  maps.importers = {{7, {"c", 2, 1}}};
  say("a:1", nowhere, "ASK 7 ?:1");
  EXPECT_EQ(in_flight("c:1"), 0u) << "that is another server";
  maps.importers = {{7, {"c", 1, 1}}, {8, {"b", 1, 1}}};
  loop.pass(500ms);
  say("a:1", nowhere, "ASK 7 ?:1");
  ASSERT_EQ(in_flight("c:1"), 1u);
  EXPECT_TRUE(asks("c:1"));
  answer("c:1");
  EXPECT_EQ(op.node, "c:1");
  EXPECT_EQ(owner_of(7), "a:1");
}

TEST_F(RedirectsTest, AKeyThatNobodyOwnsWantsTheMapAndWaitsForItsOwner) {
  loop.pass(2s);
  apply({a, b}, {{100, 0}});
  RedirectedOp& op = start("200", 20s);
  loop.pass(1s);
  EXPECT_EQ(maps.fetches.size(), 1u);
  EXPECT_EQ(op.ends, 0u);
  apply({a, b}, {{100, 0}, {300, 1}});
  loop.pass(250ms);
  ASSERT_EQ(in_flight("b:1"), 1u);
  answer("b:1");
  EXPECT_TRUE(op.answered);
}

TEST_F(RedirectsTest, WhileAnOwnerIsDownOneRequestASecondAsksTheOthers) {
  loop.pass(2s);
  session("a:1")->end(Reason::connection_lost, "gone");
  network.deliver(*session("a:1"));
  for (int i = 0; i < 50 && cluster->node(cluster->topology().find("a:1")->index()).usable(); ++i) {
    while (network.dialing() > 0) network.refuse();
    loop.pass(100ms);
  }
  RedirectedOp& scout = start("7");
  ASSERT_EQ(in_flight("b:1"), 1u);
  const RedirectedOp& other = start("8");
  EXPECT_EQ(other.outcome, Outcome::not_sent) << "the others fail at once";
  moved("b:1", 7, "a");
  EXPECT_EQ(scout.outcome, Outcome::not_sent) << "nothing has changed";
  loop.pass(1s);
  EXPECT_EQ(maps.fetches.size(), 1u);
  RedirectedOp& again = start("9");
  moved("b:1", 9, "seed");
  EXPECT_EQ(owner_of(9), "seed:1");
  const RedirectedOp& third = start("10");
  const RedirectedOp& fourth = start("11");
  EXPECT_EQ(third.ends + fourth.ends, 0u) << "there is an answer: all may ask, b or seed";
  connect();
  answer("seed:1");
  EXPECT_TRUE(again.answered);
  answer("seed:1");
  moved("b:1", 11, "seed");
  answer("seed:1");
  EXPECT_TRUE(third.answered);
  EXPECT_TRUE(fourth.answered);
}

TEST_F(RedirectsTest, AKeyThatNobodyOwnsIsNotSentInTheEnd) {
  apply({a, b}, {{100, 0}});
  const RedirectedOp& soon = start("200", 300ms);
  const RedirectedOp& late = start("201", 30s);
  RedirectedOp& given_up = start("202", 30s);
  cluster->cancel(given_up.request, loop.now());
  EXPECT_EQ(given_up.ends, 1u);
  EXPECT_EQ(given_up.reason, Reason::cancelled);
  loop.pass(400ms);
  EXPECT_EQ(soon.ends, 1u);
  EXPECT_EQ(soon.outcome, Outcome::not_sent);
  EXPECT_EQ(soon.reason, Reason::timed_out);
  EXPECT_EQ(soon.text, "no server owns slot 200 (no time is left for another attempt)");
  EXPECT_EQ(late.ends, 0u);
  loop.pass(29s);
  EXPECT_EQ(late.ends, 0u);
  loop.pass(1s);
  EXPECT_EQ(late.ends, 1u);
  EXPECT_EQ(late.outcome, Outcome::not_sent);
  EXPECT_EQ(late.text, "no server owns slot 201 (no time is left for another attempt)");
}

TEST_F(RedirectsTest, WhatMovedAfterAMapWasAskedForHoldsAgainstIt) {
  loop.pass(2s);
  start("1");
  moved("a:1", 1, "b");
  loop.pass(1s);
  ASSERT_EQ(maps.fetches.size(), 1u);
  start("2");
  moved("a:1", 2, "b");
  apply({a, b}, {{100, 0}, {16'384, 1}});  // as a server saw it before both
  cluster->redirects()->on_map(true, loop.now());
  loop.settle();
  EXPECT_EQ(owner_of(1), "a:1") << "it had moved before: the map may know better";
  EXPECT_EQ(owner_of(2), "b:1");
}

TEST_F(RedirectsTest, WhoLearnsNothingGoesToMembersOnly) {
  cluster->shut_down(loop.now());
  loop.settle();
  begin({});
  RedirectedOp& op = start("7");
  moved("a:1", 7, "b");
  EXPECT_EQ(in_flight("b:1"), 1u);
  EXPECT_EQ(owner_of(7), "a:1");
  moved("b:1", 7, "b", 2);
  EXPECT_EQ(op.ends, 0u);
  ASSERT_EQ(in_flight("a:1"), 0u);
  loop.pass(5ms);
  EXPECT_EQ(in_flight("a:1"), 1u) << "as if nobody knew the server";
}

}  // namespace
}  // namespace sheaf::cluster
