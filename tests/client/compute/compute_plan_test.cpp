// Transcripts of ClaimPlan and SettlePlan: their commands, the answers and the results. Answers
// take test::latency unless the test lets time pass.

#include "client/compute/compute_plan.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/support/latency.h"

namespace sheaf::client::compute {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Lease;
using protocol::Status;
using protocol::Verb;

Terms terms(bool leases) {
  Terms all;
  all.key = "key";
  all.guard = guard_of("key");
  all.holder = "me";
  all.lease = 5s;
  all.ttl = 60s;
  all.leases = all.versions = leases;
  return all;
}

socket::Completion answer(Status status) {
  socket::Completion completion;
  completion.answered = true;
  completion.reply.status = status;
  return completion;
}

socket::Completion value(std::string_view data) {
  socket::Completion completion = answer(Status::done);
  completion.reply.value = data;
  completion.reply.version = "7";
  completion.reply.flags = 3;
  return completion;
}

socket::Completion lease(Lease lease) {
  socket::Completion completion = answer(Status::absent);
  completion.reply.lease = lease;
  completion.reply.version = "9";
  return completion;
}

socket::Completion failure(Outcome outcome, Reason reason) {
  socket::Completion completion;
  completion.outcome = outcome;
  completion.reason = reason;
  completion.node = "n:1";
  return completion;
}

class Claims : public testing::Test {
 protected:
  void begin(bool leases, Place place = Place::leader) {
    plan.emplace(terms(leases), Deadline(0), Deadline(3s), Random(1).fork(), place);
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
    const Claim claim = plan->take_out().value();
    ASSERT_TRUE(claim.value);
    EXPECT_FALSE(claim.right);
    EXPECT_EQ(claim.value->data, data);
    EXPECT_EQ(claim.value->version.text, "7");
    EXPECT_EQ(claim.value->flags, 3u);
  }
  std::optional<ClaimPlan> plan;
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
  ASSERT_TRUE(plan->done());
  const Claim claim = plan->take_out().value();
  EXPECT_FALSE(claim.value);
  EXPECT_TRUE(claim.right->by_lease);
  EXPECT_EQ(claim.right->version, "9");
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
  EXPECT_TRUE(plan->take_out().value().right);
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
  EXPECT_EQ(guard.value, "me");
  EXPECT_EQ(guard.condition, Condition::if_absent);
  EXPECT_EQ(guard.ttl, 5s);
  socket::Completion stored = answer(Status::done);
  stored.reply.version = "4";
  complete(stored);
  EXPECT_EQ(command().verb, Verb::get);
  complete(answer(Status::absent));
  const Claim claim = plan->take_out().value();
  EXPECT_FALSE(claim.right->by_lease);
  EXPECT_EQ(claim.right->version, "4");
  EXPECT_EQ(claim.right->holder, "me");
}

TEST_F(Claims, BehindTheGuardTheKeyIsReadAgainSinceAnotherMayHaveComputed) {
  begin(false);
  command();
  complete(answer(Status::absent));
  command();
  complete(answer(Status::done));
  EXPECT_EQ(command().verb, Verb::get);
  complete(value("computed"));
  const protocol::Operation removal = command();  // it gets no answer
  EXPECT_EQ(removal.verb, Verb::remove);
  EXPECT_EQ(removal.key, "key:sheaf-lease");
  EXPECT_EQ(removal.condition, Condition::if_value);
  EXPECT_EQ(removal.value, "me");
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

TEST_F(Claims, AFollowerAsksForNothingAndGetsTheValueOfTheLeader) {
  begin(false, Place::follower);
  calls::Command none;
  EXPECT_FALSE(plan->poll_command(none));
  EXPECT_EQ(plan->poll_deadline(), 3s);
  plan->on_deadline({1s, {}});  // too early
  EXPECT_FALSE(plan->done());
  plan->on_value(std::make_shared<const Value>(Value{"made", {"5"}, 0}));
  ASSERT_TRUE(plan->done());
  const Claim claim = plan->take_out().value();
  EXPECT_FALSE(claim.right);
  EXPECT_EQ(value_of(claim).data, "made");
  EXPECT_EQ(value_of(claim).version.text, "5");
}

TEST_F(Claims, AFollowerThatBecomesTheLeaderClaims) {
  begin(true, Place::follower);
  plan->on_lead();
  EXPECT_EQ(command().verb, Verb::lease);
  complete(lease(Lease::won));
  EXPECT_TRUE(plan->take_out().value().right);
}

TEST_F(Claims, AFollowerThatIsGivenTheRightComputesWithTheGuardAsItIs) {
  begin(false, Place::follower);
  plan->on_right(Right{false, "4", "somebody"});
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().value().right->holder, "somebody");

  plan.emplace(terms(false), Deadline(0), Deadline(3s), Random(1).fork(), Place::follower);
  plan->on_right(Right{false, "4", "somebody"});  // as soon as it joins
  plan->start({});
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().value().right->holder, "somebody");
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

class Settles : public testing::Test {
 protected:
  static Right right(bool by_lease) {
    return by_lease ? Right{true, "9", {}} : Right{false, "", "winner"};
  }
  void begin(bool by_lease, std::optional<std::string> made) {
    plan.emplace(terms(by_lease), right(by_lease), std::move(made), 3s);
    plan->start({});
  }
  // The value is computed elsewhere, from 1 s on.
  void begin_elsewhere(bool by_lease) {
    plan.emplace(terms(by_lease), right(by_lease), Deadline(1s));
    plan->start({});
  }
  std::optional<protocol::Operation> command() {
    calls::Command command;
    if (!plan->poll_command(command)) return std::nullopt;
    EXPECT_EQ(command.route, "key");
    return command.operation;
  }
  std::optional<SettlePlan> plan;
};

TEST_F(Settles, AValueIsStoredAtTheVersionOfTheLease) {
  begin(true, "made");
  const auto store = command();
  EXPECT_EQ(store->key, "key");
  EXPECT_EQ(store->value, "made");
  EXPECT_EQ(store->condition, Condition::if_version);
  EXPECT_EQ(store->version, "9");
  EXPECT_EQ(store->ttl, 60s);
  plan->on_answer(0, value(""));
  ASSERT_TRUE(plan->done());
  const Value made = plan->take_out();
  EXPECT_EQ(made.data, "made");
  EXPECT_EQ(made.version.text, "7");
}

TEST_F(Settles, WhoComesTooLateKeepsItsValueToItself) {
  begin(true, "late");
  command();
  plan->on_answer(0, answer(Status::not_stored));
  ASSERT_TRUE(plan->done());
  EXPECT_FALSE(command());
  const Value made = plan->take_out();
  EXPECT_EQ(made.data, "late");
  EXPECT_TRUE(made.version.empty());
}

TEST_F(Settles, AValueThatCouldNotBeStoredGivesTheLeaseBack) {
  begin(true, "large");
  command();
  plan->on_answer(0, failure(Outcome::invalid, Reason::too_large));
  const auto removal = command();
  EXPECT_EQ(removal->verb, Verb::remove);
  EXPECT_EQ(removal->key, "key");
  EXPECT_EQ(removal->version, "9");
  EXPECT_EQ(removal->condition, Condition::if_version);
  plan->on_answer(0, failure(Outcome::unknown, Reason::timed_out));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().data, "large");
}

