// Transcripts of a lock on an endpoint that compares versions, not values: what the plan requests
// from memcached to take, keep and give back its key, and what a guard's reads and writes compare.

#include <gtest/gtest.h>

#include "client/lock/cas_lock_key.h"
#include "client/lock/lock_plan.h"
#include "client/lock/versioned_plan.h"
#include "tests/client/lock/lock_fixtures.h"

namespace sheaf::client::lock {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using test::Transcript;

LockTerms terms(bool patient) {
  LockTerms terms = test::lock_terms(patient);
  terms.by_version = true;
  return terms;
}

class CasPlanTest : public test::AskingTest {
 protected:
  explicit CasPlanTest(bool patient = true) : AskingTest(terms(patient), "5") {}
  // The next request that the plan wants, as a text.
  std::string next() {
    const protocol::Operation& wanted = it.wants().operation;
    EXPECT_EQ(wanted.key, "lock");
    if (wanted.verb == Verb::get) return "get";
    std::string text = wanted.verb == Verb::set ? "set" : "remove";
    if (wanted.verb == Verb::set) {
      EXPECT_EQ(wanted.value, "me:1");
      EXPECT_EQ(wanted.ttl, 12s);
    }
    if (wanted.condition == Condition::if_absent) text += " if absent";
    if (wanted.condition == Condition::if_version) text += " if " + std::string(wanted.version);
    return text;
  }
};

class HastyCasPlanTest : public CasPlanTest {
 protected:
  HastyCasPlanTest() : CasPlanTest(false) {}
};

TEST(ItemLife, IsTheLeaseInWholeSecondsAndTwoMore) {
  EXPECT_EQ(item_life(100ms), 3s);
  EXPECT_EQ(item_life(1000ms), 3s);
  EXPECT_EQ(item_life(1001ms), 4s);
  EXPECT_EQ(item_life(10s), 12s);
  EXPECT_EQ(item_life(std::chrono::hours(24)), 24h + 2s);
}

TEST_F(CasPlanTest, TakesKeepsAndGivesBackOnOneConnection) {
  EXPECT_EQ(next(), "set if absent");
  it.at(1000s + 5ms);
  it.answer(Status::done, "5");
  EXPECT_TRUE(plan.acquired());
  EXPECT_EQ(plan.tenure()->until, 1000s + 10s - 150ms) << "from before the request was sent";
  EXPECT_EQ(plan.tenure()->token, "5");
  EXPECT_EQ(plan.watched_key(), "");
  const Deadline sent = it.wait();
  EXPECT_EQ(next(), "set if 5");
  it.answer(Status::done, "8");
  EXPECT_EQ(plan.tenure()->token, "5") << "that of the acquisition, for the whole tenure";
  EXPECT_EQ(plan.tenure()->until, sent + 10s - 150ms);
  it.wait();
  const calls::Command& renewal = it.wants();
  EXPECT_EQ(renewal.operation.version, "8");
  EXPECT_EQ(renewal.connection, 7u);
  it.answer(Status::done, "9");
  plan.release(it.now().mono + 1s, it.now());
  const calls::Command& release = it.wants();
  EXPECT_EQ(release.operation.verb, Verb::remove);
  EXPECT_EQ(release.operation.condition, Condition::if_version);
  EXPECT_EQ(release.operation.version, "9");
  EXPECT_EQ(release.connection, 7u);
  it.answer(Status::done);
  EXPECT_TRUE(plan.done());
  EXPECT_TRUE(plan.freed()->value());
}

TEST_F(HastyCasPlanTest, AnothersLockIsNotLookedAt) {
  EXPECT_EQ(next(), "set if absent");
  it.answer(Status::not_stored);
  EXPECT_TRUE(plan.settled() && plan.done() && !plan.acquired() && !plan.failure());
}

TEST_F(CasPlanTest, PollsGoSlowerUpToAQuarterOfASecondAndWatchNothing) {
  std::vector<std::chrono::nanoseconds> pauses;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(next(), i == 0 ? "set if absent" : "get");
    it.answer(i == 0 ? Status::not_stored : Status::done, "6", "other:1");
    EXPECT_EQ(plan.watched_key(), "");
    const Deadline before = it.now().mono;
    pauses.push_back(it.wait() - before);
  }
  EXPECT_EQ(pauses[0], 25ms);
  EXPECT_EQ(pauses[1], 50ms);
  EXPECT_EQ(pauses[2], 100ms);
  for (std::size_t i = 4; i < pauses.size(); ++i) {
    EXPECT_GE(pauses[i], 200ms);
    EXPECT_LE(pauses[i], 300ms);
  }
}

