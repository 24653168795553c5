#include "node/pool_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "tests/node/now_at.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using Nanos = std::chrono::nanoseconds;

SocketFacts idle(Nanos since) { return {.ready = true, .idle_since = since, .room = 512}; }
SocketFacts busy(Nanos since, unsigned in_flight, std::size_t room) {
  return {.ready = true, .busy_since = since, .in_flight = in_flight, .room = room};
}
SocketFacts connecting() { return {}; }

class PoolPlanTest : public testing::Test {
 protected:
  void make(std::vector<SocketFacts> sockets, std::size_t waiting, Nanos now) {
    plan_pool(sockets, bounds, waiting, at(now), plan);
    ASSERT_EQ(plan.verdicts.size(), sockets.size());
  }
  PoolBounds bounds{.min = 2, .max = 4, .idle_timeout = 60s, .busy_timeout = 30s};
  PoolPlan plan;
};

// N5
TEST_F(PoolPlanTest, AnEmptyPoolIsFilledToItsLowerBoundAtOnce) {
  make({}, 0, 0s);
  EXPECT_EQ(plan.create, 2u);
}

TEST_F(PoolPlanTest, ConnectingSocketsCountTowardsTheLowerBound) {
  make({connecting(), connecting()}, 0, 0s);
  EXPECT_EQ(plan.create, 0u);
  make({connecting()}, 0, 0s);
  EXPECT_EQ(plan.create, 1u);
}

// N3
TEST_F(PoolPlanTest, SocketsIdleTooLongGoDownToTheLowerBoundLongestIdleFirst) {
  make({idle(10s), idle(5s), idle(20s), idle(7s)}, 0, 100s);
  using enum Verdict;
  EXPECT_EQ(plan.verdicts, (std::vector{keep, close_idle, keep, close_idle}));
  EXPECT_EQ(plan.create, 0u);
}

TEST_F(PoolPlanTest, IdleSocketsStayUntilTheirTime) {
  make({idle(0s), idle(1s), idle(2s)}, 0, 59s);
  EXPECT_EQ(std::ranges::count(plan.verdicts, Verdict::keep), 3);
  EXPECT_EQ(plan.next, 60s);
}

// It finishes the requests in flight on it.
TEST_F(PoolPlanTest, ARetiredSocketIsNeitherIdleNorOneOfThoseThereAre) {
  SocketFacts retired = busy(90s, 1, 100);
  retired.retired = true;
  make({retired, idle(90s)}, 0, 100s);
  EXPECT_EQ(plan.create, 1u) << "in its place";
  make({retired, retired, retired, retired}, 0, 100s);
  EXPECT_EQ(plan.create, 2u);
  bounds.min = 0;
  make({retired}, 1, 100s);
  EXPECT_EQ(plan.create, 1u) << "its room is for nobody";
  make({retired}, 0, 200s);
  EXPECT_EQ(plan.verdicts.front(), Verdict::end_busy);
  retired = idle(0s);
  retired.retired = true;
  make({retired, retired}, 0, 100s);
  EXPECT_EQ(std::ranges::count(plan.verdicts, Verdict::keep), 2) << "they close by themselves";
}

// It may catch up until nothing has come for 250 ms.
TEST_F(PoolPlanTest, ASocketThatOwesLateRepliesIsNoneOfThoseThereAre) {
  bounds.min = bounds.max = 1;
  SocketFacts behind = idle(100ms);
  behind.silent_since = 100ms;
  make({behind}, 0, 150ms);
  EXPECT_EQ(plan.verdicts.front(), Verdict::keep);
  EXPECT_EQ(plan.create, 1u) << "in its place, at once";
  EXPECT_EQ(plan.next, 350ms);
  make({behind, connecting()}, 1, 349ms);
  EXPECT_EQ(plan.create, 0u);
  EXPECT_EQ(std::ranges::count(plan.verdicts, Verdict::keep), 2);
  make({behind, connecting()}, 1, 350ms);
  EXPECT_EQ(plan.verdicts.front(), Verdict::end_silent);
  behind.leases = 1;
  make({behind, connecting()}, 1, 350ms);
  EXPECT_EQ(plan.verdicts.front(), Verdict::keep) << "what is bound to it has its own deadline";
  bounds.min = 0;
  make({behind}, 0, 150ms);
  EXPECT_EQ(plan.create, 0u) << "nothing waits";
  make({behind}, 1, 150ms);
  EXPECT_EQ(plan.create, 1u);
}

