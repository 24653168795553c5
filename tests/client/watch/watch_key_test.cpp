// WatchKey by transcript: what it sends and reports, answer by answer. Answers take test::latency
// unless the test lets time pass.

#include "client/watch/watch_key.h"

#include <gtest/gtest.h>

#include "protocol/statestore/clock.h"
#include "tests/support/latency.h"

namespace sheaf::client::watch {
namespace {

using namespace std::chrono_literals;
using Request = WatchKey::Request;
using Notified = protocol::Notification::Kind;

// A key and the time; every report is one line of `reported`.
class KeyTest : public testing::Test {
 protected:
  void report(const WatchKey::Reports& reports) {
    for (const auto& [audience, update] : reports.list()) {
      std::string line(to_string(update.kind));
      if (update.value) line += " " + std::string(*update.value);
      if (!update.version.empty()) line += " @" + std::string(update.version);
      if (update.kind == WatchEvent::Kind::gap) {
        line = gap(update.from.mono, update.until.mono);
      }
      if (audience == WatchKey::Audience::waiting && update.kind != WatchEvent::Kind::current) {
        line += " (waiting)";
      }
      reported.push_back(line);
    }
  }
  static std::string gap(Deadline from, Deadline until) {
    return "gap " + std::to_string(from / 1ms) + "-" + std::to_string(until / 1ms);
  }
  Now now() const { return {time, {}}; }
  Request send() {
    const Request next = key.next_request(now());
    key.sent(now());
    answers.on_request(time);
    return next;
  }
  // The moment of the answer to the last request.
  Now answered() {
    time = answers.of_answer(time);
    return now();
  }
  void watching() {
    ASSERT_EQ(send(), Request::watch);
    report(key.on_watching(answered()));
  }
  void watching_at(Deadline answer) {
    time = answer - test::latency;
    watching();
  }
  void found(std::optional<std::string_view> value, std::string_view version = {}) {
    report(key.on_read(value, version, answered()));
  }
  void reads(std::optional<std::string_view> value, std::string_view version = {}) {
    ASSERT_EQ(send(), Request::read);
    found(value, version);
  }
  void notified(Notified kind, std::optional<std::string_view> value, std::string_view version) {
    report(key.on_notification({kind, "key", value, version}, now()));
  }
  void set(std::string_view value, std::string_view version) {
    notified(Notified::set, value, version);
  }
  void deleted(std::string_view version) { notified(Notified::deleted, {}, version); }
  // Watched, with the value `a` of version 5.
  void settle() {
    key.on_line_up();
    key.join(calls::WatchStart::current);
    watching();
    reads("a", "5:0:s");
    reported.clear();
  }
  // The line is lost at `from`, comes back, and the key is registered again at `until`.
  void blind(Deadline from, Deadline until) {
    time = from;
    key.on_line_down(now());
    key.on_line_up();
    watching_at(until);
  }
  std::vector<std::string> take() { return std::exchange(reported, {}); }
  using Lines = std::vector<std::string>;

