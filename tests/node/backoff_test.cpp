#include "node/backoff.h"

#include <gtest/gtest.h>

#include "tests/node/now_at.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using Nanos = std::chrono::nanoseconds;

TEST(Backoff, EveryWaitLiesWithinASpanThatDoublesToItsLimit) {
  Random random(1);
  Backoff backoff;
  Nanos span = 50ms;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(backoff.span(), span);
    const Nanos now = 1s * i;
    const Deadline next = backoff.on_failed(at(now), random);
    EXPECT_GE(next, now);
    EXPECT_LT(next, now + span);
    span = std::min<Nanos>(2 * span, 5s);
  }
  EXPECT_EQ(backoff.span(), 5s);
}

TEST(Backoff, TheWholeSpanIsUsed) {
  Random random(2);
  int low = 0;
  int high = 0;
  for (int i = 0; i < 1000; ++i) {
    Backoff backoff;
    const Nanos wait = backoff.on_failed(at(0s), random);
    low += wait < 10ms;
    high += wait >= 40ms;
  }
  EXPECT_NEAR(low, 200, 60);
  EXPECT_NEAR(high, 200, 60);
}

TEST(Backoff, AConnectionThatLivedForAMomentDoesNotShrinkTheSpan) {
  Random random(3);
  Backoff backoff;
  Nanos now = 0s;
  Nanos last = backoff.span();
  for (int i = 0; i < 20; ++i) {
    backoff.on_ready(at(now));
    now += 9'999ms;
    backoff.on_failed(at(now), random);
    EXPECT_GE(backoff.span(), last);
    last = backoff.span();
  }
  EXPECT_EQ(last, 5s);
}

TEST(Backoff, AStableConnectionShrinksItWhenItEnds) {
  Random random(4);
  Backoff backoff;
  for (int i = 0; i < 10; ++i) backoff.on_failed(at(0s), random);
  backoff.on_ready(at(1s));
  EXPECT_EQ(backoff.span(), 5s) << "not before it has proved itself";
  EXPECT_LT(backoff.on_failed(at(11s), random), 11s + 50ms);
  EXPECT_EQ(backoff.span(), 100ms);
}

TEST(Backoff, TheFailuresAfterTheEndOfAStableConnectionMakeItGrowAgain) {
  Random random(6);
  Backoff backoff;
  backoff.on_ready(at(0s));
  Nanos now = 20s;
  for (int i = 0; i < 10; ++i) {
    backoff.on_failed(at(now), random);
    now += 1s;
  }
  EXPECT_EQ(backoff.span(), 5s);
}

TEST(Backoff, ResetForgetsTheFailures) {
  Random random(5);
  Backoff backoff;
  for (int i = 0; i < 10; ++i) backoff.on_failed(at(0s), random);
  backoff.reset();
  EXPECT_EQ(backoff.span(), 50ms);
}

}  // namespace
}  // namespace sheaf::node