TEST_F(CasPlanTest, AnAttemptThatWasNotAnsweredMayBeOurs) {
  EXPECT_EQ(next(), "set if absent");
  it.at(1001s);
  it.fail(Outcome::unknown);
  it.wait();
  EXPECT_EQ(next(), "set if absent");
  it.answer(Status::not_stored);
  EXPECT_EQ(next(), "get");
  it.answer(Status::done, "6", "me:1");
  const Deadline sent = it.now().mono;
  const calls::Command& again = it.wants();
  EXPECT_EQ(again.operation.version, "6");
  EXPECT_EQ(again.connection, 7u) << "where the version came from";
  it.at(sent + 5ms);
  it.answer(Status::done, "7");
  EXPECT_TRUE(plan.acquired());
  EXPECT_EQ(plan.tenure()->until, sent + 10s - 150ms);
  EXPECT_EQ(plan.tenure()->token, "7");
}

TEST_F(CasPlanTest, AnAttemptThatWasNotAnsweredMayBeAnothersNow) {
  it.wants();
  it.fail(Outcome::unknown);
  it.wait();
  it.wants();
  it.answer(Status::not_stored);
  EXPECT_EQ(next(), "get");
  it.answer(Status::done, "6", "other:1");
  EXPECT_FALSE(plan.settled());
  it.wait();
  EXPECT_EQ(next(), "get");
  it.answer(Status::absent);
  EXPECT_EQ(next(), "set if absent");
}

TEST_F(CasPlanTest, ALockThatEndsBetweenAddAndGetIsAskedForAgain) {
  it.wants();
  it.fail(Outcome::unknown);
  it.wait();
  it.wants();
  it.answer(Status::not_stored);
  EXPECT_EQ(next(), "get");
  it.answer(Status::absent);
  EXPECT_EQ(next(), "set if absent");
  it.answer(Status::not_stored);
  EXPECT_EQ(next(), "get");
  it.answer(Status::done, "6", "me:1");
  EXPECT_EQ(next(), "set if 6");
  it.answer(Status::not_stored);
  EXPECT_EQ(next(), "set if absent");
}

TEST_F(HastyCasPlanTest, AnAttemptInQuestionIsTakenBackOnlyIfItIsOurs) {
  it.wants();
  it.fail(Outcome::unknown, Reason::connection_lost);
  EXPECT_TRUE(plan.settled());
  EXPECT_EQ(plan.failure()->outcome, Outcome::unknown);
  EXPECT_EQ(next(), "get");
  it.connection = 9;
  it.answer(Status::done, "6", "me:1");
  const calls::Command& removal = it.wants();
  EXPECT_EQ(removal.operation.verb, Verb::remove);
  EXPECT_EQ(removal.operation.version, "6");
  EXPECT_EQ(removal.connection, 9u);
  it.answer(Status::not_stored);  // what was sent on the old connection has come
  EXPECT_EQ(next(), "get");
  it.answer(Status::done, "7", "me:1");
  EXPECT_EQ(next(), "remove if 7");
  it.answer(Status::done);
  EXPECT_TRUE(plan.done());
}

TEST_F(CasPlanTest, ARenewalThatWasNotAnsweredMakesTheNextOneLook) {
  hold();
  it.wait();
  EXPECT_EQ(next(), "set if 5");
  it.fail(Outcome::unknown);
  EXPECT_TRUE(plan.tenure()->held);
  it.wait();
  EXPECT_EQ(it.wants().connection, 7u);
  it.answer(Status::done, "6", "me:1");
  EXPECT_EQ(next(), "set if 6");
  const Deadline sent = it.now().mono;
  it.answer(Status::done, "7");
  EXPECT_EQ(plan.tenure()->until, sent + 10s - 150ms);
  EXPECT_EQ(plan.tenure()->token, "5");
  it.wait();
  EXPECT_EQ(next(), "set if 7");
}

