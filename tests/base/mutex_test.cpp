#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/read_clocks.h"

namespace sheaf::sync {
namespace {

using namespace std::chrono_literals;

TEST(Mutex, OneThreadAtATimeHoldsIt) {
  constexpr int threads = 4;
  constexpr int rounds = 20'000;
  Mutex mutex;
  long count = 0;
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        for (int round = 0; round < rounds; ++round) {
          const MutexLock lock(mutex);
          ++count;
        }
      });
    }
  }
  EXPECT_EQ(count, threads * rounds);
}

// Two threads pass one turn to and fro; a lost notification would hang the test.
TEST(CondVar, ANotifiedThreadSeesWhatWasChangedUnderTheMutex) {
  constexpr int rounds = 20'000;
  Mutex mutex;
  CondVar changed;
  int turn = 0;
  const auto play = [&](int own) {
    const MutexLock lock(mutex);
    while (turn < rounds) {
      while (turn % 2 != own && turn < rounds) changed.wait(mutex);
      ++turn;
      changed.notify_all();
    }
  };
  std::jthread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_GE(turn, rounds);
}

TEST(CondVar, AWaitEndsAtItsTimeAndNotBefore) {
  Mutex mutex;
  CondVar changed;
  const Deadline until = read_monotonic() + 5ms;
  const MutexLock lock(mutex);
  while (changed.wait_until(mutex, until)) {
  }
  EXPECT_GE(read_monotonic(), until);
  EXPECT_FALSE(changed.wait_until(mutex, until));
}

TEST(CondVar, AWaitWithoutEndIsEndedByANotification) {
  Mutex mutex;
  CondVar changed;
  bool done = false;
  std::jthread other([&] {
    const MutexLock lock(mutex);
    done = true;
    changed.notify_one();
  });
  const MutexLock lock(mutex);
  while (!done) EXPECT_TRUE(changed.wait_until(mutex, never));
}

}  // namespace
}  // namespace sheaf::sync
