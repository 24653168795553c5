#include "base/yielding.h"

#include <gtest/gtest.h>

namespace sheaf {
namespace {

using namespace std::chrono_literals;

TEST(Yielding, PaysWhileOthersSoonSleep) {
  Yielding yielding;
  for (Deadline now = 1s; now < 2s; now += 300us) {
    EXPECT_TRUE(yielding.pays(now));
    yielding.yielded(now, now + 250us);
  }
}

TEST(Yielding, PausesAfterAnotherThreadComputed) {
  Yielding yielding;
  yielding.yielded(1s, 1s + 4ms);
  EXPECT_FALSE(yielding.pays(1s + 4ms));
  EXPECT_FALSE(yielding.pays(1s + 19ms));
  EXPECT_TRUE(yielding.pays(1s + 20ms));
}

TEST(Yielding, CostsAFewPercentOfTheTimeOnABusyMachine) {
  Yielding yielding;
  Deadline lost{0};
  for (Deadline now = 1s; now < 11s; now += 100us) {
    if (!yielding.pays(now)) continue;
    yielding.yielded(now, now + 4ms);
    now += 4ms;
    lost += 4ms;
  }
  EXPECT_LT(lost, 600ms);
}

TEST(Yielding, ForgetsABusyTimeThatIsOver) {
  Yielding yielding;
  Deadline now = 1s;
  for (int i = 0; i < 10; ++i) {
    while (!yielding.pays(now)) now += 1ms;
    yielding.yielded(now, now + 4ms);
    now += 4ms;
  }
  EXPECT_FALSE(yielding.pays(now + 63ms));
  now += 64ms + 65ms;
  yielding.yielded(now, now + 4ms);
  EXPECT_FALSE(yielding.pays(now + 19ms));
  EXPECT_TRUE(yielding.pays(now + 20ms));
}

TEST(Yielding, PaysOnlyToFindOutWhileOtherProcessesCompete) {
  Yielding yielding;
  for (int i = 0; i < 2; ++i) yielding.contention().yielded(4ms, 0ms);
  EXPECT_TRUE(yielding.pays(1s));
  EXPECT_TRUE(yielding.contention().begin(1s));
  EXPECT_FALSE(yielding.pays(1s + 99ms));
  EXPECT_TRUE(yielding.pays(1s + 100ms));
  for (int i = 0; i < 7; ++i) yielding.contention().yielded(20us, 0ms);
  EXPECT_TRUE(yielding.pays(1s + 1ms));
}

}  // namespace
}  // namespace sheaf
