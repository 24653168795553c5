// Transcripts of ComputePlan until it has a value or the right to compute: its commands, the
// answers and the results. Answers take test::latency unless the test lets time pass.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/client/compute/compute_answers.h"
#include "tests/support/latency.h"

namespace sheaf::client::compute {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Lease;
using protocol::Status;
using protocol::Verb;
using Step = ComputePlan::Step;

enum class Place : bool { leader, follower };

class Claims : public testing::Test {
 protected:
  void begin(bool leases, Place place = Place::leader) {
    plan.emplace(terms(leases), Random(1).fork());
    if (place == Place::leader) plan->on_lead();
    plan->start({});
  }
  // The one command that the plan wants now.
  protocol::Operation command() {
    calls::Command command;
    EXPECT_TRUE(plan->poll_command(command));
    EXPECT_EQ(command.route, "key");  // for any key of the operation, the node is this key's
    EXPECT_FALSE(command.at_owner);   // a substitute keeps value and guard together
    calls::Command more;
    EXPECT_FALSE(plan->poll_command(more));
    time.on_request(now);
    return command.operation;
  }
  void complete(socket::Completion completion) {
    now = time.of_answer(now);
    completion.now.mono = now;
    plan->on_answer(0, completion);
  }
  void expect_value(std::string_view data) {
    ASSERT_TRUE(plan->done());
    const Found found = plan->take_out().value();
    const auto& value = std::get<Value>(found);
    EXPECT_EQ(value.data, data);
    EXPECT_EQ(value.version.text, "7");
    EXPECT_EQ(value.flags, 3u);
  }
  // The plan has the right; what it does to give it back.
  protocol::Operation given_back() {
    EXPECT_EQ(plan->step(), Step::compute);
    EXPECT_FALSE(plan->done());
    plan->on_made(std::nullopt, {now, {}});
    return command();
  }
  std::optional<ComputePlan> plan;
  Deadline now{0};
  test::AnswerTime time;
};

TEST_F(Claims, WhoWinsTheLeaseComputes) {
  begin(true);
  const protocol::Operation asked = command();
  EXPECT_EQ(asked.verb, Verb::lease);
  EXPECT_EQ(asked.key, "key");
  EXPECT_EQ(asked.ttl, 5s);
  EXPECT_EQ(asked.deadline, 3s);
  complete(lease(Lease::won));
  const protocol::Operation removal = given_back();
  EXPECT_EQ(removal.key, "key");
  EXPECT_EQ(removal.version, "9");
}

TEST_F(Claims, AValueThatCameMeanwhileIsTaken) {
  begin(true);
  command();
  complete(value("there"));
  expect_value("there");
}

TEST_F(Claims, AStaleValueIsServedWhileAnotherRenewsIt) {
  begin(true);
  command();
  socket::Completion stale = value("old");
  stale.reply.stale = true;
  stale.reply.lease = Lease::taken;
  complete(stale);
  expect_value("old");
}

TEST_F(Claims, AStaleValueIsComputedAnewByWhoWins) {
  begin(true);
  command();
  socket::Completion stale = value("old");
  stale.reply.stale = true;
  stale.reply.lease = Lease::won;
  complete(stale);
  EXPECT_EQ(plan->step(), Step::compute);
}

TEST_F(Claims, WhileAnotherComputesItIsAskedAgainAfterPausesThatGrow) {
  begin(true);
  Deadline last{0};
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(command().verb, Verb::lease);
    complete(lease(Lease::taken));
    ASSERT_FALSE(plan->done());
    const Deadline wake = plan->poll_deadline();
    last = wake - now;
    EXPECT_GE(last, 2ms);
    EXPECT_LE(last, 100ms);
    plan->on_deadline({wake - 1ns, {}});  // too early
    calls::Command none;
    EXPECT_FALSE(plan->poll_command(none));
    now = wake;
    plan->on_deadline({now, {}});
  }
  EXPECT_GE(last, 50ms);
  command();
  complete(value("computed"));
  expect_value("computed");
}

TEST_F(Claims, WaitingEndsAtTheDeadline) {
  begin(true);
  command();
  now = 2999ms;
  complete(lease(Lease::taken));
  EXPECT_EQ(plan->poll_deadline(), 3s);
  plan->on_deadline({3s, {}});
  ASSERT_TRUE(plan->done());
  const Error error = plan->take_out().error();
  EXPECT_EQ(error.outcome, Outcome::not_sent);
  EXPECT_EQ(error.reason, Reason::timed_out);
  EXPECT_EQ(error.elapsed, 3s);
}

