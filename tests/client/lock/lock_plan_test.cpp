// Transcripts of the pure plans of a lock: what they request, answer by answer.

#include "client/lock/lock_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "client/lock/fenced_plan.h"
#include "tests/client/lock/lock_fixtures.h"

namespace sheaf::client::lock {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using test::Transcript;

class LockPlanTest : public test::AskingTest {
 protected:
  explicit LockPlanTest(bool patient = false) : AskingTest(test::lock_terms(patient), "1:0:s") {}
};

class PatientPlanTest : public LockPlanTest {
 protected:
  PatientPlanTest() : LockPlanTest(true) {}
};

TEST_F(LockPlanTest, AsksRenewsAndReleasesOnOneConnection) {
  const calls::Command& ask = it.wants();
  EXPECT_EQ(ask.operation.verb, Verb::set);
  EXPECT_EQ(ask.operation.condition, Condition::if_absent_or_equal);
  EXPECT_EQ(ask.operation.key, "lock");
  EXPECT_EQ(ask.operation.value, "me:1");
  EXPECT_EQ(ask.operation.ttl, 10s);
  EXPECT_EQ(ask.connection, 0u);
  it.at(1000s + 5ms);
  it.answer(Status::done, "1:0:s");
  EXPECT_TRUE(plan.settled() && plan.acquired());
  EXPECT_EQ(plan.tenure()->until, 1000s + 10s - 150ms) << "from before the request was sent";
  EXPECT_EQ(plan.tenure()->token, "1:0:s");
  EXPECT_EQ(it.wait(), 1000s + std::chrono::nanoseconds(10s) / 3);
  const calls::Command& renewal = it.wants();
  EXPECT_EQ(renewal.operation.value, "me:1");
  EXPECT_EQ(renewal.connection, 7u);
  const Deadline sent = it.now().mono;
  it.answer(Status::done, "2:0:s");
  EXPECT_EQ(plan.tenure()->until, sent + 10s - 150ms);
  EXPECT_EQ(plan.tenure()->token, "1:0:s") << "that of the first SET, for the whole tenure";
  plan.release(it.now().mono + 1s, it.now());
  EXPECT_FALSE(plan.tenure()->held);
  const calls::Command& release = it.wants();
  EXPECT_EQ(release.operation.verb, Verb::remove);
  EXPECT_EQ(release.operation.condition, Condition::if_value);
  EXPECT_EQ(release.operation.value, "me:1");
  EXPECT_EQ(release.connection, 7u);
  it.at(it.now().mono + 4ms);
  it.answer(Status::done);
  EXPECT_TRUE(plan.done());
  EXPECT_TRUE(plan.freed()->value());
  EXPECT_FALSE(plan.loss());
  EXPECT_GE(memory.backoff.may_ask("lock"), it.now().mono + 2ms);
  EXPECT_LE(memory.backoff.may_ask("lock"), it.now().mono + 6ms);
  EXPECT_EQ(memory.backoff.may_ask("another"), Deadline{0});
}

TEST_F(LockPlanTest, OneThatIsHeldByAnotherIsNotWaitedForWithoutPatience) {
  it.wants();
  it.answer(Status::not_stored);
  EXPECT_TRUE(plan.settled() && plan.done() && !plan.acquired());
  EXPECT_FALSE(plan.failure());
}

TEST_F(LockPlanTest, AnAttemptInQuestionIsTakenBack) {
  it.wants();
  it.at(1001s);
  it.fail(Outcome::unknown, Reason::connection_lost);
  EXPECT_TRUE(plan.settled());
  EXPECT_EQ(plan.failure()->outcome, Outcome::unknown);
  EXPECT_EQ(it.wants().operation.condition, Condition::if_value);
  it.fail(Outcome::not_sent, Reason::node_down);
  EXPECT_FALSE(plan.done()) << "tries again for one lease";
  it.wait();
  it.wants();
  it.answer(Status::absent);
  EXPECT_TRUE(plan.done());
}

TEST_F(PatientPlanTest, CancelledWhileItWaitsItEndsAndNothingIsSent) {
  it.wants();
  it.answer(Status::not_stored);
  it.at(1001s);
  plan.on_cancel(it.now());
  EXPECT_TRUE(plan.settled() && plan.done() && !plan.acquired());
  EXPECT_EQ(plan.failure()->reason, Reason::cancelled);
  EXPECT_EQ(plan.failure()->outcome, Outcome::not_sent);
  EXPECT_EQ(plan.failure()->elapsed, 1s);
  EXPECT_TRUE(it.wants_nothing());
  EXPECT_EQ(plan.watched_key(), "");
}

TEST_F(PatientPlanTest, CancelledWhileItAsksItEndsWithTheAttempt) {
  it.wants();
  EXPECT_TRUE(plan.on_cancel(it.now()));
  EXPECT_FALSE(plan.settled());
  it.fail(Outcome::not_sent, Reason::cancelled);
  EXPECT_TRUE(plan.settled() && plan.done());
  EXPECT_EQ(plan.failure()->outcome, Outcome::not_sent);
  EXPECT_TRUE(it.wants_nothing());
}

TEST_F(PatientPlanTest, CancelledWhileAnAttemptIsInQuestionItIsReleased) {
  it.wants();
  plan.on_cancel(it.now());
  it.fail(Outcome::unknown, Reason::cancelled);
  EXPECT_TRUE(plan.settled() && !plan.done());
  EXPECT_EQ(plan.failure()->reason, Reason::cancelled);
  EXPECT_EQ(plan.failure()->outcome, Outcome::unknown);
  EXPECT_EQ(it.wants().operation.verb, Verb::remove);
  it.answer(Status::done);
  EXPECT_TRUE(plan.done());
}

TEST_F(PatientPlanTest, AGrantThatComesInSpiteOfACancellationIsReleased) {
  it.wants();
  plan.on_cancel(it.now());
  it.answer(Status::done, "1:0:s");
  EXPECT_TRUE(plan.settled() && !plan.acquired() && !plan.tenure()->held);
  EXPECT_EQ(plan.failure()->outcome, Outcome::unknown);
  EXPECT_EQ(it.wants().operation.verb, Verb::remove);
  it.answer(Status::done);
  EXPECT_TRUE(plan.done());
}

TEST_F(LockPlanTest, AReleaseThatIsCancelledIsReportedAndGoesOn) {
  hold();
  plan.release(1010s, it.now());
  it.wants();
  EXPECT_FALSE(plan.on_cancel(it.now()));
  EXPECT_EQ(plan.freed()->error().reason, Reason::cancelled);
  EXPECT_EQ(plan.freed()->error().outcome, Outcome::unknown);
  EXPECT_FALSE(plan.done());
  it.answer(Status::done);
  EXPECT_TRUE(plan.done());
}

TEST_F(LockPlanTest, WhatIsHeldIsNotCancelled) {
  hold();
  EXPECT_FALSE(plan.on_cancel(it.now()));
  EXPECT_TRUE(plan.tenure()->held);
}

TEST_F(LockPlanTest, AGrantThatComesAfterItsLeaseIsAskedForAgain) {
  it.wants();
  it.at(1010s - 100ms);
  it.answer(Status::done, "1:0:s");
  EXPECT_FALSE(plan.settled());
  EXPECT_EQ(it.wants().operation.verb, Verb::set);
  it.answer(Status::done, "2:0:s");
  EXPECT_EQ(plan.tenure()->token, "2:0:s");
}

TEST_F(LockPlanTest, AGrantWithoutAUsableVersionIsNoLock) {
  it.wants();
  it.answer(Status::done);
  EXPECT_TRUE(plan.settled() && !plan.acquired());
  EXPECT_EQ(plan.failure()->reason, Reason::clock_skew);
  EXPECT_EQ(it.wants().operation.verb, Verb::remove);
}

// The store does not count its lease from before the request. The exact moment is unknown.
TEST_F(LockPlanTest, ALeaseCountsFromTheRequestHoweverLateTheAnswerComes) {
  it.wants();
  it.at(1000s + 400ms);
  it.answer(Status::done, "1:0:s");
  ASSERT_TRUE(plan.acquired());
  EXPECT_EQ(plan.tenure()->until, 1000s + 10s - 150ms);
  for (int renewals = 0; renewals < 3; ++renewals) {
    const Deadline sent = it.wait();
    it.wants();
    it.at(sent + 400ms);
    it.answer(Status::done, "2:0:s");
    EXPECT_EQ(plan.tenure()->until, sent + 10s - 150ms);
    EXPECT_EQ(plan.poll_deadline(), sent + std::chrono::nanoseconds(10s) / 3) << "the next renewal";
  }
}

TEST_F(LockPlanTest, ARenewalThatIsAnsweredLateIsALoss) {
  hold();
  it.wait();
  it.wants();
  it.at(plan.tenure()->until);
  it.answer(Status::done, "9:0:s");
  EXPECT_FALSE(plan.tenure()->held);
  EXPECT_EQ(plan.loss()->reason, Reason::timed_out);
  EXPECT_EQ(it.wants().operation.verb, Verb::remove) << "it may have taken the lock back";
}

TEST_F(LockPlanTest, ARenewalThatFindsAnotherHolderIsALoss) {
  hold();
  it.wait();
  it.wants();
  it.answer(Status::not_stored);
  EXPECT_EQ(plan.loss()->reason, Reason::lock_lost);
  EXPECT_TRUE(plan.done());
}

TEST_F(LockPlanTest, ARenewalWithoutAnswerIsTriedAgainWithinTheLease) {
  hold();
  for (int i = 0; i < 3; ++i) {
    it.wait();
    EXPECT_TRUE(plan.tenure()->usable(it.now()));
    it.wants();
    it.fail(Outcome::unknown);
  }
  while (!plan.loss()) {
    it.wait();
    if (!plan.loss()) {
      it.wants();
      it.fail(Outcome::not_sent, Reason::timed_out);
    }
  }
  EXPECT_EQ(it.now().mono, 1000s + 10s - 150ms);
  EXPECT_EQ(plan.loss()->reason, Reason::timed_out);
}

TEST_F(LockPlanTest, TheEndOfTheConnectionEndsTheTenureAtOnce) {
  hold();
  plan.on_connection_ended(8, it.now());
  EXPECT_TRUE(plan.tenure()->held) << "another connection";
  plan.on_connection_ended(7, it.now());
  EXPECT_FALSE(plan.tenure()->held);
  EXPECT_EQ(plan.loss()->reason, Reason::connection_lost);
  const calls::Command& freeing = it.wants();
  EXPECT_EQ(freeing.operation.verb, Verb::remove);
  EXPECT_EQ(freeing.connection, 0u);
}

TEST_F(LockPlanTest, AReleaseWaitsForTheRenewalInFlight) {
  hold();
  it.wait();
  it.wants();
  plan.release(it.now().mono + 1s, it.now());
  it.answer(Status::done, "2:0:s");
  EXPECT_EQ(it.wants().operation.verb, Verb::remove);
  it.answer(Status::done);
  EXPECT_TRUE(plan.freed()->value());
}

TEST_F(LockPlanTest, AReleaseThatIsNotAnsweredIsReportedInTimeAndTriedOn) {
  hold();
  plan.release(it.now().mono + 500ms, it.now());
  it.wants();
  it.at(it.now().mono + 100ms);
  it.fail(Outcome::unknown);
  EXPECT_FALSE(plan.freed());
  while (!plan.freed()) {
    it.wait();
    if (!plan.freed()) {
      it.wants();
      it.fail(Outcome::unknown);
    }
  }
  EXPECT_LE(it.now().mono, 1000s + 1ms + 500ms);
  EXPECT_FALSE(plan.freed()->has_value());
  EXPECT_FALSE(plan.done());
}

// While a slot of Garnet moves, a transaction is told to try again, and a get that another thread
// started later is answered.
TEST_F(LockPlanTest, AReleaseThatALaterOperationHasOvertakenIsSentAgain) {
  hold();
  plan.release(it.now().mono + 500ms, it.now());
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(it.wants().operation.verb, Verb::remove);
    it.fail(Outcome::refused, Reason::overtaken);
    EXPECT_FALSE(plan.freed());
    const Deadline asked = it.now().mono;
    EXPECT_LE(it.wait() - asked, 5ms);
  }
  it.wants();
  it.answer(Status::done);
  EXPECT_TRUE(plan.freed()->value());
}