TEST_F(Settles, WithoutAValueTheRightIsGivenBackAtOnce) {
  begin(true, std::nullopt);
  EXPECT_EQ(command()->verb, Verb::remove);
  plan->on_answer(0, answer(Status::done));
  EXPECT_TRUE(plan->done());

  begin(false, std::nullopt);
  EXPECT_EQ(command()->key, "key:sheaf-lease");
  plan->on_answer(0, answer(Status::done));
  EXPECT_TRUE(plan->done());
}

TEST_F(Settles, BesideAGuardOnlyAnAbsentKeyIsStoredAndTheGuardGoesLast) {
  begin(false, "made");
  const auto store = command();
  EXPECT_EQ(store->condition, Condition::if_absent);
  EXPECT_EQ(store->value, "made");
  plan->on_answer(0, value(""));
  EXPECT_FALSE(plan->done());
  const auto removal = command();
  EXPECT_EQ(removal->verb, Verb::remove);
  EXPECT_EQ(removal->key, "key:sheaf-lease");
  EXPECT_EQ(removal->condition, Condition::if_value);
  EXPECT_EQ(removal->value, "winner");  // the winner of the right
  plan->on_answer(0, answer(Status::done));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().version.text, "7");
}

TEST_F(Settles, AValueAboveTheLimitIsReturnedAndNotStored) {
  Terms few = terms(true);
  few.longest_value = 3;
  plan.emplace(few, right(true), "made", 3s);
  plan->start({});
  EXPECT_EQ(command()->verb, Verb::remove);
  plan->on_answer(0, answer(Status::done));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().data, "made");
}