TEST_F(Claims, WaitingEndsWhenTheClientCloses) {
  begin(true);
  command();
  complete(lease(Lease::taken));
  plan->on_shutdown({});
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().error().outcome, Outcome::shutdown);
}

TEST_F(Claims, AnErrorIsTheCallersErrorInEveryPhase) {
  for (const int answered : {0, 1, 2}) {
    begin(false);
    for (int i = 0; i < answered; ++i) {
      command();
      complete(answer(i == 1 ? Status::done : Status::absent));
    }
    command();
    complete(failure(Outcome::unknown, Reason::timed_out));
    ASSERT_TRUE(plan->done());
    const Error error = plan->take_out().error();
    EXPECT_EQ(error.outcome, Outcome::unknown);
    EXPECT_EQ(error.node, "n:1");
  }
}

TEST_F(Claims, WithoutLeasesAKeyBesideItGuardsTheComputation) {
  begin(true);
  command();
  complete(failure(Outcome::unsupported, Reason::bad_argument));
  EXPECT_EQ(command().verb, Verb::get);
  complete(answer(Status::absent));
  const protocol::Operation guard = command();
  EXPECT_EQ(guard.verb, Verb::set);
  EXPECT_EQ(guard.key, "key:sheaf-lease");
  EXPECT_EQ(guard.value.size(), 16u);
  EXPECT_EQ(guard.condition, Condition::if_absent);
  EXPECT_EQ(guard.ttl, 5s);
  socket::Completion stored = answer(Status::done);
  stored.reply.version = "4";
  complete(stored);
  EXPECT_EQ(command().verb, Verb::get);
  complete(answer(Status::absent));
  const protocol::Operation removal = given_back();
  EXPECT_EQ(removal.key, "key:sheaf-lease");
  EXPECT_EQ(removal.version, "4");
}

TEST_F(Claims, BehindTheGuardTheKeyIsReadAgainSinceAnotherMayHaveComputed) {
  begin(false);
  command();
  complete(answer(Status::absent));
  const std::string holder(command().value);
  complete(answer(Status::done));
  EXPECT_EQ(command().verb, Verb::get);
  complete(value("computed"));
  const protocol::Operation removal = command();  // it gets no answer
  EXPECT_EQ(removal.verb, Verb::remove);
  EXPECT_EQ(removal.key, "key:sheaf-lease");
  EXPECT_EQ(removal.condition, Condition::if_value);
  EXPECT_EQ(removal.value, holder);
  expect_value("computed");
  complete(failure(Outcome::unknown, Reason::timed_out));
}

TEST_F(Claims, WhileAnotherHoldsTheGuardTheKeyIsRead) {
  begin(false);
  command();
  complete(answer(Status::absent));
  command();
  complete(answer(Status::not_stored));
  ASSERT_FALSE(plan->done());
  plan->on_deadline({plan->poll_deadline(), {}});
  EXPECT_EQ(command().verb, Verb::get);
  complete(value("computed"));
  expect_value("computed");
}

TEST_F(Claims, CancelledWhileAnotherComputesItEndsAtOnce) {
  begin(true);
  command();
  complete(lease(Lease::taken));
  plan->on_cancel({1s, {}});
  ASSERT_TRUE(plan->done());
  const Error error = plan->take_out().error();
  EXPECT_EQ(error.outcome, Outcome::not_sent);
  EXPECT_EQ(error.reason, Reason::cancelled);
  EXPECT_EQ(error.elapsed, 1s);
}

TEST_F(Claims, CancelledWithAGuardOfItsOwnItRemovesItUnheard) {
  begin(false);
  command();
  complete(answer(Status::absent));
  command();
  complete(answer(Status::done));
  EXPECT_EQ(command().verb, Verb::get);
  EXPECT_TRUE(plan->on_cancel({}));
  complete(failure(Outcome::unknown, Reason::cancelled));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().error().reason, Reason::cancelled);
  const protocol::Operation removal = command();
  EXPECT_EQ(removal.verb, Verb::remove);
  EXPECT_EQ(removal.key, "key:sheaf-lease");
}