TEST_F(LockPlanTest, AnAttemptThatALaterOperationHasOvertakenIsRepeated) {
  it.wants();
  it.fail(Outcome::refused, Reason::overtaken);
  EXPECT_FALSE(plan.settled());
  it.wants();
  it.answer(Status::done, "1:0:s");
  EXPECT_TRUE(plan.settled() && plan.acquired());
}

TEST_F(LockPlanTest, AnUnknownWriteBeginsANewTenureForTheWholeGuard) {
  hold();
  plan.on_doubt(it.now());
  EXPECT_TRUE(plan.tenure()->in_doubt);
  it.wants();
  it.answer(Status::done, "5:0:s");
  EXPECT_FALSE(plan.tenure()->in_doubt);
  EXPECT_EQ(plan.tenure()->token, "5:0:s");
}

TEST_F(LockPlanTest, AnIdleConnectionIsUsedBeforeThePoolClosesIt) {
  LockTerms lazy = test::lock_terms(false);
  lazy.lease = 1h;
  lazy.idle_timeout = 60s;
  LockPlan other(lazy, memory, Seed{});
  Transcript<LockPlan> its(other);
  other.start(its.now());
  its.wants();
  its.answer(Status::done, "1:0:s");
  EXPECT_LE(other.poll_deadline(), 1030s);
}