TEST_F(PoolPlanTest, WhatConnectsInThePlaceOfASocketThatHasCaughtUpIsClosed) {
  bounds.min = bounds.max = 1;
  make({idle(100ms), connecting()}, 1, 150ms);
  EXPECT_EQ(plan.verdicts, (std::vector{Verdict::keep, Verdict::close_idle}));
  EXPECT_EQ(plan.create, 0u);
  bounds.max = 2;
  make({idle(100ms), connecting()}, 1, 150ms);
  EXPECT_EQ(plan.verdicts, (std::vector{Verdict::keep, Verdict::keep})) << "there may be two";
}

TEST_F(PoolPlanTest, LentAndBusySocketsAreNotIdle) {
  SocketFacts lent = idle(0s);
  lent.leases = 1;
  make({lent, busy(99s, 1, 10), idle(0s), idle(1s)}, 0, 100s);
  using enum Verdict;
  EXPECT_EQ(plan.verdicts, (std::vector{keep, keep, close_idle, close_idle}));
}

TEST_F(PoolPlanTest, ASocketStillConnectingDoesNotReplaceAnIdleOne) {
  make({idle(0s), idle(1s), connecting()}, 0, 100s);
  EXPECT_EQ(std::ranges::count(plan.verdicts, Verdict::keep), 3);
}

// N4
TEST_F(PoolPlanTest, ASocketWhoseOldestRequestIsTooOldIsEndedAndReplaced) {
  make({busy(10s, 5, 100), busy(10s + 1ns, 1, 100)}, 0, 40s);
  EXPECT_EQ(plan.verdicts[0], Verdict::end_busy);
  EXPECT_EQ(plan.verdicts[1], Verdict::keep);
  EXPECT_EQ(plan.create, 1u);
  EXPECT_EQ(plan.next, 40s + 1ns);
}

TEST_F(PoolPlanTest, WaitingRequestsGrowThePoolOneSocketAtATime) {
  const auto full = busy(0s, 512, 0);
  make({full, full}, 9, 1s);
  EXPECT_EQ(plan.create, 1u);
  make({full, full, connecting()}, 9, 1s);
  EXPECT_EQ(plan.create, 0u) << "help is on its way";
  make({full, full, full, full}, 9, 1s);
  EXPECT_EQ(plan.create, 0u) << "never above the upper bound";
}

TEST_F(PoolPlanTest, RequestsThatAnybodyCanServeDoNotGrowThePool) {
  make({busy(0s, 512, 0), busy(0s, 3, 509)}, 9, 1s);
  EXPECT_EQ(plan.create, 0u);
}

TEST_F(PoolPlanTest, APoolThatMayBeEmptyOpensWhenSomebodyWaits) {
  bounds.min = 0;
  make({}, 0, 0s);
  EXPECT_EQ(plan.create, 0u);
  make({}, 1, 0s);
  EXPECT_EQ(plan.create, 1u);
  make({idle(0s)}, 0, 61s);
  EXPECT_EQ(plan.verdicts[0], Verdict::close_idle);
}

TEST(PoolPlanProperty, HoldsItsBoundsForAnyPool) {
  Random random(5);
  PoolPlan plan;
  for (int round = 0; round < 100'000; ++round) {
    PoolBounds bounds{.min = static_cast<unsigned>(random.below(5)),
                      .max = 0,
                      .idle_timeout = 60s,
                      .busy_timeout = 30s};
    bounds.max = std::max(1u, bounds.min + static_cast<unsigned>(random.below(5)));
    std::vector<SocketFacts> sockets(random.below(bounds.max + 1));
    for (SocketFacts& socket : sockets) {
      const Nanos since = std::chrono::milliseconds(random.below(100'000));
      const unsigned kind = static_cast<unsigned>(random.below(3));
      socket = kind == 0 ? connecting() : kind == 1 ? idle(since) : busy(since, 3, random.below(2));
    }
    const Nanos now = 100s;
    const std::size_t waiting = random.below(3);
    plan_pool(sockets, bounds, waiting, at(now), plan);
    unsigned kept = 0, kept_ready = 0, closed = 0;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      kept += plan.verdicts[i] == Verdict::keep;
      kept_ready += plan.verdicts[i] == Verdict::keep && sockets[i].ready;
      closed += plan.verdicts[i] == Verdict::close_idle;
      if (plan.verdicts[i] == Verdict::close_idle) {
        ASSERT_GE(now - sockets[i].idle_since, 60s);
      }
      ASSERT_EQ(plan.verdicts[i] == Verdict::end_busy,
                now - sockets[i].busy_since >= 30s && sockets[i].busy_since != never);
    }
    ASSERT_LE(kept + plan.create, bounds.max);
    ASSERT_GE(kept + plan.create, bounds.min);
    if (closed > 0) {
      ASSERT_GE(kept_ready, bounds.min);
    }
    ASSERT_GT(plan.next, now);
  }
}

}  // namespace
}  // namespace sheaf::node