TEST_F(CasPlanTest, ARenewalThatWasNotSentChangesNothing) {
  hold();
  it.wait();
  EXPECT_EQ(next(), "set if 5");
  it.fail(Outcome::not_sent);
  it.wait();
  EXPECT_EQ(next(), "set if 5");
}

TEST_F(CasPlanTest, ARenewalThatFindsAnotherVersionIsALoss) {
  hold();
  it.wait();
  it.wants();
  it.answer(Status::not_stored);
  EXPECT_EQ(plan.loss()->reason, Reason::lock_lost);
  EXPECT_NE(plan.loss()->text.find("another"), std::string::npos) << plan.loss()->text;
  EXPECT_TRUE(plan.done());
}

TEST_F(CasPlanTest, ARenewalThatFindsNothingIsALoss) {
  hold();
  it.wait();
  it.wants();
  it.answer(Status::absent);
  EXPECT_EQ(plan.loss()->reason, Reason::lock_lost);
  EXPECT_NE(plan.loss()->text.find("gone"), std::string::npos) << plan.loss()->text;
  EXPECT_TRUE(plan.done());
}

TEST_F(CasPlanTest, AReleaseWithAnUncertainVersionRemovesOnlyItsOwn) {
  hold();
  it.wait();
  it.wants();
  it.fail(Outcome::unknown);
  plan.release(it.now().mono + 1s, it.now());
  EXPECT_EQ(next(), "get");
  it.answer(Status::done, "9", "other:1");
  EXPECT_TRUE(plan.done());
  EXPECT_FALSE(plan.freed()->value());
}

TEST_F(CasPlanTest, AfterItsConnectionAVersionMeansNothing) {
  hold();
  plan.on_connection_ended(7, it.now());
  EXPECT_EQ(plan.loss()->reason, Reason::connection_lost);
  EXPECT_EQ(it.wants().operation.verb, Verb::get);
  it.connection = 8;
  it.answer(Status::done, "5", "other:1");  // a new server's fifth item
  EXPECT_TRUE(plan.done());
}

class MillisecondPlanTest : public test::AskingTest {
 protected:
  MillisecondPlanTest() : AskingTest(with_milliseconds(), "5") {}
  static LockTerms with_milliseconds() {
    LockTerms of = terms(true);
    of.whole_seconds = false;
    return of;
  }
};

TEST_F(MillisecondPlanTest, WhereServersCountMillisecondsALockLivesForItsLease) {
  EXPECT_EQ(it.wants().operation.ttl, 10s);
}

// The answers name no connection, so a version holds on all of them.
TEST_F(CasPlanTest, WithoutAConnectionALockOutlivesTheOneThatItWasTakenOn) {
  it.connection = 0;
  it.wants();
  it.answer(Status::done, "nonce");
  ASSERT_TRUE(plan.acquired());
  plan.on_connection_ended(7, it.now());
  EXPECT_TRUE(plan.tenure()->held);
  it.wait();
  EXPECT_EQ(next(), "set if nonce") << "the version is certain";
  it.fail(Outcome::not_sent, Reason::connection_lost);
  EXPECT_TRUE(plan.tenure()->held);
  it.wait();
  const calls::Command& renewal = it.wants();
  EXPECT_EQ(renewal.operation.version, "nonce");
  EXPECT_EQ(renewal.connection, 0u);
  it.answer(Status::done, "nonce");
  plan.release(it.now().mono + 1s, it.now());
  EXPECT_EQ(it.wants().connection, 0u);
  it.answer(Status::done);
  EXPECT_TRUE(plan.freed()->value());
}

TEST_F(CasPlanTest, ALossWhileARenewalIsUnderWayGivesBackWhatItMayHaveLeft) {
  hold();
  it.wait();
  const unsigned renewal = it.wants().id;
  it.at(plan.tenure()->until);
  plan.on_deadline(it.now());
  EXPECT_EQ(plan.loss()->reason, Reason::timed_out);
  EXPECT_EQ(next(), "get");
  socket::Completion late;  // for the renewal
  late.answered = true;
  late.reply.version = "6";
  late.connection = 7;
  late.now = it.now();
  plan.on_answer(renewal, late);
  EXPECT_TRUE(it.wants_nothing());
}