TEST_F(PatientPlanTest, PollsWatchesAndEndsWithTheWait) {
  EXPECT_EQ(plan.watched_key(), "");
  it.wants();
  it.answer(Status::not_stored);
  EXPECT_EQ(plan.watched_key(), "lock");
  EXPECT_EQ(it.wait(), 1000s + test::latency + LockPlan::first_poll);
  int polls = 0;
  while (!plan.settled()) {
    it.wants();
    it.answer(Status::not_stored);
    const Deadline before = it.now().mono;
    it.wait();
    if (plan.settled()) break;
    EXPECT_GE(it.now().mono - before, 200ms);
    EXPECT_LE(it.now().mono - before, 300ms);
    ++polls;
  }
  EXPECT_EQ(it.now().mono, 1030s);
  EXPECT_GT(polls, 90);
  EXPECT_FALSE(plan.failure());
  EXPECT_TRUE(plan.done());
}

// The wait would end before the answer, and on some servers that ends the connection.
TEST(LockPlan, APollThatWouldComeInTheLastMomentIsNotMade) {
  unsigned latest = 0;
  for (std::uint8_t seed = 0; seed < 200; ++seed) {
    client::lock::LockMemory memory;
    LockPlan plan(test::lock_terms(true), memory, Seed{seed});
    Transcript<LockPlan> it(plan);
    plan.start(it.now());
    Deadline asked = it.now().mono;
    while (!plan.settled()) {
      asked = it.now().mono;
      it.wants();
      it.answer(Status::not_stored);
      it.wait();
    }
    EXPECT_LE(asked, 1030s - 5ms);
    if (asked > 1030s - 50ms) ++latest;
  }
  EXPECT_GT(latest, 10u) << "but shortly before";
}

