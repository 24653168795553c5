// Which requests a server that is too slow for them gets.

#include "node/admission.h"

#include <gtest/gtest.h>

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using Ruling = Admission::Ruling;

constexpr Now at(std::chrono::nanoseconds time) { return {Deadline(time), {}}; }

class AdmissionTest : public testing::Test {
 protected:
  // One of several that wait, while others are in flight.
  static Admission::Wish wish(std::chrono::nanoseconds started, std::chrono::nanoseconds timeout) {
    Admission::Wish wish;
    wish.started = Deadline(started);
    wish.deadline = Deadline(started + timeout);
    wish.last = false;
    wish.idle = false;
    return wish;
  }
  void send(unsigned count, std::chrono::nanoseconds time = 0s) {
    for (unsigned i = 0; i < count; ++i) last_ = admission_.on_sent(1, at(time));
  }
  // A server that needs 1 ms for a lone operation, and 100 us for each other one, was late once.
  void be_strict() {
    admission_.on_answer(admission_.on_sent(1, at(0s)), 1, 1ms, at(0s));
    for (unsigned i = 0; i < 100; ++i) {
      send(10);
      admission_.on_answer(last_, 1, 1ms + 10 * 100us, at(0s));
    }
    admission_.on_timeout(at(0s));
  }
  Admission admission_;
  Admission::Place last_;
};

TEST_F(AdmissionTest, WithoutATimeOutEverythingIsSent) {
  send(100'000);
  EXPECT_EQ(admission_.judge(wish(0s, 1ms), at(999us)), Ruling::send);
}

TEST_F(AdmissionTest, AfterATimeOutHalfOfTheTimeIsInFlight) {
  be_strict();
  send(39);
  EXPECT_EQ(admission_.judge(wish(0s, 9ms), at(0s)), Ruling::send);  // 40 × 100 us, of 8 ms
  send(1);
  EXPECT_EQ(admission_.judge(wish(0s, 9ms), at(0s)), Ruling::hold);
  EXPECT_EQ(admission_.judge(wish(0s, 90ms), at(0s)), Ruling::send);
}

TEST_F(AdmissionTest, AKeyOfABatchCountsAsAnOperation) {
  be_strict();
  Admission::Wish batch = wish(0s, 9ms);
  batch.width = 40;
  EXPECT_EQ(admission_.judge(batch, at(0s)), Ruling::send);
  batch.width = 44;
  EXPECT_EQ(admission_.judge(batch, at(0s)), Ruling::hold);
  batch.idle = true;
  EXPECT_EQ(admission_.judge(batch, at(0s)), Ruling::send);
}

TEST_F(AdmissionTest, WhatHasWaitedForAQuarterOfItsTimeIsGivenUpUnlessItIsTheOnlyOne) {
  be_strict();
  Admission::Wish old = wish(0s, 9ms);
  EXPECT_EQ(admission_.judge(old, at(2ms)), Ruling::send);
  EXPECT_EQ(admission_.judge(old, at(2'001us)), Ruling::give_up);
  old.idle = true;
  EXPECT_EQ(admission_.judge(old, at(2'001us)), Ruling::give_up);
  old.last = true;
  EXPECT_EQ(admission_.judge(old, at(2'001us)), Ruling::send);
}

TEST_F(AdmissionTest, ASecondAfterTheLastRequestThatWasHeldBackEverythingIsSent) {
  be_strict();
  for (const auto time : {900ms, 1'800ms}) {
    send(1'000, time);
    EXPECT_EQ(admission_.judge(wish(time, 9ms), at(time)), Ruling::hold);
  }
  send(1'000, 2'800ms);
  EXPECT_EQ(admission_.judge(wish(2'800ms, 9ms), at(2'800ms)), Ruling::send);
}

TEST_F(AdmissionTest, AnAnswerShowsThatEverythingSentBeforeIsOver) {
  be_strict();
  send(1'000);
  EXPECT_EQ(admission_.judge(wish(0s, 9ms), at(0s)), Ruling::hold);
  admission_.on_answer(last_, 1, 2ms, at(0s));
  EXPECT_EQ(admission_.judge(wish(0s, 9ms), at(0s)), Ruling::send);
}

TEST_F(AdmissionTest, ASlowNetworkIsNoOverload) {
  admission_.on_answer(admission_.on_sent(1, at(0s)), 1, 20ms, at(0s));
  for (unsigned i = 0; i < 100; ++i) {
    send(10);
    admission_.on_answer(last_, 1, 20ms + 10us, at(0s));
  }
  admission_.on_timeout(at(0s));
  send(100);
  EXPECT_EQ(admission_.judge(wish(0s, 30ms), at(0s)), Ruling::send);
}

// The network may have become slower or faster meanwhile. What is in flight may never be answered.
TEST_F(AdmissionTest, EveryFiveSecondsALoneRequestIsWaitedForButNotLong) {
  be_strict();
  const auto ruling = [&](std::chrono::nanoseconds time, bool idle) {
    admission_.on_timeout(at(time));
    last_ = admission_.on_sent(1, at(time));
    Admission::Wish next = wish(time, 9ms);
    next.idle = idle;
    return admission_.judge(next, at(time));
  };
  EXPECT_EQ(ruling(5s, false), Ruling::send);
  EXPECT_EQ(ruling(5'001ms, false), Ruling::hold);
  EXPECT_EQ(ruling(5'001ms, true), Ruling::send);
  EXPECT_EQ(ruling(5'002ms, false), Ruling::send);
  EXPECT_EQ(ruling(10'002ms, false), Ruling::send);
  EXPECT_EQ(ruling(10'003ms, false), Ruling::hold);
  admission_.on_answer(last_, 1, 1ms, at(10'003ms));
  admission_.on_answer(admission_.on_sent(1, at(10'003ms)), 1, 1ms, at(10'003ms));
  EXPECT_EQ(ruling(10'003ms, false), Ruling::send);
}

TEST_F(AdmissionTest, ARequestIsSentInAnyCaseIfNoneWasForAsLongAsItMayTake) {
  be_strict();
  send(1'000);
  EXPECT_EQ(admission_.judge(wish(7ms, 9ms), at(8ms)), Ruling::hold);
  EXPECT_EQ(admission_.judge(wish(7ms, 9ms), at(8'001us)), Ruling::send);
}

TEST_F(AdmissionTest, AServerThatHasNeverAnsweredIsAskedAsBefore) {
  send(1);
  admission_.on_timeout(at(10ms));
  EXPECT_EQ(admission_.judge(wish(10ms, 9ms), at(10ms)), Ruling::send);
}

}  // namespace
}  // namespace sheaf::node
