#include "tests/sim/kit/sim_loop.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

struct Alarm final : socket::TimerSink {
  std::vector<Now> fired;
  std::string* log = nullptr;
  void on_timer(Now now) override {
    fired.push_back(now);
    if (log != nullptr) log->append("timer ");
  }
};

struct Chore final : socket::Deferred {
  SimLoop* loop = nullptr;
  int again = 0;
  int runs = 0;
  std::string* log = nullptr;
  void run_deferred(Now) override {
    ++runs;
    if (log != nullptr) log->append("deferred ");
    if (again-- > 0) loop->defer(*this);
  }
};

class SimLoopTest : public testing::Test {
 protected:
  SimWorld world{1};
  SimLoop loop{world};
  const Deadline start = loop.now().mono;
};

TEST_F(SimLoopTest, ATurnJumpsToTheNextTimer) {
  Alarm alarm;
  auto timer = loop.timer(alarm);
  timer->set(start + 7s);
  loop.turn(never);
  ASSERT_EQ(alarm.fired.size(), 1u);
  EXPECT_EQ(alarm.fired[0].mono, start + 7s);
  EXPECT_EQ(loop.now().mono, start + 7s);
  EXPECT_EQ(loop.lateness(), 0ns);
}

TEST_F(SimLoopTest, ATurnEndsAtItsLimit) {
  Alarm alarm;
  auto timer = loop.timer(alarm);
  timer->set(start + 7s);
  loop.turn(start + 2s);
  EXPECT_EQ(loop.now().mono, start + 2s);
  EXPECT_TRUE(alarm.fired.empty());
  loop.turn(start);
  EXPECT_EQ(loop.now().mono, start + 2s) << "time never goes back";
}

TEST_F(SimLoopTest, ATurnWithNothingToComeDoesNotHang) {
  loop.turn(never);
  EXPECT_EQ(loop.now().mono, start);
}

TEST_F(SimLoopTest, WakeEndsTheNextWait) {
  loop.wake();
  loop.turn(start + 5s);
  EXPECT_EQ(loop.now().mono, start);
  loop.turn(start + 5s);
  EXPECT_EQ(loop.now().mono, start + 5s);
}

TEST_F(SimLoopTest, WakeFromTheWorldEndsTheWaitInProgress) {
  world.after(1s, [&](Now) { loop.wake(); });
  loop.turn(start + 5s);
  EXPECT_EQ(loop.now().mono, start + 1s);
}

TEST_F(SimLoopTest, WhatArrivedIsReadBeforeTimersFire) {
  std::string log;
  Alarm alarm;
  alarm.log = &log;
  Chore chore;
  chore.log = &log;
  auto timer = loop.timer(alarm);
  timer->set(start + 1s);
  loop.deliver(start + 1s, [&](Now) { log += "read "; });
  loop.deliver(start + 1s, [&](Now) {
    log += "read ";
    loop.defer(chore);
  });
  loop.turn(never);
  EXPECT_EQ(log, "read read timer deferred ");
}

TEST_F(SimLoopTest, DeferredWorkRunsBeforeTheWaitAndMayAskAgain) {
  Chore chore;
  chore.loop = &loop;
  chore.again = 3;
  loop.defer(chore);
  loop.defer(chore);
  loop.turn(start + 1s);
  EXPECT_EQ(chore.runs, 4);
  loop.defer(chore);
  loop.forget(chore);
  loop.turn(start + 2s);
  EXPECT_EQ(chore.runs, 4);
}

TEST_F(SimLoopTest, APausedProcessFindsItsRepliesBeforeItsLateTimers) {
  std::string log;
  Alarm alarm;
  alarm.log = &log;
  auto timer = loop.timer(alarm);
  timer->set(start + 1s);
  world.at(start + 2s, [&](Now now) {
    EXPECT_EQ(now.mono, start + 2s) << "the world goes on while the client is stopped";
    loop.deliver(now.mono, [&](Now) { log += "read "; });
  });
  loop.pause(3s);
  loop.turn(never);
  EXPECT_EQ(log, "read timer ");
  EXPECT_EQ(loop.now().mono, start + 4s);
  EXPECT_EQ(loop.lateness(), 3s);
  loop.turn(start + 5s);
  EXPECT_EQ(loop.lateness(), 0ns);
}

TEST_F(SimLoopTest, WallClocksStepWhileTheMonotonicOneGoesOn) {
  SimLoop other(world);
  const auto wall = loop.now().wall;
  world.step_wall(-1h);
  other.set_wall_offset(90s);
  loop.turn(start + 1s);
  other.turn(start + 1s);
  EXPECT_EQ(loop.now().wall, wall - 1h + 1s);
  EXPECT_EQ(other.now().wall, wall - 1h + 1s + 90s);
  EXPECT_EQ(loop.now().mono, start + 1s);
}

TEST_F(SimLoopTest, TheWorldTurnsEachLoopAtItsOwnTime) {
  SimLoop other(world);
  Alarm first, second;
  auto one = loop.timer(first);
  auto two = other.timer(second);
  one->set(start + 3s);
  two->set(start + 1s);
  EXPECT_TRUE(world.run(never, [&] { return !first.fired.empty(); }));
  ASSERT_EQ(second.fired.size(), 1u);
  EXPECT_EQ(second.fired[0].mono, start + 1s);
  EXPECT_EQ(other.lateness(), 0ns);
  EXPECT_EQ(first.fired[0].mono, start + 3s);
}

TEST_F(SimLoopTest, TheWorldStopsAtItsLimitOrWhenNothingCanHappen) {
  EXPECT_FALSE(world.run(never, [] { return false; }));
  Alarm alarm;
  auto timer = loop.timer(alarm);
  timer->set(start + 10s);
  EXPECT_FALSE(world.run(start + 10s - 1ns, [&] { return !alarm.fired.empty(); }));
  EXPECT_EQ(world.now().mono, start + 10s - 1ns);
  EXPECT_TRUE(world.run(start + 10s, [&] { return !alarm.fired.empty(); }));
}

TEST(Agenda, KeepsTheOrderOfTimeThenOfAsking) {
  Agenda agenda;
  std::string log;
  agenda.add(2s, [&](Now) { log += 'c'; });
  agenda.add(1s, [&](Now) { log += 'a'; });
  agenda.add(1s, [&](Now) { log += 'b'; });
  agenda.add(2s, [&](Now) { log += 'd'; });
  Agenda::Work work;
  while (agenda.take(2s, agenda.mark(), work)) work({});
  EXPECT_EQ(log, "abcd");
}

}  // namespace
}  // namespace sheaf::sim
