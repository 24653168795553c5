#include "node/health.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/node/now_at.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using Nanos = std::chrono::nanoseconds;

Seed seed_of(std::uint64_t number) { return Random(number).fork(); }

class HealthTest : public testing::Test {
 protected:
  void bring_up(Nanos time = 0ms) {
    health.on_ready(at(time));
    ASSERT_EQ(health.state(), NodeHealth::up);
  }
  void take_down(Nanos time) {
    health.on_connect_failed(time, false, at(time));
    ASSERT_EQ(health.state(), NodeHealth::down);
    ASSERT_EQ(health.next_action(at(time)), HealthAction::drop_pool);
  }
  // Waits for the next probe and starts it.
  Nanos start_probe() {
    const Nanos due = health.poll_deadline();
    EXPECT_EQ(health.next_action(at(due - 1ns)), HealthAction::none);
    EXPECT_EQ(health.next_action(at(due)), HealthAction::start_probe);
    return due;
  }
  // Answers every probe within a millisecond until the node is used again.
  Nanos recover() {
    Nanos now = 0ms;
    while (health.state() == NodeHealth::down) {
      now = start_probe() + 1ms;
      health.on_probe_result(true, false, at(now));
    }
    EXPECT_EQ(health.next_action(at(now)), HealthAction::connect_pool);
    return now;
  }
  Health health{seed_of(7)};
};

TEST_F(HealthTest, RequestsWaitUntilTheFirstConnectionIsReady) {
  EXPECT_EQ(health.state(), NodeHealth::connecting);
  EXPECT_TRUE(health.usable());
  EXPECT_EQ(health.next_action(at(5s)), HealthAction::none);
  EXPECT_EQ(health.poll_deadline(), never);
  health.on_ready(at(5s));
  EXPECT_EQ(health.state(), NodeHealth::up);
  EXPECT_EQ(health.since(), 5s);
}

TEST_F(HealthTest, ANodeThatIsDownIsAskedAtOnceWithAnotherLogin) {
  health.on_connect_failed(0ms, true, at(1ms));
  ASSERT_EQ(health.next_action(at(1ms)), HealthAction::drop_pool);
  EXPECT_GT(health.poll_deadline(), 1s) << "a refusal for good";
  health.on_new_login(at(100ms));
  EXPECT_EQ(health.next_action(at(100ms)), HealthAction::start_probe);
  health.on_probe_result(false, true, at(101ms));
  EXPECT_GT(health.poll_deadline(), 1s) << "that one is wrong, too";
}

TEST_F(HealthTest, AProbeThatIsOutWithTheLoginBeforeIsRepeatedAtOnceIfItFails) {
  take_down(1ms);
  const Nanos started = start_probe();
  health.on_new_login(at(started + 1ms));
  EXPECT_EQ(health.next_action(at(started + 1ms)), HealthAction::none) << "one at a time";
  health.on_probe_result(false, true, at(started + 2ms));
  EXPECT_EQ(health.next_action(at(started + 2ms)), HealthAction::start_probe);
  health.on_probe_result(false, true, at(started + 3ms));
  EXPECT_EQ(health.next_action(at(started + 3ms)), HealthAction::none) << "once";
}

TEST_F(HealthTest, AnotherLoginChangesNothingForANodeThatIsUp) {
  bring_up();
  health.on_new_login(at(1ms));
  EXPECT_EQ(health.next_action(at(1ms)), HealthAction::none);
  EXPECT_EQ(health.poll_deadline(), never);
}

TEST_F(HealthTest, ANodeWhoseNameIsTakenOverIsLeftAloneUntilThePauseIsOver) {
  bring_up();
  health.on_taken_over(2s, at(1s));
  EXPECT_EQ(health.state(), NodeHealth::down);
  EXPECT_EQ(health.next_action(at(1s)), HealthAction::drop_pool);
  EXPECT_EQ(health.poll_deadline(), 3s);
  health.on_new_login(at(2s));
  health.on_ready(at(2s));
  EXPECT_EQ(health.next_action(at(3s - 1ns)), HealthAction::none) << "no probe";
  EXPECT_EQ(health.next_action(at(3s)), HealthAction::connect_pool);
  EXPECT_EQ(health.state(), NodeHealth::recovering);
  EXPECT_EQ(health.probes(), 0u);
  health.on_ready(at(3s + 1ms));
  EXPECT_EQ(health.next_action(at(5s)), HealthAction::none);
  EXPECT_EQ(health.state(), NodeHealth::up);
}