TEST_F(Claims, AGuardThatMayBeItsOwnIsRemovedUnheardAtTheDeadline) {
  for (const bool answered : {false, true}) {
    begin(false);
    command();
    complete(answer(Status::absent));
    const std::string holder(command().value);
    if (answered) {
      complete(answer(Status::done));
      EXPECT_EQ(command().verb, Verb::get);
    }
    now = 3s;
    complete(failure(Outcome::unknown, Reason::timed_out));
    ASSERT_TRUE(plan->done());
    EXPECT_EQ(plan->take_out().error().reason, Reason::timed_out);
    const protocol::Operation removal = command();
    EXPECT_EQ(removal.verb, Verb::remove);
    EXPECT_EQ(removal.key, "key:sheaf-lease");
    EXPECT_EQ(removal.value, holder);
    EXPECT_EQ(removal.deadline, now + 3s);
  }
}

TEST_F(Claims, AGuardOfUnknownVersionIsReadAndRemovedIfItIsItsOwn) {
  for (const bool own : {true, false}) {
    begin(true);
    command();
    complete(failure(Outcome::unsupported, Reason::bad_argument));
    command();
    complete(answer(Status::absent));
    const std::string holder(command().value);
    complete(failure(Outcome::unknown, Reason::timed_out));
    ASSERT_TRUE(plan->done());
    EXPECT_EQ(plan->take_out().error().reason, Reason::timed_out);
    const protocol::Operation read = command();
    EXPECT_EQ(read.verb, Verb::get);
    EXPECT_EQ(read.key, "key:sheaf-lease");
    EXPECT_TRUE(plan->done());
    complete(value(own ? holder : "another"));
    EXPECT_TRUE(plan->done());
    calls::Command removal;
    ASSERT_EQ(plan->poll_command(removal), own);
    if (!own) continue;
    EXPECT_EQ(removal.operation.verb, Verb::remove);
    EXPECT_EQ(removal.operation.condition, Condition::if_version);
    EXPECT_EQ(removal.operation.version, "7");
  }
}

TEST_F(Claims, AGuardThatWasNeverSentIsNotRemoved) {
  begin(false);
  command();
  complete(answer(Status::absent));
  command();
  complete(failure(Outcome::not_sent, Reason::timed_out));
  ASSERT_TRUE(plan->done());
  calls::Command none;
  EXPECT_FALSE(plan->poll_command(none));
}

TEST_F(Claims, AFollowerAsksForNothingAndGetsTheValueOfTheLeader) {
  begin(false, Place::follower);
  calls::Command none;
  EXPECT_FALSE(plan->poll_command(none));
  EXPECT_EQ(plan->poll_deadline(), 3s);
  plan->on_deadline({1s, {}});  // too early
  EXPECT_FALSE(plan->done());
  plan->on_value(std::make_shared<const Value>(Value{"made", {"5"}, 0}));
  ASSERT_TRUE(plan->done());
  const auto shared = std::get<SharedValue>(plan->take_out().value());
  EXPECT_EQ(shared->data, "made");
  EXPECT_EQ(shared->version.text, "5");
}

TEST_F(Claims, AFollowerThatBecomesTheLeaderClaims) {
  begin(true, Place::follower);
  plan->on_lead();
  EXPECT_EQ(command().verb, Verb::lease);
  complete(lease(Lease::won));
  EXPECT_EQ(plan->step(), Step::compute);
}

TEST_F(Claims, AFollowerThatIsGivenTheRightComputesWithTheGuardAsItIs) {
  begin(false, Place::follower);
  plan->on_right(Right{false, "4", "somebody"});
  EXPECT_EQ(given_back().value, "somebody");

  plan.emplace(terms(false), Random(1).fork());
  plan->on_right(Right{false, "4", "somebody"});  // as soon as it joins
  plan->start({});
  EXPECT_EQ(given_back().value, "somebody");
}

TEST_F(Claims, AFollowerEndsAtItsDeadlineByItsTokenAndWithItsClient) {
  begin(true, Place::follower);
  plan->on_deadline({3s, {}});
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().error().reason, Reason::timed_out);
  begin(true, Place::follower);
  EXPECT_TRUE(plan->on_cancel({1s, {}}));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().error().reason, Reason::cancelled);
  begin(true, Place::follower);
  plan->on_shutdown({});
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().error().outcome, Outcome::shutdown);
}

TEST_F(Claims, WhatAFollowerHearsAfterItsEndChangesNothing) {
  begin(true, Place::follower);
  plan->on_deadline({3s, {}});
  plan->on_lead();
  plan->on_value(std::make_shared<const Value>());
  plan->on_right({});
  calls::Command none;
  EXPECT_FALSE(plan->poll_command(none));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().error().reason, Reason::timed_out);
}

}  // namespace
}  // namespace sheaf::client::compute