TEST_F(PatientPlanTest, AHintAsksAtOnceAlsoWhileARequestIsUnderWay) {
  it.wants();
  it.answer(Status::not_stored);
  plan.on_hint(it.now());
  it.wants();
  plan.on_hint(it.now());  // the refusal may be older than the release
  it.answer(Status::not_stored);
  it.wants();
  it.answer(Status::done, "3:0:s");
  EXPECT_TRUE(plan.acquired());
}

TEST_F(PatientPlanTest, ANodeThatIsNotReachedIsTheErrorInTheEnd) {
  while (!plan.settled()) {
    it.wants();
    it.fail(Outcome::not_sent, Reason::node_down);
    it.wait();
  }
  EXPECT_EQ(it.now().mono, 1030s);
  EXPECT_EQ(plan.failure()->reason, Reason::node_down);
}

TEST_F(PatientPlanTest, ARefusalEndsTheWait) {
  it.wants();
  it.fail(Outcome::refused, Reason::not_authorized);
  EXPECT_EQ(plan.failure()->reason, Reason::not_authorized);
  EXPECT_TRUE(plan.done());
}

TEST_F(PatientPlanTest, ARefusalForAWhileDoesNotEndTheWait) {
  it.wants();
  it.fail(Outcome::refused, Reason::timed_out);
  EXPECT_FALSE(plan.settled());
  it.wait();
  it.wants();
  it.fail(Outcome::refused, Reason::node_down);
  EXPECT_FALSE(plan.settled());
  it.wait();
  it.wants();
  it.answer(Status::done, "1:0:s");
  EXPECT_TRUE(plan.acquired());
}

TEST_F(PatientPlanTest, AClosingClientEndsTheWait) {
  it.wants();
  plan.on_shutdown(it.now());
  EXPECT_TRUE(plan.settled() && plan.done());
  EXPECT_EQ(plan.failure()->outcome, Outcome::shutdown);
  it.fail(Outcome::shutdown, Reason::closed);
  EXPECT_TRUE(it.wants_nothing());
}

TEST_F(PatientPlanTest, AReleasersClientLetsOthersComeFirst) {
  LockPlan second(test::lock_terms(true), memory, Seed{});
  memory.backoff.released("lock", 10ms, 1.0, it.now());
  Transcript<LockPlan> its(second);
  second.start(its.now());
  EXPECT_TRUE(its.wants_nothing());
  EXPECT_EQ(its.wait(), 1000s + 10ms);
  its.wants();
}

// ---- fenced operations

class FencedTest : public test::GuardTest {
 protected:
  FencedTest() : GuardTest("1:0:s") {}
};

