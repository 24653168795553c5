// Transcripts of a waiter on memcached whose holder has died: the item outlives the lease, and the
// waiter replaces it once it has seen it unchanged for longer than the holder can believe in it.

#include <gtest/gtest.h>

#include "client/lock/cas_lock_key.h"
#include "tests/client/lock/lock_fixtures.h"

namespace sheaf::client::lock {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;

LockTerms waiting_terms(bool whole_seconds = true) {
  LockTerms terms = test::lock_terms(true);
  terms.by_version = true;
  terms.whole_seconds = whole_seconds;
  return terms;
}

class TakeOver : public test::AskingTest {
 protected:
  explicit TakeOver(LockTerms terms = waiting_terms()) : AskingTest(std::move(terms), "5") {}

  std::string next() { return text_of(it.wants()); }
  // The first request finds the lock taken, the second one sees the item.
  void first_sees(std::string_view version, std::uint32_t flags = lease_flags(1s)) {
    EXPECT_EQ(next(), "add");
    it.answer(Status::not_stored);
    it.wait();
    EXPECT_EQ(next(), "get");
    sees(version, "dead:1", flags);
  }
  // Polls once more shortly before the lease has passed.
  void sees_late(std::string_view version) {
    it.at(it.now().mono + 900ms);
    plan.on_deadline(it.now());
    EXPECT_EQ(next(), "get");
    sees(version);
  }
  void sees(std::string_view version, std::string_view value = "dead:1",
            std::uint32_t flags = lease_flags(1s)) {
    it.flags = flags;
    it.answer(Status::done, version, value);
  }
  // Polls that see the same item until the waiter acts; it.now() is then the time.
  std::string polls(std::string_view version, std::uint32_t flags = lease_flags(1s)) {
    while (it.now().mono < 1029s) {
      it.wait();
      EXPECT_EQ(next(), "get");
      sees(version, "dead:1", flags);
      if (!it.wants_nothing()) return text_of(it.command());
    }
    return "nothing";
  }