TEST_F(HealthTest, ATakeoverOfANodeThatIsDownChangesNothing) {
  bring_up();
  take_down(1s);
  const Nanos probe = health.poll_deadline();
  health.on_taken_over(60s, at(1s));
  EXPECT_EQ(health.poll_deadline(), probe);
}

TEST_F(HealthTest, TheFirstRefusedConnectionTakesANewNodeDown) {
  health.on_connect_failed(0ms, false, at(1ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
  EXPECT_FALSE(health.usable());
  EXPECT_EQ(health.downs(), 1u);
}

TEST_F(HealthTest, ThreeSilentTimeoutsTakeTheNodeDown) {
  bring_up();
  health.on_timeout(1s, 0ms, false, at(2s));
  health.on_timeout(1s, 0ms, false, at(2s));
  EXPECT_EQ(health.state(), NodeHealth::up);
  health.on_timeout(1s, 0ms, false, at(2s));
  EXPECT_EQ(health.state(), NodeHealth::down);
}

TEST_F(HealthTest, AnAnswerBetweenTimeoutsStartsTheCountAgain) {
  bring_up();
  for (int round = 0; round < 10; ++round) {
    const Nanos now = 2s * (round + 1);
    health.on_timeout(now - 1s, 0ms, false, at(now));
    health.on_timeout(now - 1s, 0ms, false, at(now));
    health.on_answer(at(now + 1ms));
  }
  EXPECT_EQ(health.state(), NodeHealth::up);
}

TEST_F(HealthTest, ATimeoutAfterBytesOfTheSameConnectionDoesNotCount) {
  bring_up();
  for (int i = 0; i < 100; ++i) health.on_timeout(1s, 1s + 1ms, false, at(2s));
  EXPECT_EQ(health.state(), NodeHealth::up);
}

TEST_F(HealthTest, TimeoutsAfterAPauseOfOurOwnProcessDoNotCount) {
  bring_up();
  for (int i = 0; i < 100; ++i) health.on_timeout(1s, 0ms, true, at(5s));
  EXPECT_EQ(health.state(), NodeHealth::up);
}

TEST_F(HealthTest, ShortDeadlinesCountOnlyOnceTheSilenceHasLasted) {
  bring_up();
  Nanos now = 1s;
  for (; now - 1s < 240ms; now += 10ms) health.on_timeout(now, 0ms, false, at(now + 10ms));
  EXPECT_EQ(health.state(), NodeHealth::up);
  for (; now - 1s < 300ms; now += 10ms) health.on_timeout(now, 0ms, false, at(now + 10ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
}

TEST_F(HealthTest, AnAnswerEndsTheSilenceThatShortDeadlinesHaveToLast) {
  bring_up();
  health.on_timeout(1s, 0ms, false, at(1s + 10ms));
  health.on_answer(at(1s + 20ms));
  for (Nanos now = 60s; now - 60s < 240ms; now += 10ms) {
    health.on_timeout(now, 0ms, false, at(now + 10ms));
  }
  EXPECT_EQ(health.state(), NodeHealth::up);
}

// A server that needs 5 ms for callers that wait for 1 ms: each answer comes after its request has
// ended.
TEST_F(HealthTest, AnswersThatCameTooLateEndTheSilence) {
  bring_up();
  Nanos last_received = 0ms;
  for (Nanos sent = 1s; sent < 11s; sent += 100ms) {
    health.on_timeout(sent, last_received, false, at(sent + 1ms));
    ASSERT_EQ(health.state(), NodeHealth::up) << sent.count();
    last_received = sent + 5ms;
  }
}

TEST_F(HealthTest, ALateAnswerBeforeTheSilenceDoesNotEndIt) {
  bring_up();
  health.on_timeout(1s, 900ms, false, at(1001ms));
  health.on_timeout(2s, 900ms, false, at(2001ms));
  health.on_timeout(3s, 900ms, false, at(3001ms));
  EXPECT_EQ(health.state(), NodeHealth::up) << "the first one's silence was short";
  health.on_timeout(4s, 900ms, false, at(4001ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
}

TEST_F(HealthTest, AFailedExtraConnectionDoesNotCountWhileTheNodeAnswers) {
  bring_up();
  health.on_answer(at(1s + 1ms));
  health.on_connect_failed(1s, false, at(1s + 2ms));
  EXPECT_EQ(health.state(), NodeHealth::up);
  health.on_connect_failed(1s + 2ms, false, at(1s + 3ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
}

TEST_F(HealthTest, GoingDownDropsThePoolOnceAndAsksLater) {
  bring_up();
  take_down(1s);
  EXPECT_EQ(health.next_action(at(1s)), HealthAction::none);
  const Nanos first = start_probe();
  EXPECT_GE(first, 1s + 125ms);
  EXPECT_LE(first, 1s + 250ms);
  EXPECT_EQ(health.next_action(at(first + 10s)), HealthAction::none) << "one probe at a time";
  EXPECT_EQ(health.poll_deadline(), never);
}

TEST_F(HealthTest, ProbesAreSpacedFromStartToStart) {
  bring_up();
  take_down(1s);
  Nanos last = start_probe();
  for (int i = 0; i < 50; ++i) {
    health.on_probe_result(false, false, at(last + 2ms));
    const Nanos next = start_probe();
    EXPECT_GE(next - last, 250ms);
    EXPECT_LE(next - last, 500ms);
    last = next;
  }
  EXPECT_EQ(health.probes(), 51u);
}

TEST_F(HealthTest, AProbeThatHungIsFollowedByTheNextAtOnce) {
  bring_up();
  take_down(1s);
  const Nanos started = start_probe();
  const Nanos ended = started + health.probe_timeout();
  health.on_probe_result(false, false, at(ended));
  EXPECT_LE(health.poll_deadline(), ended);
  EXPECT_EQ(health.next_action(at(ended)), HealthAction::start_probe);
}

TEST_F(HealthTest, TheSecondGoodAnswerBringsTheNodeBack) {
  bring_up();
  take_down(1s);
  const Nanos first = start_probe();
  health.on_probe_result(true, false, at(first + 3ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
  const Nanos second = start_probe();
  EXPECT_EQ(second, first + 3ms + 100ms);
  health.on_probe_result(true, false, at(second + 3ms));
  EXPECT_EQ(health.state(), NodeHealth::recovering);
  EXPECT_EQ(health.next_action(at(second + 3ms)), HealthAction::connect_pool);
  EXPECT_EQ(health.next_action(at(second + 3ms)), HealthAction::none);
  const Nanos up = second + 3ms + 2s;
  EXPECT_EQ(health.poll_deadline(), up);
  EXPECT_EQ(health.next_action(at(up)), HealthAction::none);
  EXPECT_EQ(health.state(), NodeHealth::up);
}

TEST_F(HealthTest, ABadSecondAnswerStartsOver) {
  bring_up();
  take_down(1s);
  Nanos now = start_probe();
  health.on_probe_result(true, false, at(now + 1ms));
  now = start_probe();
  health.on_probe_result(false, false, at(now + 1ms));
  now = start_probe();
  health.on_probe_result(true, false, at(now + 1ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
  now = start_probe();
  health.on_probe_result(true, false, at(now + 1ms));
  EXPECT_EQ(health.state(), NodeHealth::recovering);
}

TEST_F(HealthTest, ANodeThatDoesNotTakeThePoolGoesDownAgain) {
  bring_up();
  take_down(1s);
  const Nanos now = recover();
  health.on_connect_failed(now, false, at(now + 500ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
  EXPECT_EQ(health.next_action(at(now + 500ms)), HealthAction::drop_pool);
}

TEST_F(HealthTest, WhatThePoolSaysWhileTheNodeIsDownIsIgnored) {
  bring_up();
  take_down(1s);
  health.on_answer(at(1s));
  health.on_ready(at(1s));
  health.on_connect_failed(1s, false, at(1s));
  health.on_timeout(0ms, 0ms, false, at(1s));
  health.on_probe_result(true, false, at(1s));  // belongs to no probe
  EXPECT_EQ(health.state(), NodeHealth::down);
  EXPECT_EQ(health.downs(), 1u);
}

TEST_F(HealthTest, AnEarlierAnswerDoesNotHideARefusedReconnectAfterRecovery) {
  bring_up();
  take_down(1s);
  const Nanos now = recover();
  health.on_ready(at(now + 1ms));
  health.on_connect_failed(now + 2ms, false, at(now + 3ms));
  EXPECT_EQ(health.state(), NodeHealth::down);
}

TEST_F(HealthTest, AFlappingNodeMustAnswerMoreOftenUntilItHasBeenStable) {
  bring_up();
  Nanos now = 1s;
  std::vector<std::uint64_t> probes;
  for (int flap = 0; flap < 6; ++flap) {
    take_down(now);
    const std::uint64_t before = health.probes();
    now = recover();
    probes.push_back(health.probes() - before);
    now += 1s;
  }
  EXPECT_EQ(probes, (std::vector<std::uint64_t>{2, 3, 4, 5, 5, 5}));
  take_down(now + 10s);
  const std::uint64_t before = health.probes();
  recover();
  EXPECT_EQ(health.probes() - before, 2u);
}

TEST_F(HealthTest, ANodeThatRefusesOurPasswordIsAskedRarely) {
  health.on_connect_failed(0ms, true, at(1ms));
  ASSERT_EQ(health.next_action(at(1ms)), HealthAction::drop_pool);
  Nanos last = start_probe();
  EXPECT_GE(last, 2500ms);
  for (int i = 0; i < 20; ++i) {
    health.on_probe_result(false, true, at(last + 5ms));
    const Nanos next = start_probe();
    EXPECT_GE(next - last, 2500ms);
    EXPECT_LE(next - last, 5s);
    last = next;
  }
}

// How a server fails, seen from a client.
enum class Outage { refuses, hangs, swallows };

// One outage in virtual time. Returns the time from the moment the server answers again to the
// first served request. `left` is how long the outage lasts after the client has noticed it.
Nanos time_to_first_success(Health& health, Outage kind, Nanos down_at, Nanos left, Nanos trip) {
  const Nanos back = down_at + left;
  health.on_connect_failed(down_at, false, at(down_at));
  EXPECT_EQ(health.next_action(at(down_at)), HealthAction::drop_pool);
  while (health.state() == NodeHealth::down) {
    const Nanos start = health.poll_deadline();
    EXPECT_EQ(health.next_action(at(start)), HealthAction::start_probe);
    // Connect, CONNECT, SUBSCRIBE, GET: four round trips.
    Nanos end = start + 4 * trip;
    bool good = start >= back;
    if (!good) {
      const Nanos limit = start + health.probe_timeout();
      switch (kind) {
        case Outage::refuses:
          end = start + trip;
          break;
        case Outage::hangs:  // the server answers its backlog when it resumes
          good = back + 3 * trip < limit;
          end = good ? back + 3 * trip : limit;
          break;
        case Outage::swallows:
          end = limit;
          break;
      }
    }
    health.on_probe_result(good, false, at(end));
    if (health.state() == NodeHealth::recovering) {
      EXPECT_EQ(health.next_action(at(end)), HealthAction::connect_pool);
      health.on_ready(at(end + 3 * trip));
      return end + 4 * trip - back;
    }
  }
  return never;
}

TEST(HealthRecovery, FirstSuccessComesWithinTheGoalAfterOutagesOfOneToThirtySeconds) {
  for (const Outage kind : {Outage::refuses, Outage::hangs, Outage::swallows}) {
    for (const Nanos trip : {Nanos(200us), Nanos(5ms)}) {
      Health health(seed_of(11));
      Random random(static_cast<std::uint64_t>(kind) * 1000 + 1);
      std::vector<Nanos> times;
      Nanos now = 1s;
      for (int i = 0; i < 1000; ++i) {
        const Nanos left = std::chrono::milliseconds(1000 + random.below(29'000));
        times.push_back(time_to_first_success(health, kind, now, left, trip));
        EXPECT_LE(times.back(), 1200ms) << "outage " << i << " of kind " << static_cast<int>(kind);
        // Up for a moment or for long: flapping must not miss the goal either.
        now += left + times.back() + std::chrono::milliseconds(random.below(20'000));
      }
      std::sort(times.begin(), times.end());
      EXPECT_LE(times[989], 1200ms);
      EXPECT_EQ(health.downs(), 1000u);
    }
  }
}

TEST(HealthRecovery, AHundredClientsDoNotProbeInStep) {
  std::vector<Nanos> starts;
  for (std::uint64_t client = 0; client < 100; ++client) {
    Health health(seed_of(client));
    health.on_connect_failed(0ms, false, at(0ms));
    EXPECT_EQ(health.next_action(at(0ms)), HealthAction::drop_pool);
    Nanos now = 0ms;
    while (now < 10s) {
      now = health.poll_deadline();
      EXPECT_EQ(health.next_action(at(now)), HealthAction::start_probe);
      starts.push_back(now);
      health.on_probe_result(false, false, at(now + 1ms));
    }
  }
  std::vector<int> windows(120, 0);
  int total = 0;
  for (const Nanos start : starts) {
    if (start < 5s || start >= 10s) continue;
    ++windows[static_cast<std::size_t>(start / 100ms)];
    ++total;
  }
  EXPECT_LE(*std::max_element(windows.begin(), windows.end()), 2 * total / 50);
}

}  // namespace
}  // namespace sheaf::node
