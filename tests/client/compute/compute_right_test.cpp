// Transcripts of ComputePlan from the right to compute to the end.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/client/compute/compute_answers.h"

namespace sheaf::client::compute {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using Step = ComputePlan::Step;

class Settles : public testing::Test {
 protected:
  static Right right(bool by_lease) {
    return by_lease ? Right{true, "9", {}} : Right{false, "", "winner"};
  }
  void begin(const Terms& terms, std::optional<std::string> made) {
    plan.emplace(terms, Random(1).fork());
    plan->on_right(right(terms.leases));
    plan->start({});
    plan->on_made(std::move(made), {});
  }
  void begin(bool by_lease, std::optional<std::string> made) {
    begin(terms(by_lease), std::move(made));
  }
  // The value is computed elsewhere, from 1 s on.
  void begin_elsewhere(bool by_lease) {
    Terms elsewhere = terms(by_lease, false);
    elsewhere.due = 1s;
    plan.emplace(elsewhere, Random(1).fork());
    plan->on_right(right(by_lease));
    plan->start({});
    EXPECT_EQ(plan->step(), Step::queue);
  }
  void recall() { plan->on_deadline({1s, {}}); }
  Value take_value() { return std::get<Value>(plan->take_out().value()); }
  std::optional<protocol::Operation> command() {
    calls::Command command;
    if (!plan->poll_command(command)) return std::nullopt;
    EXPECT_EQ(command.route, "key");
    return command.operation;
  }
  std::optional<ComputePlan> plan;
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
  const Value made = take_value();
  EXPECT_EQ(made.data, "made");
  EXPECT_EQ(made.version.text, "7");
}

TEST_F(Settles, WhoComesTooLateKeepsItsValueToItself) {
  begin(true, "late");
  command();
  plan->on_answer(0, answer(Status::not_stored));
  ASSERT_TRUE(plan->done());
  EXPECT_FALSE(command());
  const Value made = take_value();
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
  EXPECT_EQ(take_value().data, "large");
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
  EXPECT_EQ(take_value().version.text, "7");
}

TEST_F(Settles, AValueAboveTheLimitIsReturnedAndNotStored) {
  Terms few = terms(true);
  few.longest_value = 3;
  begin(few, "made");
  EXPECT_EQ(command()->verb, Verb::remove);
  plan->on_answer(0, answer(Status::done));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(take_value().data, "made");
}

TEST_F(Settles, WhatIsComputedElsewhereIsStoredWhenItComes) {
  begin_elsewhere(true);
  EXPECT_FALSE(command());
  plan->on_made("made", {7s, {}});
  EXPECT_EQ(plan->step(), Step::none);
  const auto store = command();
  EXPECT_EQ(store->value, "made");
  EXPECT_EQ(store->deadline, 8s);
  EXPECT_EQ(plan->poll_deadline(), never);
  plan->on_answer(0, value(""));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(take_value().version.text, "7");
}

TEST_F(Settles, WhatFailsElsewhereGivesTheRightBack) {
  begin_elsewhere(false);
  Error error;
  error.text = "the user's own";
  plan->on_failed(std::move(error), {7s, {}});
  EXPECT_EQ(plan->step(), Step::tell);
  EXPECT_EQ(plan->take_out().error().text, "the user's own");
  EXPECT_FALSE(plan->done()) << "the next in line would find the guard";
  const auto removal = command();
  EXPECT_EQ(removal->key, "key:sheaf-lease");
  EXPECT_EQ(removal->deadline, 8s);
  plan->on_answer(0, answer(Status::done));
  EXPECT_TRUE(plan->done());
  EXPECT_EQ(plan->value(), nullptr);
}

TEST_F(Settles, WhatDoesNotBeginInTimeIsRecalledAndGoesOnIfItHas) {
  begin_elsewhere(true);
  EXPECT_EQ(plan->poll_deadline(), 1s);
  plan->on_deadline({1s - 1ns, {}});
  EXPECT_EQ(plan->step(), Step::queue);
  recall();
  EXPECT_EQ(plan->step(), Step::recall);
  EXPECT_FALSE(plan->done());
  plan->on_recalled(false, {1s, {}});
  EXPECT_EQ(plan->step(), Step::none);
  EXPECT_EQ(plan->poll_deadline(), never);
  plan->on_made("made", {7s, {}});
  EXPECT_EQ(command()->value, "made");
}

TEST_F(Settles, WhatIsRecalledBeforeItBeginsTimesOutAndGivesTheRightBack) {
  begin_elsewhere(true);
  recall();
  plan->on_recalled(true, {1s, {}});
  const Error error = plan->take_out().error();
  EXPECT_EQ(error.reason, Reason::timed_out);
  EXPECT_EQ(error.elapsed, 1s);
  EXPECT_EQ(command()->verb, Verb::remove);
  plan->on_made("late", {8s, {}});
  EXPECT_FALSE(command());
}

TEST_F(Settles, CancelledBeforeItBeginsItIsRecalledAsCancelled) {
  for (const bool back : {true, false}) {
    begin_elsewhere(false);
    EXPECT_FALSE(plan->on_cancel({500ms, {}}));
    EXPECT_EQ(plan->step(), Step::recall);
    plan->on_recalled(back, {500ms, {}});
    const Error error = plan->take_out().error();
    EXPECT_EQ(error.reason, Reason::cancelled);
    EXPECT_EQ(error.elapsed, 500ms);
    EXPECT_FALSE(plan->done());
    EXPECT_EQ(command().has_value(), back) << "the guard is removed if nothing runs";
  }
}

TEST_F(Settles, CancelledWhileItIsComputedTheCallEndsAndTheOthersGetTheValue) {
  begin_elsewhere(false);
  recall();
  plan->on_recalled(false, {1s, {}});
  EXPECT_FALSE(plan->on_cancel({2s, {}}));
  EXPECT_EQ(plan->take_out().error().reason, Reason::cancelled);
  EXPECT_FALSE(plan->done());
  plan->on_made("made", {7s, {}});
  EXPECT_EQ(command()->value, "made");
  plan->on_answer(0, value(""));
  command();
  plan->on_answer(0, answer(Status::done));
  ASSERT_TRUE(plan->done());
  EXPECT_EQ(plan->value()->data, "made");
}

TEST_F(Settles, ItsRightIsGivenToAnotherAndItFollowsUntilTheSameDeadline) {
  begin_elsewhere(false);
  EXPECT_EQ(plan->give().holder, "winner");
  EXPECT_EQ(plan->step(), Step::none);
  EXPECT_EQ(plan->poll_deadline(), 1s);
  plan->on_lead();
  EXPECT_EQ(command()->verb, Verb::get);
}

TEST_F(Settles, TheEndOfTheClientEndsWhatIsComputedElsewhere) {
  begin_elsewhere(true);
  plan->on_shutdown({});
  EXPECT_TRUE(plan->done());
  plan->on_made("late", {8s, {}});
  EXPECT_FALSE(command());
  EXPECT_EQ(plan->take_out().error().outcome, Outcome::shutdown);
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
  const Value made = take_value();
  EXPECT_EQ(made.data, "made");
  EXPECT_EQ(made.version.text, "");
  plan->on_answer(0, answer(Status::done));
  EXPECT_EQ(command()->verb, Verb::remove) << "the guard";
}

}  // namespace
}  // namespace sheaf::client::compute
