#include "base/parker.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace sheaf {
namespace {

using namespace std::chrono_literals;

TEST(Parker, APermitThatIsThereIsTakenWithoutASleep) {
  Parker parker;
  parker.unpark();
  parker.unpark();  // still one permit
  parker.park();
  EXPECT_FALSE(parker.park_for(1ms));
}

TEST(Parker, WithoutAPermitTheTimePasses) {
  Parker parker;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(parker.park_for(5ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 5ms);
  parker.unpark();
  EXPECT_TRUE(parker.park_for(0ms)) << "the permit came late, and counts";
}

TEST(Parker, APermitIsSeenWithoutBeingTaken) {
  Parker parker;
  EXPECT_FALSE(parker.unparked());
  parker.unpark();
  EXPECT_TRUE(parker.unparked());
  EXPECT_TRUE(parker.park_for(0ms));
  EXPECT_FALSE(parker.unparked());
}

// Whatever comes first, the permit, the yields or the sleep: no thread sleeps too long, and a
// released thread may be gone.
TEST(Parker, EachPermitLetsOneSleeperGo) {
  constexpr int rounds = 20'000;
  Parker back;
  std::atomic<Parker*> waiting = nullptr;
  std::jthread waker([&] {
    for (int i = 0; i < rounds; ++i) {
      Parker* parker = nullptr;
      while ((parker = waiting.exchange(nullptr)) == nullptr) std::this_thread::yield();
      parker->unpark();
      if (i % 3 == 0) back.park();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    const auto parker = std::make_unique<Parker>();
    waiting = parker.get();
    for (int j = i % 5; j > 0 && !parker->unparked(); --j) std::this_thread::yield();
    if (i % 7 == 0) {
      while (!parker->park_for(50us)) {
      }
    } else {
      parker->park();
    }
    if (i % 3 == 0) back.unpark();
  }
}

}  // namespace
}  // namespace sheaf
