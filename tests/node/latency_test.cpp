#include "node/latency.h"

#include <gtest/gtest.h>

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

Now past_start(std::chrono::nanoseconds time) { return {100s + time, {}}; }

TEST(Latency, ANodeThatHasNeverAnsweredIsExpectedToBeFast) {
  const Latency latency;
  EXPECT_EQ(latency.mean(), 0ns);
  EXPECT_EQ(latency.expected(0, past_start(0s)), 0ns);
  EXPECT_EQ(latency.expected(1'000, past_start(0s)), 0ns);
}

TEST(Latency, TheMeanFollowsAnswersByAnEighth) {
  Latency latency;
  latency.on_answer(8ms, past_start(0s));
  EXPECT_EQ(latency.mean(), 8ms);
  latency.on_answer(16ms, past_start(1ms));
  EXPECT_EQ(latency.mean(), 9ms);
  latency.on_answer(1ms, past_start(2ms));
  EXPECT_EQ(latency.mean(), 8ms);
}

TEST(Latency, WhatIsInFlightIsWaitedFor) {
  Latency latency;
  latency.on_answer(2ms, past_start(0s));
  EXPECT_EQ(latency.expected(0, past_start(1ms)), 2ms);
  EXPECT_EQ(latency.expected(4, past_start(1ms)), 10ms);
}

TEST(Latency, ANodeThatWasSlowIsTriedAgainAfterAWhile) {
  Latency latency;
  latency.on_answer(64ms, past_start(0s));
  EXPECT_EQ(latency.expected(0, past_start(999ms)), 64ms);
  EXPECT_EQ(latency.expected(0, past_start(1s)), 32ms);
  EXPECT_EQ(latency.expected(0, past_start(6s)), 1ms);
  EXPECT_EQ(latency.mean(), 64ms);
  latency.on_answer(64ms, past_start(6s));
  EXPECT_EQ(latency.expected(0, past_start(6s)), 64ms);
}

// With one slow answer a replica was asked once in several seconds for minutes, because each quick
// answer took only an eighth off.
TEST(Latency, OneQuickAnswerAfterSilenceEndsTheEffectOfASlowOne) {
  Latency latency;
  latency.on_answer(64ms, past_start(0s));
  latency.on_answer(1ms, past_start(8s));
  EXPECT_LT(latency.mean(), 1300us);
  EXPECT_GE(latency.mean(), 1ms);
  latency.on_answer(65ms, past_start(8s));
  EXPECT_LT(latency.mean(), 10ms) << "without silence an eighth counts";
}

TEST(Latency, ARequestThatWasGivenUpCountsUntilTheNextAnswer) {
  Latency latency;
  latency.on_answer(1ms, past_start(0s));
  latency.on_timeout(100ms, past_start(1s));
  latency.on_timeout(64ms, past_start(1s));
  EXPECT_EQ(latency.expected(0, past_start(1s)), 100ms);
  EXPECT_EQ(latency.expected(0, past_start(2s)), 50ms);
  EXPECT_EQ(latency.mean(), 1ms);
  latency.on_answer(1ms, past_start(2s));
  EXPECT_EQ(latency.expected(0, past_start(2s)), 1ms);
}

TEST(Latency, ExtremesDoNotOverflow) {
  Latency latency;
  latency.on_answer(24h, past_start(0s));
  EXPECT_GT(latency.expected(std::uint64_t{1} << 40, past_start(0s)), 24h);
  EXPECT_GE(latency.expected(0, past_start(24h * 365)), 0ns);
  EXPECT_EQ(latency.expected(0, past_start(-1s)),
            24h);  // its own clock has not been read again yet
}

}  // namespace
}  // namespace sheaf::node