TEST_F(Settles, WhatIsComputedElsewhereIsStoredWhenItComes) {
  begin_elsewhere(true);
  EXPECT_FALSE(command());
  EXPECT_TRUE(plan->computing());
  plan->on_made("made", 8s);
  EXPECT_FALSE(plan->computing());
  const auto store = command();
  EXPECT_EQ(store->value, "made");
  EXPECT_EQ(store->deadline, 8s);
  EXPECT_EQ(plan->poll_deadline(), never);
  plan->on_answer(0, value(""));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->take_out().version.text, "7");
}

TEST_F(Settles, WhatFailsElsewhereGivesTheRightBack) {
  begin_elsewhere(false);
  plan->on_made(std::nullopt, 8s);
  EXPECT_EQ(command()->key, "key:sheaf-lease");
  plan->on_answer(0, answer(Status::done));
  EXPECT_TRUE(plan->done());
}

TEST_F(Settles, WhatDoesNotBeginInTimeIsOverdueUntilItsOwnerSaysThatItHas) {
  begin_elsewhere(true);
  EXPECT_EQ(plan->poll_deadline(), 1s);
  plan->on_deadline({1s - 1ns, {}});
  EXPECT_FALSE(plan->overdue());
  plan->on_deadline({1s, {}});
  EXPECT_TRUE(plan->overdue());
  EXPECT_FALSE(plan->done());
  plan->on_begun();
  EXPECT_FALSE(plan->overdue());
  EXPECT_EQ(plan->poll_deadline(), never);
}

TEST_F(Settles, TheEndOfTheClientEndsWhatIsComputedElsewhere) {
  begin_elsewhere(true);
  plan->on_shutdown({});
  EXPECT_TRUE(plan->done());
  plan->on_made("late", 8s);
  EXPECT_FALSE(command());
}

TEST(Guards, AreShortEnoughForEveryEndpointAndOnePerKey) {
  EXPECT_EQ(guard_of("a"), "a:sheaf-lease");
  EXPECT_LE(guard_of(std::string(174, 'k')).size(), 186u);
  EXPECT_EQ(guard_of(std::string(175, 'k')).size(), 32 + 12u);
  EXPECT_NE(guard_of(std::string(250, 'k')), guard_of(std::string(249, 'k')));
}

TEST_F(Settles, CancelledItIsDoneWithItsValueAndStoresItUnheard) {
  begin(false, "made");
  const auto store = command();
  ASSERT_TRUE(store);
  EXPECT_EQ(store->value, "made");
  EXPECT_FALSE(plan->on_cancel({}));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(store->value, "made") << "still in flight";
  const Value made = plan->take_out();
  EXPECT_EQ(made.data, "made");
  EXPECT_EQ(made.version.text, "");
  plan->on_answer(0, answer(Status::done));
  EXPECT_EQ(command()->verb, Verb::remove) << "the guard";
}

}  // namespace
}  // namespace sheaf::client::compute