TEST_F(FencedTest, AReadClaimsWhatItHasReadAndReadsAgainIfThatChanged) {
  wanted.ttl = 3s;
  FencedRead read(tenure, wanted);
  Transcript<FencedRead> it(read);
  read.start(start);
  EXPECT_EQ(it.wants().operation.verb, Verb::get);
  it.answer(Status::done, "1", "old");
  const calls::Command& claim = it.wants();
  EXPECT_EQ(claim.operation.verb, Verb::set);
  EXPECT_EQ(claim.operation.condition, Condition::if_absent_or_equal);
  EXPECT_EQ(claim.operation.value, "old");
  EXPECT_EQ(claim.operation.fence, "1:0:s");
  EXPECT_EQ(claim.operation.ttl, 3s);
  EXPECT_EQ(claim.connection, 7u);
  it.answer(Status::not_stored, "2");
  EXPECT_EQ(it.wants().operation.verb, Verb::get);
  it.answer(Status::done, "2", "new");
  EXPECT_EQ(it.wants().operation.value, "new");
  it.answer(Status::done, "3");
  ASSERT_TRUE(read.done());
  const auto got = read.take_out();
  EXPECT_EQ(got.value()->data, "new");
  EXPECT_EQ(got.value()->version.text, "3");
}

TEST_F(FencedTest, AReadEndsByItsDeadlineHoweverOftenTheValueChanges) {
  FencedRead read(tenure, wanted);
  Transcript<FencedRead> it(read);
  read.start(start);
  while (!read.done()) {
    it.wants();
    it.at(std::min(it.now().mono + 100ms, wanted.deadline));
    it.answer(Status::done, "1", "v");
    if (read.done()) break;
    it.wants();
    it.answer(Status::not_stored);
  }
  EXPECT_LE(it.now().mono, 1002s);
  EXPECT_EQ(read.take_out().error().reason, Reason::timed_out);
}

TEST_F(FencedTest, WhatWasAbsentIsWrittenOnlyIfAbsentAndOnlyOnce) {
  FencedRead read(tenure, wanted);
  Transcript<FencedRead> reading(read);
  read.start(start);
  reading.wants();
  reading.answer(Status::absent);
  EXPECT_FALSE(read.take_out().value().has_value());
  for (const Condition expected : {Condition::if_absent, Condition::none}) {
    FencedWrite write(tenure, wanted, SetCondition::always);
    Transcript<FencedWrite> it(write);
    write.start(start);
    const calls::Command& command = it.wants();
    EXPECT_EQ(command.operation.condition, expected);
    EXPECT_EQ(command.operation.fence, "1:0:s");
    it.answer(expected == Condition::none ? Status::done : Status::not_stored, "4");
    EXPECT_EQ(write.take_out().value().stored, expected == Condition::none);
  }
}

TEST_F(FencedTest, NothingIsSentUnderALockThatIsNotHeld) {
  tenure->until = 1000s;
  FencedRemove remove(tenure, wanted, std::nullopt);
  Transcript<FencedRemove> it(remove);
  remove.start(start);
  EXPECT_TRUE(it.wants_nothing());
  const auto error = remove.take_out().error();
  EXPECT_EQ(error.reason, Reason::lock_lost);
  EXPECT_EQ(error.outcome, Outcome::not_sent);
}

TEST_F(FencedTest, ALockThatIsLostBetweenReadAndClaimClaimsNothing) {
  FencedRead read(tenure, wanted);
  Transcript<FencedRead> it(read);
  read.start(start);
  it.wants();
  tenure->held = false;
  it.answer(Status::done, "1", "v");
  EXPECT_TRUE(it.wants_nothing());
  EXPECT_EQ(read.take_out().error().reason, Reason::lock_lost);
}

TEST_F(FencedTest, AfterAnUnknownWriteTheNextWaitsForTheNewToken) {
  FencedWrite first(tenure, wanted, SetCondition::always);
  Transcript<FencedWrite> one(first);
  first.start(start);
  one.wants();
  one.fail(Outcome::unknown);
  EXPECT_TRUE(first.in_doubt());
  tenure->in_doubt = true;
  FencedWrite second(tenure, wanted, SetCondition::always);
  Transcript<FencedWrite> two(second);
  second.start(start);
  EXPECT_TRUE(two.wants_nothing());
  EXPECT_EQ(second.poll_deadline(), 1002s);
  tenure->in_doubt = false;
  tenure->token = "2:0:s";
  second.on_tenure(start);
  EXPECT_EQ(two.wants().operation.fence, "2:0:s");
}

TEST_F(FencedTest, AReadThatIsUnknownIsNoDoubt) {
  FencedRead read(tenure, wanted);
  Transcript<FencedRead> it(read);
  read.start(start);
  it.wants();
  it.fail(Outcome::unknown);
  EXPECT_TRUE(read.done() && !read.in_doubt());
}

}  // namespace
}  // namespace sheaf::client::lock