 private:
  static std::string text_of(const calls::Command& wanted) {
    if (wanted.operation.verb == Verb::get) return "get";
    EXPECT_EQ(wanted.operation.value, "me:1");
    if (wanted.operation.condition == Condition::if_absent) return "add";
    EXPECT_EQ(wanted.operation.condition, Condition::if_version);
    return "replace " + std::string(wanted.operation.version) + " on " +
           std::to_string(wanted.connection);
  }
};

TEST_F(TakeOver, AnItemThatIsNotRenewedForALeaseIsReplaced) {
  first_sees("4");
  const Deadline seen = it.now().mono;
  EXPECT_EQ(polls("4"), "replace 4 on 7");
  EXPECT_GE(it.now().mono, seen + 1s + drift_allowance(1s));
  EXPECT_LE(it.now().mono, seen + 1s + drift_allowance(1s) + 50ms);
  it.answer(Status::done, "6");
  EXPECT_TRUE(plan.acquired());
  EXPECT_EQ(plan.tenure()->token, "6");
}

TEST_F(TakeOver, ARenewalStartsTheWaitAnew) {
  first_sees("4");
  sees_late("5");
  const Deadline renewed = it.now().mono;
  EXPECT_EQ(polls("5"), "replace 5 on 7");
  EXPECT_GE(it.now().mono, renewed + 1s + drift_allowance(1s));
}

// The server may have restarted: the same attempt may have been stored again, as item 1 again.
TEST_F(TakeOver, OnAnotherConnectionTheWaitBeginsAnew) {
  first_sees("1");
  it.connection = 9;
  sees_late("1");
  const Deadline seen = it.now().mono;
  EXPECT_EQ(polls("1"), "replace 1 on 9");
  EXPECT_GE(it.now().mono, seen + 1s + drift_allowance(1s));
}

// As a campaign of short waits, or try_lock in a loop.
TEST_F(TakeOver, AttemptsOfOneClientGoOnFromWhatTheLastOneHasSeen) {
  first_sees("4");
  plan.on_cancel(it.now());
  const Deadline end = it.now().mono + 1s + drift_allowance(1s);
  LockTerms once = waiting_terms();
  once.patient = false;
  LockPlan early(once, memory, Seed{});
  test::Transcript<LockPlan> first(early);
  first.at(end - 20ms);
  early.start(first.now());
  EXPECT_EQ(first.wants().operation.verb, Verb::get);
  first.flags = lease_flags(1s);
  first.answer(Status::done, "4", "dead:1");
  EXPECT_TRUE(early.done());
  LockPlan late(once, memory, Seed{});
  test::Transcript<LockPlan> second(late);
  second.at(end);
  late.start(second.now());
  EXPECT_EQ(second.wants().operation.verb, Verb::get);
  second.flags = lease_flags(1s);
  second.answer(Status::done, "4", "dead:1");
  EXPECT_EQ(second.wants().operation.version, "4");
  second.answer(Status::done, "6");
  EXPECT_TRUE(late.acquired());
  EXPECT_FALSE(memory.rivals.has("lock"));
}

TEST(Rivals, BeyondTheirNumberOneIsForgotten) {
  Rivals rivals;
  for (std::size_t i = 0; i <= Rivals::most_locks; ++i) rivals.note(std::to_string(i));
  std::size_t known = 0;
  for (std::size_t i = 0; i <= Rivals::most_locks; ++i) known += rivals.has(std::to_string(i));
  EXPECT_EQ(known, Rivals::most_locks);
  EXPECT_TRUE(rivals.has(std::to_string(Rivals::most_locks)));
}

TEST_F(TakeOver, WhoLosesTheRaceWaitsForTheNextHolder) {
  first_sees("4");
  EXPECT_EQ(polls("4"), "replace 4 on 7");
  it.answer(Status::not_stored);
  EXPECT_EQ(next(), "add") << "the lock may be free";
  it.answer(Status::not_stored);
  EXPECT_FALSE(plan.settled());
  const Deadline lost = it.now().mono;
  EXPECT_GE(it.wait(), lost + 20ms) << "no hurry";
  EXPECT_EQ(next(), "get");
  sees("8", "faster:1");
  it.wait();
  EXPECT_EQ(next(), "get");
}

TEST_F(TakeOver, AReplacementWithoutAnAnswerMayBeOurs) {
  first_sees("4");
  EXPECT_EQ(polls("4"), "replace 4 on 7");
  it.fail(Outcome::unknown);
  it.wait();
  EXPECT_EQ(next(), "get");
  sees("6", "me:1");
  EXPECT_EQ(next(), "replace 6 on 7");
  it.answer(Status::done, "7");
  EXPECT_TRUE(plan.acquired());
}

// The version of another's item must not be taken for one of ours.
TEST_F(TakeOver, AReplacementThatWasNotSentLeavesNothingToGiveBack) {
  first_sees("4");
  EXPECT_EQ(polls("4"), "replace 4 on 7");
  it.fail(Outcome::not_sent, Reason::connection_lost);
  plan.on_cancel(it.now());
  EXPECT_TRUE(plan.done());
  EXPECT_TRUE(it.wants_nothing());
}

TEST_F(TakeOver, AnItemWithoutALeaseIsLeftUntilItEnds) {
  first_sees("4", 0);
  EXPECT_EQ(polls("4", 0), "nothing");
}

class TakeOverWithMilliseconds : public TakeOver {
 protected:
  TakeOverWithMilliseconds() : TakeOver(waiting_terms(false)) {}
};

TEST_F(TakeOverWithMilliseconds, WhereTheItemEndsWithTheLeaseNobodyLooksAtIt) {
  EXPECT_EQ(next(), "add");
  EXPECT_EQ(lease_of(0), std::nullopt);
  for (int i = 0; i < 5; ++i) {
    it.answer(Status::not_stored);
    it.wait();
    EXPECT_EQ(next(), "add");
  }
}

TEST(LeaseFlags, HoldEachLeaseToTheMillisecond) {
  for (const auto lease : {0ms, 100ms, 1'001ms, 86'400'000ms}) {
    EXPECT_EQ(lease_of(lease_flags(lease)), lease);
  }
}

TEST(LeaseFlags, OfOtherProgramsAreNone) {
  for (const std::uint32_t flags : {0u, 1u, 0xffffu, 0x1000'0000u, 0xffff'ffffu, 0x8000'0000u}) {
    EXPECT_EQ(lease_of(flags), std::nullopt) << flags;
  }
  EXPECT_EQ(lease_flags(std::chrono::hours(40)), 0u) << "too long for the bits";
  EXPECT_EQ(lease_flags(-1ms), 0u);
}

}  // namespace
}  // namespace sheaf::client::lock
