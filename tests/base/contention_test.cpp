#include "base/contention.h"

#include <gtest/gtest.h>

namespace sheaf {
namespace {

using namespace std::chrono_literals;

TEST(Contention, IsFoundWhenTwoOfTheLastEightYieldsTookLong) {
  Contention contention;
  contention.yielded(4ms, 1ms);
  EXPECT_FALSE(contention.found());
  for (int i = 0; i < 6; ++i) contention.yielded(20us, 20us);
  contention.yielded(3ms, 0ms);
  EXPECT_TRUE(contention.found());
  contention.yielded(20us, 0us);
  EXPECT_FALSE(contention.found());
}

TEST(Contention, IsNotFoundWhereThisProcessComputed) {
  Contention contention;
  for (int i = 0; i < 8; ++i) contention.yielded(4ms, 3'500us);
  EXPECT_FALSE(contention.found());
  for (int i = 0; i < 8; ++i) contention.yielded(4ms, 8ms);  // on two processors
  EXPECT_FALSE(contention.found());
}

TEST(Contention, IsLookedForByOneThreadNowAndThen) {
  Contention contention;
  EXPECT_TRUE(contention.begin(1s));
  EXPECT_FALSE(contention.begin(1s));
  EXPECT_FALSE(contention.due(1s + 9ms));
  EXPECT_TRUE(contention.begin(1s + 10ms));
}

TEST(Contention, IsLookedForLessOftenOnceItIsFound) {
  Contention contention;
  for (int i = 0; i < 2; ++i) contention.yielded(4ms, 0ms);
  EXPECT_TRUE(contention.begin(1s));
  EXPECT_FALSE(contention.begin(1s + 99ms));
  EXPECT_TRUE(contention.begin(1s + 100ms));
}

}  // namespace
}  // namespace sheaf
