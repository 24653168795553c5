#include "cluster/moving/redirect_plan.h"

#include <gtest/gtest.h>

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;
using Kind = RedirectAnswer::Kind;
using Step = RedirectStep::Kind;

class RedirectPlanTest : public testing::Test {
 protected:
  RedirectStep moved(std::string_view from, std::string_view target, bool allowed = true,
                     bool may_be_named = false) {
    return plan.next({Kind::moved, from, target, allowed, "MOVED 1 x", may_be_named}, terms, now);
  }
  RedirectStep ask(std::string_view from, std::string_view target) {
    return plan.next({Kind::ask, from, target, true, "ASK 1 x"}, terms, now);
  }
  RedirectStep later(std::string_view from) {
    return plan.next({Kind::later, from, {}, false, "TRYAGAIN"}, terms, now);
  }
  std::chrono::nanoseconds delay(const RedirectStep& step) const { return step.at - now.mono; }
  RedirectStep go_to_and_fro(std::chrono::nanoseconds time);
  // The request arrives and is answered as soon as it may be sent.
  void arrive(const RedirectStep& step) { now.mono = step.at; }

  Now now{1'000s, 0ms};
  RedirectTerms terms{1'010s, false};
  RedirectPlan plan;
};

TEST_F(RedirectPlanTest, MovedGoesThereAtOnceAndMendsTheSlot) {
  const RedirectStep step = moved("a:1", "b:1");
  EXPECT_EQ(step.kind, Step::send);
  EXPECT_EQ(step.target, "b:1");
  EXPECT_EQ(delay(step), 0ns);
  EXPECT_TRUE(step.mend);
  EXPECT_TRUE(step.want_map);
  EXPECT_FALSE(step.reconnect);
}

TEST_F(RedirectPlanTest, AskGoesThereOnceAndTeachesNothing) {
  const RedirectStep step = ask("a:1", "b:1");
  EXPECT_EQ(step.kind, Step::send_asking);
  EXPECT_EQ(step.target, "b:1");
  EXPECT_EQ(delay(step), 0ns);
  EXPECT_FALSE(step.mend);
  EXPECT_FALSE(step.want_map);
}

TEST_F(RedirectPlanTest, ARedirectOfAnotherSlotThanThatOfTheKeyIsNotFollowed) {
  for (const Kind kind : {Kind::moved, Kind::ask}) {
    const RedirectStep step = plan.next({.kind = kind,
                                         .from = "a:1",
                                         .target = "b:1",
                                         .allowed = true,
                                         .text = "x",
                                         .other_slot = true},
                                        terms, now);
    EXPECT_EQ(step.kind, Step::fail);
    EXPECT_EQ(step.outcome, Outcome::refused);
    EXPECT_EQ(step.reason, Reason::bad_argument);
    EXPECT_EQ(step.text, "x (the key named for the command is in another slot)");
    EXPECT_FALSE(step.mend);
  }
}

TEST_F(RedirectPlanTest, TwoServersThatDisagreeAreAskedInTurnsEverMoreSlowlyUntilTheDeadline) {
  const std::chrono::nanoseconds delays[] = {0ms,  2ms,  4ms,   8ms,   16ms,
                                             32ms, 64ms, 128ms, 250ms, 250ms};
  bool at_a = true;
  const auto bounce = [&] {
    const RedirectStep step = at_a ? moved("a:1", "b:1") : moved("b:1", "a:1");
    at_a = !at_a;
    return step;
  };
  for (const auto expected : delays) {
    const RedirectStep step = bounce();
    ASSERT_EQ(step.kind, Step::send);
    EXPECT_EQ(delay(step), expected);
    EXPECT_TRUE(step.mend);
    arrive(step);
  }
  RedirectStep step = bounce();
  for (; step.kind == Step::send; step = bounce()) arrive(step);
  EXPECT_GE(now.mono, terms.deadline - 250ms);
  EXPECT_EQ(step.outcome, Outcome::refused);
  EXPECT_EQ(step.reason, Reason::timed_out);
  EXPECT_EQ(step.text, "MOVED 1 x (no time is left for another attempt)");
  EXPECT_FALSE(step.mend);
  EXPECT_TRUE(step.want_map);
}

// However many servers there are, they get no storm of requests.
TEST_F(RedirectPlanTest, AChainOfServersIsFollowedAtOnceForSixHops) {
  std::string from = "s0:1";
  const std::chrono::nanoseconds delays[] = {0ms, 0ms, 0ms, 0ms, 0ms, 0ms, 2ms, 4ms, 8ms};
  for (unsigned hop = 1; const auto expected : delays) {
    const std::string to = "s" + std::to_string(hop++) + ":1";
    const RedirectStep step = moved(from, to);
    ASSERT_EQ(step.kind, Step::send) << to;
    EXPECT_EQ(delay(step), expected) << to;
    arrive(step);
    from = to;
  }
}

TEST_F(RedirectPlanTest, AServerThatNamesItselfIsReachedOverANewConnection) {
  const RedirectStep step = moved("a:1", "a:1");
  EXPECT_EQ(step.kind, Step::send);
  EXPECT_EQ(delay(step), 2ms);
  EXPECT_TRUE(step.reconnect);
}

TEST_F(RedirectPlanTest, NoServerButAnAllowedOneGetsTheRequest) {
  const RedirectStep step = moved("a:1", "evil:1", false);
  EXPECT_EQ(step.kind, Step::fail);
  EXPECT_EQ(step.reason, Reason::not_authorized);
  EXPECT_TRUE(step.target.empty());
  EXPECT_FALSE(step.mend);
}

TEST_F(RedirectPlanTest, AServerThatTheMapMayNameIsWaitedForWhereTheRequestWas) {
  terms.deadline = now.mono + 100ms;
  const std::chrono::nanoseconds delays[] = {5ms, 10ms, 20ms, 40ms};
  for (const auto expected : delays) {
    const RedirectStep step = moved("a:1", "new:1", false, true);
    ASSERT_EQ(step.kind, Step::send);
    EXPECT_EQ(step.target, "a:1");
    EXPECT_EQ(delay(step), expected);
    EXPECT_FALSE(step.mend);
    EXPECT_TRUE(step.need_map);
    arrive(step);
  }
  const RedirectStep last = moved("a:1", "new:1", false, true);
  EXPECT_EQ(last.kind, Step::fail);
  EXPECT_EQ(last.reason, Reason::not_authorized);
  EXPECT_EQ(last.text, "MOVED 1 x (redirects to this server are not allowed)");
  EXPECT_EQ(moved("a:1", "new:1").target, "new:1") << "waiting is no hop";
}

TEST_F(RedirectPlanTest, AServerThatNoMapWillNameIsRefusedWithTheReason) {
  EXPECT_EQ(moved("a:1", "new:1", false, true).kind, Step::send);
  const RedirectStep last = plan.next({.kind = Kind::moved,
                                       .from = "a:1",
                                       .target = "new:1",
                                       .text = "MOVED 1 x",
                                       .obstacle = "why"},
                                      terms, now);
  EXPECT_EQ(last.kind, Step::fail);
  EXPECT_EQ(last.outcome, Outcome::refused);
  EXPECT_EQ(last.reason, Reason::not_authorized);
  EXPECT_EQ(last.text, "MOVED 1 x (why)");
}

TEST_F(RedirectPlanTest, WhatBelongsToAConnectionIsNotSentElsewhere) {
  terms.bound = true;
  EXPECT_EQ(moved("a:1", "b:1").kind, Step::fail);
  EXPECT_EQ(moved("a:1", "b:1").reason, Reason::connection_lost);
  EXPECT_EQ(moved("a:1", "b:1").outcome, Outcome::not_sent) << "as if that had ended";
  EXPECT_EQ(ask("a:1", "b:1").kind, Step::fail);
  EXPECT_EQ(later("a:1").kind, Step::send) << "the same server may be asked again";
}

TEST_F(RedirectPlanTest, WithoutAServerToGoToTheSameOneIsAskedAgain) {
  const RedirectStep step = moved("a:1", "");
  EXPECT_EQ(step.kind, Step::send);
  EXPECT_EQ(step.target, "a:1");
  EXPECT_EQ(delay(step), 5ms);
  EXPECT_FALSE(step.mend);
  EXPECT_TRUE(step.want_map);
}

TEST_F(RedirectPlanTest, LaterIsRepeatedEverMoreSlowlyUntilTheDeadline) {
  terms.deadline = 2'000s;
  const std::chrono::nanoseconds delays[] = {5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 250ms, 250ms};
  for (const auto expected : delays) {
    const RedirectStep step = later("a:1");
    ASSERT_EQ(step.kind, Step::send);
    EXPECT_EQ(delay(step), expected);
    arrive(step);
  }
  RedirectStep step = later("a:1");
  for (; step.kind == Step::send; step = later("a:1")) arrive(step);
  EXPECT_GE(now.mono, terms.deadline - 250ms);
  EXPECT_EQ(step.reason, Reason::timed_out);
}

TEST_F(RedirectPlanTest, AServerThatRedirectsEndsTheWaitForAnother) {
  for (int i = 0; i < 5; ++i) arrive(later("a:1"));
  arrive(moved("a:1", "b:1"));
  EXPECT_EQ(delay(later("b:1")), 5ms);
}

// A migrating slot: its old owner says ASK, the new one waits for more keys. Returns the last step.
RedirectStep RedirectPlanTest::go_to_and_fro(std::chrono::nanoseconds time) {
  const Deadline end = now.mono + time;
  RedirectStep step = ask("a:1", "b:1");
  while (step.kind != Step::fail && now.mono < end) {
    arrive(step);
    step = step.kind == Step::send_asking ? later("b:1") : ask("a:1", "b:1");
  }
  return step;
}

TEST_F(RedirectPlanTest, ToAndFroBetweenTheServersOfASlotOnItsWayIsOneWait) {
  const RedirectStep step = go_to_and_fro(2s);
  EXPECT_NE(step.kind, Step::fail) << step.text;
  arrive(step);
  EXPECT_EQ(ask("a:1", "b:1").kind, Step::send_asking);
}

TEST_F(RedirectPlanTest, ToAndFroIsSlowedDownAsAnyWait) {
  const std::chrono::nanoseconds delays[] = {5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 250ms, 250ms};
  for (const auto expected : delays) {
    const RedirectStep there = ask("a:1", "b:1");
    ASSERT_EQ(there.kind, Step::send_asking) << there.text;
    EXPECT_EQ(delay(there), 0ns) << "it has waited";
    const RedirectStep back = later("b:1");
    EXPECT_EQ(delay(back), expected);
    arrive(back);
  }
}

TEST_F(RedirectPlanTest, ToAndFroEndsOnlyAtTheDeadline) {
  terms.deadline = now.mono + 60s;
  const RedirectStep step = go_to_and_fro(70s);
  EXPECT_EQ(step.kind, Step::fail);
  EXPECT_EQ(step.reason, Reason::timed_out);
  EXPECT_GE(now.mono, terms.deadline - 250ms);
}

TEST_F(RedirectPlanTest, AWaitStartsTheHopsAgain) {
  for (unsigned hop = 0; hop < 6; ++hop) {
    arrive(hop % 2 == 0 ? moved("a:1", "b:1") : moved("b:1", "a:1"));
  }
  arrive(later("a:1"));
  for (const auto expected : {0ms, 2ms, 4ms, 8ms}) {
    const RedirectStep step =
        expected == 0ms || expected == 4ms ? moved("a:1", "b:1") : moved("b:1", "a:1");
    ASSERT_EQ(step.kind, Step::send);
    EXPECT_EQ(delay(step), expected);
    arrive(step);
  }
}

TEST_F(RedirectPlanTest, NothingIsSentAtOrAfterTheDeadline) {
  terms.deadline = now.mono + 5ms;
  EXPECT_EQ(later("a:1").kind, Step::fail);
  terms.deadline = now.mono;
  const RedirectStep step = moved("a:1", "b:1");
  EXPECT_EQ(step.kind, Step::fail);
  EXPECT_EQ(step.reason, Reason::timed_out);
}

}  // namespace
}  // namespace sheaf::cluster