// A server that was stopped may have stored it with a clock that had stopped, too.
TEST_F(CasPlanTest, WhatWasAnsweredSlowlyIsStoredOnceMore) {
  it.wants();
  it.at(1000s + 101ms);
  it.answer(Status::done, "5");
  EXPECT_FALSE(plan.settled());
  EXPECT_EQ(next(), "set if 5");
  it.at(1000s + 301ms);
  it.answer(Status::done, "6");
  EXPECT_TRUE(plan.acquired());
  EXPECT_EQ(plan.tenure()->token, "6");
  EXPECT_EQ(plan.tenure()->until, 1000s + 101ms + 10s - 150ms);
  it.wait();
  EXPECT_EQ(next(), "set if 6");
  const Deadline sent = it.now().mono;
  it.at(sent + 500ms);
  it.answer(Status::done, "7");
  EXPECT_EQ(next(), "set if 7");
  EXPECT_LT(plan.tenure()->until, sent + 9s) << "not renewed yet";
  it.answer(Status::done, "8");
  EXPECT_EQ(plan.tenure()->until, sent + 500ms + 10s - 150ms);
  EXPECT_EQ(plan.tenure()->token, "6");
}

// Servers before 1.6.13 do not return the version of a stored value.
TEST_F(CasPlanTest, AVersionThatWasNotReturnedIsRead) {
  it.wants();
  it.at(1000s + 5ms);
  it.answer(Status::done);
  EXPECT_EQ(next(), "get");
  it.answer(Status::done, "5", "me:1");
  EXPECT_TRUE(plan.acquired());
  EXPECT_EQ(plan.tenure()->until, 1000s + 10s - 150ms) << "from before the add was sent";
  it.wait();
  EXPECT_EQ(next(), "set if 5");
  it.answer(Status::done);
  EXPECT_TRUE(plan.tenure()->held);
  it.wait();
  EXPECT_EQ(next(), "get");
}

TEST_F(CasPlanTest, AServerWithoutVersionsIsOneSentence) {
  it.wants();
  it.answer(Status::done);
  it.wants();
  it.answer(Status::done, {}, "me:1");
  ASSERT_TRUE(plan.settled() && plan.failure());
  EXPECT_EQ(plan.failure()->outcome, Outcome::unsupported);
  EXPECT_EQ(plan.failure()->text, "the server at n1:1 keeps no versions (-C): locks need them");
  EXPECT_EQ(next(), "get");
  it.answer(Status::done, {}, "me:1");
  EXPECT_EQ(next(), "remove");
  it.answer(Status::done);
  EXPECT_TRUE(plan.done());
}

// ---- what a guard reads and writes

class VersionedTest : public test::GuardTest {
 protected:
  void read(Status status, std::string_view version) {
    VersionedRead plan(tenure, wanted);
    Transcript<VersionedRead> it(plan);
    it.connection = connection;
    plan.start(start);
    const calls::Command& command = it.wants();
    EXPECT_EQ(command.operation.verb, Verb::get);
    EXPECT_EQ(command.connection, wanted.bound ? 7u : 0u);
    it.answer(status, version, "value");
    EXPECT_TRUE(it.wants_nothing()) << "no claim";
    ASSERT_TRUE(plan.done());
    EXPECT_EQ(plan.take_out().value().has_value(), status == Status::done);
  }
  // The condition and version that a write compares.
  std::string compared(std::optional<Status> answered, std::string_view version = {}) {
    VersionedWrite plan(tenure, wanted, condition);
    Transcript<VersionedWrite> it(plan);
    it.connection = connection;
    plan.start(start);
    const calls::Command command = it.wants();
    EXPECT_EQ(command.operation.verb, Verb::set);
    EXPECT_EQ(command.operation.fence, "");
    std::string text = "always";
    if (command.operation.condition == Condition::if_absent) text = "absent";
    if (command.operation.condition == Condition::if_present) text = "present";
    if (command.operation.condition == Condition::if_version) {
      text = std::string(command.operation.version) + " on " + std::to_string(command.connection);
    }
    if (answered) {
      it.answer(*answered, version);
    } else {
      it.fail(Outcome::unknown);
    }
    EXPECT_TRUE(plan.done() && !plan.in_doubt());
    return text;
  }
  std::uint64_t connection = 7;
  SetCondition condition = SetCondition::always;
};

