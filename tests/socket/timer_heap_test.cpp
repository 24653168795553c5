#include "socket/timer_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/random.h"

namespace sheaf::socket {
namespace {

using std::chrono::milliseconds;

struct Recorder final : TimerSink {
  std::function<void(Now)> action;
  int fired = 0;
  void on_timer(Now now) override {
    ++fired;
    if (action) action(now);
  }
};

Now at(int ms) { return {milliseconds(ms), {}}; }

TEST(TimerHeap, FiresDueTimersOldestFirstAndKeepsTheRest) {
  TimerHeap heap;
  std::vector<int> order;
  std::vector<Recorder> sinks(50);
  std::vector<std::unique_ptr<Timer>> timers;
  Random random(7);
  std::vector<int> due;
  for (int i = 0; i < 50; ++i) {
    const int when = static_cast<int>(random.below(1000));
    due.push_back(when);
    sinks[i].action = [&order, when](Now) { order.push_back(when); };
    timers.push_back(heap.make(sinks[i]));
    timers.back()->set(milliseconds(when));
  }
  heap.fire(at(500));
  std::sort(due.begin(), due.end());
  const auto later = std::upper_bound(due.begin(), due.end(), 500);
  EXPECT_EQ(order, std::vector<int>(due.begin(), later));
  EXPECT_EQ(heap.earliest(), milliseconds(*later));
}

TEST(TimerHeap, CancelledAndDestroyedTimersDoNotFire) {
  TimerHeap heap;
  Recorder one, two, three;
  auto a = heap.make(one), b = heap.make(two), c = heap.make(three);
  a->set(milliseconds(1)), b->set(milliseconds(2)), c->set(milliseconds(3));
  a->cancel();
  b.reset();
  heap.fire(at(10));
  EXPECT_EQ(one.fired, 0);
  EXPECT_EQ(two.fired, 0);
  EXPECT_EQ(three.fired, 1);
  EXPECT_EQ(heap.earliest(), never);
}

TEST(TimerHeap, ATimerSetAgainWhileItFiresWaitsForTheNextRound) {
  TimerHeap heap;
  Recorder sink;
  auto timer = heap.make(sink);
  sink.action = [&](Now) { timer->set(milliseconds(1)); };
  timer->set(milliseconds(1));
  heap.fire(at(10));
  EXPECT_EQ(sink.fired, 1);
  heap.fire(at(10));
  EXPECT_EQ(sink.fired, 2);
}

TEST(TimerHeap, ASinkMayDestroyAnotherDueTimer) {
  TimerHeap heap;
  Recorder first, second;
  auto a = heap.make(first), b = heap.make(second);
  a->set(milliseconds(1)), b->set(milliseconds(2));
  first.action = [&](Now) { b.reset(); };
  heap.fire(at(10));
  EXPECT_EQ(second.fired, 0);
}

TEST(TimerHeap, SettingATimerAgainReplacesItsDeadline) {
  TimerHeap heap;
  Recorder sink;
  auto timer = heap.make(sink);
  timer->set(milliseconds(5));
  timer->set(milliseconds(50));
  heap.fire(at(10));
  EXPECT_EQ(sink.fired, 0);
  timer->set(milliseconds(8));
  heap.fire(at(10));
  EXPECT_EQ(sink.fired, 1);
}

}  // namespace
}  // namespace sheaf::socket