  Deadline time = 1ms;
  test::AnswerTime answers;
  WatchKey key{{.compare = protocol::statestore::compare_versions}};
  std::vector<std::string> reported;
};

TEST_F(KeyTest, RegistersThenReadsThenReportsWhatThereIs) {
  EXPECT_EQ(send(), Request::none);
  EXPECT_EQ(key.join(calls::WatchStart::current), 1U);
  EXPECT_EQ(send(), Request::none);  // no line
  key.on_line_up();
  watching();
  EXPECT_EQ(take(), Lines{});
  reads("a", "5:0:s");
  EXPECT_EQ(take(), Lines{"current a @5:0:s"});
  EXPECT_EQ(send(), Request::none);
}

TEST_F(KeyTest, AQuietWatcherIsNotReadFor) {
  key.on_line_up();
  key.join(calls::WatchStart::quiet);
  watching();
  EXPECT_EQ(send(), Request::none);
  set("a", "5:0:s");
  EXPECT_EQ(take(), Lines{"set a @5:0:s"});
}

TEST_F(KeyTest, DuplicatesAndStaleEventsAreDropped) {
  settle();
  set("a", "5:0:s");
  set("old", "4:0:s");
  deleted("4:9:s");
  EXPECT_EQ(take(), Lines{});
  set("b", "6:0:s");
  set("b", "6:0:s");
  EXPECT_EQ(take(), Lines{"set b @6:0:s"});
}

TEST_F(KeyTest, ADeletionMayCarryTheVersionOfTheValueThatIsGone) {
  settle();
  deleted("5:0:s");
  deleted("5:0:s");
  set("a", "5:0:s");  // a late copy of the deleted value
  EXPECT_EQ(take(), Lines{"deleted @5:0:s"});
  set("b", "6:0:s");
  EXPECT_EQ(take(), Lines{"set b @6:0:s"});
}

TEST_F(KeyTest, ADeletionMayCarryAVersionOfItsOwn) {
  settle();
  deleted("7:0:s");
  set("late", "6:0:s");
  set("b", "8:0:s");
  EXPECT_EQ(take(), (Lines{"deleted @7:0:s", "set b @8:0:s"}));
}

TEST_F(KeyTest, ANotificationOvertakesTheAnswerToItsRegistration) {
  key.on_line_up();
  key.join(calls::WatchStart::current);
  ASSERT_EQ(send(), Request::watch);
  set("b", "6:0:s");
  report(key.on_watching(now()));
  reads("b", "6:0:s");
  EXPECT_EQ(take(), (Lines{"set b @6:0:s", "current b @6:0:s"}));  // for those who want changes
}

TEST_F(KeyTest, ANotificationThatOvertakesAReadIsNotUndoneByIt) {
  settle();
  key.join(calls::WatchStart::current);
  ASSERT_EQ(send(), Request::read);
  set("b", "6:0:s");
  found("a", "5:0:s");
  EXPECT_EQ(take(), Lines{"set b @6:0:s"});
  reads("b", "6:0:s");  // reported to the waiting watcher from a new read
  EXPECT_EQ(take(), Lines{"current b @6:0:s"});
}

TEST_F(KeyTest, AbsentWhileASetWasHeardIsReadAgain) {
  settle();
  const Deadline sure = time - test::latency;  // when the read of what is known was sent
  key.join(calls::WatchStart::current);
  ASSERT_EQ(send(), Request::read);
  set("b", "6:0:s");
  found(std::nullopt);
  EXPECT_EQ(take(), Lines{"set b @6:0:s"});
  reads(std::nullopt);  // without a notification meanwhile: this is true, and unannounced
  EXPECT_EQ(take(), (Lines{gap(sure, time), "deleted", "current"}));
}

TEST_F(KeyTest, AValueWhileADeletionWasHeardIsOfThePast) {
  settle();
  key.join(calls::WatchStart::current);
  ASSERT_EQ(send(), Request::read);
  deleted("6:0:s");
  found("a", "5:0:s");
  EXPECT_EQ(take(), (Lines{"deleted @6:0:s", "current"}));
}

TEST_F(KeyTest, WhoJoinsDuringAReadWaitsForTheNext) {
  settle();
  EXPECT_EQ(key.join(calls::WatchStart::current), 2U);
  ASSERT_EQ(send(), Request::read);
  EXPECT_EQ(key.join(calls::WatchStart::current), 3U);
  found("a", "5:0:s");
  EXPECT_EQ(take(), Lines{});
  reads("a", "5:0:s");
  EXPECT_EQ(take(), Lines{"current a @5:0:s"});
}

TEST_F(KeyTest, AfterAGapWhatWasMissedFollows) {
  settle();
  blind(10ms, 20ms);
  EXPECT_EQ(take(), Lines{"gap 10-20"});
  reads("c", "9:0:s");
  EXPECT_EQ(take(), Lines{"set c @9:0:s"});
  blind(30ms, 40ms);
  reads("c", "9:0:s");
  EXPECT_EQ(take(), Lines{"gap 30-40"});
  blind(50ms, 60ms);
  reads(std::nullopt);
  EXPECT_EQ(take(), (Lines{"gap 50-60", "deleted"}));
}

TEST_F(KeyTest, AGapLastsUntilARegistrationSucceeds) {
  settle();
  time = 10ms;
  key.on_line_down(now());
  key.on_line_up();
  ASSERT_EQ(send(), Request::watch);
  key.on_lost();
  time = 30ms;
  key.on_line_down(now());  // a proof that does not matter: nothing was registered
  key.on_line_up();
  watching_at(50ms);
  EXPECT_EQ(take(), Lines{"gap 10-50"});
}

TEST_F(KeyTest, ANotificationEndsTheGapBeforeTheAnswerDoes) {
  settle();
  time = 10ms;
  key.on_line_down(now());
  key.on_line_up();
  ASSERT_EQ(send(), Request::watch);
  time = 12ms;
  set("c", "9:0:s");
  report(key.on_watching(now()));
  reads("c", "9:0:s");
  EXPECT_EQ(take(), (Lines{"gap 10-12", "set c @9:0:s"}));
}

// The notification shows that the node has registered the key, though its answer never comes.
TEST_F(KeyTest, ARegistrationThatWasCutOffAfterItsFirstNotificationLeavesAGap) {
  settle();
  time = 10ms;
  key.on_line_down(now());
  key.on_line_up();
  ASSERT_EQ(send(), Request::watch);
  time = 12ms;
  set("c", "9:0:s");
  time = 13ms;
  key.on_lost();
  key.on_line_down(now());
  key.on_line_up();
  watching_at(20ms);
  reads("d", "11:0:s");
  EXPECT_EQ(take(), (Lines{"gap 10-12", "set c @9:0:s", "gap 13-20", "set d @11:0:s"}));
}

// The store lost its memory and its clock went back. Its present answers count.
TEST_F(KeyTest, AfterAGapAnOlderVersionIsBelieved) {
  settle();
  blind(10ms, 20ms);
  set("b", "2:0:s");  // older than all known versions, before the first read
  reads("b", "2:0:s");
  set("c", "3:0:s");
  EXPECT_EQ(take(), (Lines{"gap 10-20", "set b @2:0:s", "set c @3:0:s"}));
}

TEST_F(KeyTest, AnOlderNotificationDuringTheFirstReadAfterAGapIsLookedInto) {
  settle();
  blind(10ms, 20ms);
  ASSERT_EQ(send(), Request::read);
  set("c", "3:0:s");  // its order is not known yet
  found("b", "2:0:s");
  reads("c", "3:0:s");
  EXPECT_EQ(take(), (Lines{"gap 10-20", "set b @2:0:s", "set c @3:0:s"}));
}

TEST_F(KeyTest, WhatASetDoesNotCarryIsRead) {
  settle();
  notified(Notified::set, std::nullopt, "6:0:s");
  EXPECT_EQ(take(), Lines{});
  reads("b", "6:0:s");
  EXPECT_EQ(take(), Lines{"set b @6:0:s"});
}

TEST_F(KeyTest, AnUnknownOperationIsAChangeAndIsLookedInto) {
  settle();
  notified(Notified::changed, std::nullopt, "6:0:s");
  EXPECT_EQ(take(), Lines{"changed @6:0:s"});
  reads("b", "6:0:s");
  EXPECT_EQ(take(), Lines{"set b @6:0:s"});
}

TEST_F(KeyTest, WithoutAVersionOnlyAReadCounts) {
  settle();
  set("b", "");
  EXPECT_EQ(take(), Lines{});
  ASSERT_EQ(send(), Request::read);
  deleted("");  // may be after that read
  found("b", "6:0:s");
  reads(std::nullopt);
  EXPECT_EQ(take(), (Lines{"set b @6:0:s", "deleted"}));
}

TEST_F(KeyTest, WhatANotificationAnnouncedIsNoGapHoweverManyReadsItTakes) {
  settle();
  key.join(calls::WatchStart::current);
  ASSERT_EQ(send(), Request::read);
  set("b", "6:0:s");
  set("c", "");         // announces a change
  found(std::nullopt);  // older than "b", or not: the read is repeated
  reads("c", "7:0:s");
  EXPECT_EQ(take(), (Lines{"set b @6:0:s", "set c @7:0:s", "current c @7:0:s"}));
}

TEST_F(KeyTest, ValuesWithoutVersionsAreComparedAsBytes) {
  key.on_line_up();
  key.join(calls::WatchStart::current);
  watching();
  reads("a");
  set("a", "");
  reads("a");
  EXPECT_EQ(take(), Lines{"current a"});
  set("b", "");
  reads("b");
  EXPECT_EQ(take(), Lines{"set b"});
}

TEST_F(KeyTest, AnAuditFindsWhatNobodyAnnounced) {
  settle();
  const Deadline sure = time - test::latency;  // when the read of what is known was sent
  EXPECT_EQ(key.poll_deadline(), time + 60s);
  time = key.poll_deadline();
  reads("b", "6:0:s");
  EXPECT_EQ(take(), (Lines{gap(sure, time), "set b @6:0:s"}));
}

// The node looked at the key when the read arrived, and the answer took long to come back.
TEST_F(KeyTest, AChangeThatWasLostWhileAnAnswerWasOnItsWayIsInTheGap) {
  settle();
  time = key.poll_deadline();
  const Deadline asked = time;
  ASSERT_EQ(send(), Request::read);
  const Deadline changed = time + test::latency;
  time += 400ms;
  found("a", "5:0:s");
  EXPECT_EQ(key.sure_at().mono, asked);
  EXPECT_LT(key.sure_at().mono, changed);
  time = key.poll_deadline();
  reads("b", "6:0:s");
  EXPECT_EQ(take(), (Lines{gap(asked, time), "set b @6:0:s"}));
}

TEST_F(KeyTest, ARefusalIsReportedAndTriedAgainUnlessItIsPermanent) {
  key.on_line_up();
  key.join(calls::WatchStart::current);
  Error error;
  error.outcome = Outcome::refused;
  ASSERT_EQ(send(), Request::watch);
  report(key.on_refused(error, false, answered()));
  EXPECT_EQ(take(), Lines{"failed"});
  EXPECT_EQ(send(), Request::none);
  EXPECT_EQ(key.poll_deadline(), time + 10s);
  const Now later{key.poll_deadline(), {}};
  ASSERT_EQ(key.next_request(later), Request::watch);
  key.sent(later);
  report(key.on_refused(error, true, later));
  EXPECT_EQ(key.poll_deadline(), never);
  key.on_line_down(later);
  key.on_line_up();  // rights may have changed
  EXPECT_EQ(send(), Request::watch);
}

TEST_F(KeyTest, AReadThatIsRefusedIsReportedToThoseWhoWait) {
  settle();
  Error error;
  error.outcome = Outcome::refused;
  key.join(calls::WatchStart::current);
  notified(Notified::set, std::nullopt, "6:0:s");
  ASSERT_EQ(send(), Request::read);
  report(key.on_refused(error, false, answered()));
  EXPECT_EQ(take(), (Lines{"failed (waiting)", "changed"}));
  EXPECT_EQ(send(), Request::none);
  EXPECT_EQ(key.poll_deadline(), time + 10s);
}

TEST_F(KeyTest, WhatARefusedReadWasToFindIsNoGapWhenALaterReadFindsIt) {
  settle();
  notified(Notified::set, std::nullopt, "6:0:s");
  ASSERT_EQ(send(), Request::read);
  report(key.on_refused(Error(), false, answered()));
  EXPECT_EQ(take(), (Lines{"failed (waiting)", "changed"}));
  const Now later{key.poll_deadline(), {}};
  key.sent(later);
  report(key.on_read("b", "6:0:s", later));
  EXPECT_EQ(take(), Lines{"set b @6:0:s"});
}

TEST_F(KeyTest, ANodeOutOfReachIsReportedOnceInAnOutage) {
  Error error;
  key.join(calls::WatchStart::current);
  report(key.on_line_failed(error));
  report(key.on_line_failed(error));
  EXPECT_EQ(take(), Lines{"failed"});
  key.on_line_up();
  watching();
  reads(std::nullopt);
  key.on_line_down(now());
  report(key.on_line_failed(error));
  EXPECT_EQ(take(), (Lines{"current", "failed"}));
}

TEST_F(KeyTest, TheLastToLeaveEndsTheRegistration) {
  settle();
  key.leave();
  EXPECT_FALSE(key.idle());
  set("b", "6:0:s");
  EXPECT_EQ(take(), Lines{});
  ASSERT_EQ(send(), Request::unwatch);
  EXPECT_FALSE(key.idle());
  key.join(calls::WatchStart::current);  // comes back before the end is confirmed
  key.on_unwatched();
  watching();
  reads("b", "6:0:s");
  EXPECT_EQ(take(), Lines{"current b @6:0:s"});
  key.leave();
  ASSERT_EQ(send(), Request::unwatch);
  key.on_unwatched();
  EXPECT_TRUE(key.idle());
}

TEST_F(KeyTest, WhoeverComesAfterTheLastHasLeftHearsOfNoGap) {
  settle();
  time = 10ms;
  key.on_line_down(now());
  key.leave();
  key.join(calls::WatchStart::current);
  key.on_line_up();
  watching();
  reads("z", "9:0:s");
  EXPECT_EQ(take(), Lines{"current z @9:0:s"});
}

// ---- nodes that say less

// The node only reports that the key was touched, once until it is read again.
TEST_F(KeyTest, ATouchedKeyIsReadAndItsStateReported) {
  settle();
  notified(Notified::touched, std::nullopt, {});
  EXPECT_EQ(take(), Lines{});
  reads("b", "another");
  notified(Notified::touched, std::nullopt, {});
  reads(std::nullopt);
  EXPECT_EQ(take(), (Lines{"set b @another", "deleted"}));
  notified(Notified::touched, std::nullopt, {});
  reads(std::nullopt);  // it existed and is gone again
  EXPECT_EQ(take(), Lines{});
}

TEST_F(KeyTest, ATouchDuringAReadLeadsToAnother) {
  settle();
  notified(Notified::touched, std::nullopt, {});
  ASSERT_EQ(send(), Request::read);
  notified(Notified::touched, std::nullopt, {});
  found("b", "another");
  reads("c", "a third");
  EXPECT_EQ(take(), (Lines{"set b @another", "set c @a third"}));
  EXPECT_EQ(send(), Request::none);
}

class PolledKeyTest : public KeyTest {
 protected:
  void registered() {
    key.on_line_up();
    ASSERT_EQ(send(), Request::watch);
    report(key.on_watching(answered(), true));
  }
  // Lets the next poll come; returns when it was due.
  Deadline polls(std::optional<std::string_view> value) {
    const Deadline due = key.poll_deadline();
    EXPECT_EQ(key.next_request({due - 1ns, {}}), Request::none);
    time = due;
    EXPECT_EQ(send(), Request::read);
    found(value);
    return due;
  }
};

TEST_F(PolledKeyTest, IsReadEachSecondAndADifferenceIsAChangeWithoutAGap) {
  key.join(calls::WatchStart::current);
  registered();
  reads("a");
  EXPECT_EQ(take(), Lines{"current a"});
  Deadline last = time;
  EXPECT_EQ(polls("a"), last + 1s);
  EXPECT_EQ(take(), Lines{});
  last = time;
  EXPECT_EQ(polls("b"), last + 1s);
  polls(std::nullopt);
  EXPECT_EQ(take(), (Lines{"set b", "deleted"}));
}

TEST_F(PolledKeyTest, AQuietWatcherHearsWhatChangesAfterTheFirstRead) {
  key.join(calls::WatchStart::quiet);
  registered();
  reads("a");
  EXPECT_EQ(take(), Lines{});
  polls("b");
  EXPECT_EQ(take(), Lines{"set b"});
}

TEST_F(PolledKeyTest, ManyKeysAndLargeValuesArePolledLessOften) {
  key.join(calls::WatchStart::current);
  registered();
  key.set_pace(5s);
  reads("a");
  const Deadline last = time;
  EXPECT_EQ(polls(std::string(200'000, 'v')), last + 5s);
  EXPECT_EQ(key.poll_deadline(), time + 4 * 5s);
}

TEST_F(PolledKeyTest, AGapIsReportedWhenTheLineWasDown) {
  key.join(calls::WatchStart::current);
  registered();
  reads("a");
  take();
  time = 10ms;
  key.on_line_down(now());
  time = 20ms - test::latency;
  registered();
  reads("b");
  EXPECT_EQ(take(), (Lines{"gap 10-20", "set b"}));
}

// ---- redirects

class RedirectedKeyTest : public KeyTest {
 protected:
  void redirected(Deadline at) {
    Error error;
    error.text = "MOVED";
    report(key.on_redirected(error, {at, {}}));
  }
};

TEST_F(RedirectedKeyTest, ARequestIsRepeatedSoonAndSilently) {
  key.on_line_up();
  key.join(calls::WatchStart::current);
  ASSERT_EQ(send(), Request::watch);
  redirected(1s);
  EXPECT_EQ(key.poll_deadline(), 1s + 100ms);
  key.sent({1s + 100ms, {}});
  EXPECT_EQ(key.open_request(), Request::watch);
  report(key.on_watching({2s, {}}));
  ASSERT_EQ(send(), Request::read);
  redirected(3s);
  EXPECT_EQ(key.poll_deadline(), 3s + 100ms);
  key.sent({4s, {}});
  report(key.on_read("a", {}, {4s, {}}));
  EXPECT_EQ(take(), Lines{"current a"});
}

TEST_F(RedirectedKeyTest, WatchersHearOfItIfItGoesOnForTenSeconds) {
  key.on_line_up();
  key.join(calls::WatchStart::current);
  ASSERT_EQ(send(), Request::watch);
  redirected(1s);
  key.sent({2s, {}});
  redirected(10s);
  EXPECT_EQ(take(), Lines{});
  key.sent({11s, {}});
  redirected(11s);
  EXPECT_EQ(take(), Lines{"failed"});
  EXPECT_EQ(key.poll_deadline(), 21s);
}

// An answer in between shows that the node serves the key.
TEST_F(RedirectedKeyTest, AnAnswerBeginsTheTenSecondsAnew) {
  settle();
  notified(Notified::touched, std::nullopt, {});
  ASSERT_EQ(send(), Request::read);
  redirected(1s);
  key.sent({2s, {}});
  report(key.on_read("b", {}, {2s, {}}));
  notified(Notified::touched, std::nullopt, {});
  key.sent({12s, {}});
  redirected(12s);
  EXPECT_EQ(take(), Lines{"set b"});
  EXPECT_EQ(key.poll_deadline(), 12s + 100ms);
}

}  // namespace
}  // namespace sheaf::client::watch