TEST_F(VersionedTest, AWriteComparesWhatWasReadAndThenWhatItWrote) {
  read(Status::done, "3");
  EXPECT_EQ(compared(Status::done, "4"), "3 on 7");
  EXPECT_EQ(compared(Status::done, "6"), "4 on 7");
  EXPECT_EQ(compared(Status::not_stored), "6 on 7");
  EXPECT_EQ(compared(Status::done, "9"), "always") << "after not_stored it must read again";
  EXPECT_EQ(compared(Status::done, "10"), "9 on 7");
}

TEST_F(VersionedTest, AWriteIfPresentComparesToo) {
  read(Status::done, "3");
  condition = SetCondition::if_present;
  EXPECT_EQ(compared(Status::done, "4"), "3 on 7");
  read(Status::absent, "");
  EXPECT_EQ(compared(Status::not_stored), "present");
}

TEST_F(VersionedTest, WhatWasAbsentIsWrittenOnlyIfAbsent) {
  read(Status::absent, "");
  EXPECT_EQ(compared(Status::done, "4"), "absent");
  EXPECT_EQ(compared(Status::done, "5"), "4 on 7");
}

TEST_F(VersionedTest, AnUnknownWriteCannotBeOverwrittenUnseen) {
  read(Status::done, "3");
  EXPECT_EQ(compared(std::nullopt), "3 on 7");
  EXPECT_EQ(compared(Status::done, "5"), "3 on 7") << "whichever of the two lands second fails";
}

TEST_F(VersionedTest, AStoredWriteWhoseVersionIsNotReturnedMustBeRead) {
  read(Status::done, "3");
  EXPECT_EQ(compared(Status::done, ""), "3 on 7");
  EXPECT_EQ(compared(Status::not_stored, ""), "3 on 7");
}

TEST_F(VersionedTest, AVersionIsComparedWhereItWasReturned) {
  wanted.bound = false;
  connection = 12;
  read(Status::done, "3");
  EXPECT_EQ(compared(Status::done, "4"), "3 on 12");
}

TEST_F(VersionedTest, WhatAnotherThreadHasNotedSinceStays) {
  read(Status::done, "3");
  VersionedWrite slow(tenure, wanted, SetCondition::always);
  Transcript<VersionedWrite> it(slow);
  slow.start(start);
  const calls::Command command = it.wants();
  EXPECT_EQ(compared(Status::done, "4"), "3 on 7");
  EXPECT_EQ(command.operation.version, "3") << "borrowed from the plan, not from the note";
  it.answer(Status::not_stored);
  EXPECT_EQ(compared(Status::done, "5"), "4 on 7");
}

TEST_F(VersionedTest, ARemovalComparesAndNotesThatTheKeyIsAbsent) {
  read(Status::done, "3");
  VersionedRemove remove(tenure, wanted, std::nullopt);
  Transcript<VersionedRemove> it(remove);
  remove.start(start);
  const calls::Command command = it.wants();
  EXPECT_EQ(command.operation.verb, Verb::remove);
  EXPECT_EQ(command.operation.condition, Condition::if_version);
  EXPECT_EQ(command.operation.version, "3");
  it.answer(Status::done);
  EXPECT_EQ(remove.take_out().value(), RemoveResult::removed);
  EXPECT_EQ(compared(Status::done, "5"), "absent");
}

TEST_F(VersionedTest, NothingIsSentUnderALockThatIsNotHeld) {
  read(Status::done, "3");
  tenure->held = false;
  VersionedWrite write(tenure, wanted, SetCondition::always);
  Transcript<VersionedWrite> it(write);
  write.start(start);
  EXPECT_TRUE(it.wants_nothing());
  EXPECT_EQ(write.take_out().error().reason, Reason::lock_lost);
}

TEST_F(VersionedTest, BeyondTheLimitOfNotesAReadIsRefused) {
  for (std::size_t i = 0; i < Tenure::max_noted; ++i) tenure->note("k" + std::to_string(i), "1", 7);
  VersionedRead plan(tenure, wanted);
  Transcript<VersionedRead> it(plan);
  plan.start(start);
  it.wants();
  it.answer(Status::done, "3", "v");
  const auto error = plan.take_out().error();
  EXPECT_EQ(error.outcome, Outcome::overloaded);
  EXPECT_NE(error.text.find("65536"), std::string::npos) << error.text;
  wanted.key = "k5";
  read(Status::done, "3");
}

}  // namespace
}  // namespace sheaf::client::lock
