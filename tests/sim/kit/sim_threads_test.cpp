#include "tests/sim/kit/sim_threads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "base/mutex.h"
#include "base/parker.h"
#include "base/quiet_thread.h"
#include "base/read_clocks.h"
#include "base/this_thread.h"
#include "tests/support/sanitized.h"

#ifdef SHEAF_TEST_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// What the threads of a run share. A run that ends with a finding keeps it.
struct Shared {
  explicit Shared(std::uint64_t seed) : world(seed) {}
  SimWorld world;
  sync::Mutex one;
  sync::Mutex two;
  sync::CondVar changed;
  Parker parker;
  std::string text;
};
using State = std::shared_ptr<Shared>;

std::string run(std::uint64_t seed, const State& state, const std::function<void(Shared&)>& main) {
  return SimThreads::run(state->world, seed, [state, main] { main(*state); });
}

// Runs `work` for each name on its own thread.
void run_each(std::string_view names, const std::function<void(char)>& work) {
  std::vector<QuietThread> threads;
  for (const char name : names) threads.emplace_back("thread", [&work, name] { work(name); });
  for (QuietThread& thread : threads) thread.join();
}

TEST(SimThreads, EveryOrderOfThreeThreadsTurnsUp) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto state = std::make_shared<Shared>(seed);
    ASSERT_EQ(run(seed, state,
                  [](Shared& shared) {
                    run_each("abc", [&](char name) {
                      const sync::MutexLock lock(shared.one);
                      shared.text += name;
                    });
                  }),
              "");
    orders.insert(state->text);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(SimThreads, NobodyGoesBetweenALockAndItsUnlock) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto state = std::make_shared<Shared>(seed);
    ASSERT_EQ(run(seed, state,
                  [](Shared& shared) {
                    run_each("abc", [&](char name) {
                      const sync::MutexLock lock(shared.one);
                      shared.text += name;
                      yield_processor();
                      shared.text += name;
                    });
                  }),
              "");
    ASSERT_TRUE(state->text[0] == state->text[1] && state->text[2] == state->text[3]) << seed;
  }
}

// Two mutexes taken in two orders deadlock in some schedules only.
TEST(SimThreads, ADeadlockIsAFindingOfTheSeedsThatMeetIt) {
  unsigned found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto state = std::make_shared<Shared>(seed);
    const std::string finding = run(seed, state, [](Shared& shared) {
      run_each("ab", [&](char name) {
        const sync::MutexLock first(name == 'a' ? shared.one : shared.two);
        const sync::MutexLock second(name == 'a' ? shared.two : shared.one);
      });
    });
    if (finding.empty()) continue;
    ++found;
    ASSERT_TRUE(finding.starts_with("all threads wait for ever")) << finding;
    ASSERT_NE(finding.find("waits for a mutex"), std::string::npos) << finding;
  }
  EXPECT_GT(found, 5u);
  EXPECT_LT(found, 95u);
}

TEST(SimThreads, WhoeverIsNeverWokenIsFound) {
  const auto state = std::make_shared<Shared>(1);
  const std::string finding = run(1, state, [](Shared& shared) { shared.parker.park(); });
  EXPECT_NE(finding.find("0 main waits for a permit"), std::string::npos) << finding;
}

TEST(SimThreads, ARunThatGoesOnForEverIsEnded) {
  const auto state = std::make_shared<Shared>(1);
  const std::string finding = run(1, state, [](Shared&) {
    for (;;) yield_processor();
  });
  EXPECT_TRUE(finding.starts_with("no end after 1000000 points")) << finding;
}

TEST(SimThreads, AFailureSaysWhichThreadFailed) {
  const auto state = std::make_shared<Shared>(1);
  const std::string finding = run(1, state, [](Shared&) {
    QuietThread thread("second", [] { SimThreads::current()->fail("it is wrong"); });
    thread.join();
  });
  EXPECT_TRUE(finding.starts_with("in second: it is wrong\n")) << finding;
}

TEST(SimThreads, EachHasItsOwnState) {
  std::set<const ThisThread*> seen{&this_thread()};
  const auto state = std::make_shared<Shared>(1);
  EXPECT_EQ(run(1, state,
                [&](Shared&) {
                  run_each("abc", [&](char) {
                    seen.insert(&this_thread());
                    EXPECT_FALSE(this_thread().drives_lane);
                    this_thread().drives_lane = true;
                    yield_processor();
                    EXPECT_TRUE(seen.contains(&this_thread()));
                  });
                  EXPECT_FALSE(this_thread().drives_lane);
                }),
            "");
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_FALSE(this_thread().drives_lane);
}

#ifdef SHEAF_TEST_ASAN
// Hangs a run whose stack refers to a hundred objects or, if `keeps` is false, no longer does.
// Returns false if it leaked some.
bool hangs_without_leak(bool keeps) {
  const auto state = std::make_shared<Shared>(1);
  const std::string finding = run(1, state, [keeps](Shared& shared) {
    QuietThread thread("holder", [&shared, keeps] {
      std::vector<std::unique_ptr<std::string>> held;
      for (int i = 0; i < 100; ++i) {
        auto made = std::make_unique<std::string>(100, 'x');
        keeps ? held.push_back(std::move(made)) : static_cast<void>(made.release());
      }
      shared.parker.park();
    });
    thread.join();
  });
  EXPECT_TRUE(finding.starts_with("all threads wait for ever")) << finding;
  return __lsan_do_recoverable_leak_check() == 0;
}

TEST(SimThreads, WhatAThreadThatHangsUsesIsNoLeak) { EXPECT_TRUE(hangs_without_leak(true)); }

TEST(SimThreadsDeathTest, ALeakIsFoundThoughItsRunHangs) {
  EXPECT_EXIT(_exit(hangs_without_leak(false) ? 0 : 1), testing::ExitedWithCode(1), "leaked in");
}
#endif

TEST(SimThreads, TimePassesWhileAllWaitAndIsThatOfTheWorld) {
  const auto state = std::make_shared<Shared>(1);
  Deadline took{0};
  bool unparked = true;
  EXPECT_EQ(run(1, state,
                [&](Shared& shared) {
                  const Deadline before = read_monotonic();
                  unparked = shared.parker.park_for(250ms);
                  took = read_monotonic() - before;
                }),
            "");
  EXPECT_FALSE(unparked);
  EXPECT_EQ(took, 250ms);
}

TEST(SimThreads, AParkedThreadIsWokenAndAPermitIsKept) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto state = std::make_shared<Shared>(seed);
    ASSERT_EQ(run(seed, state,
                  [](Shared& shared) {
                    QuietThread thread("sleeper", [&] { shared.parker.park(); });
                    shared.parker.unpark();
                    thread.join();
                  }),
              "");
  }
}

TEST(SimThreads, ANotificationWakesWhoeverWaitsForIt) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto state = std::make_shared<Shared>(seed);
    ASSERT_EQ(run(seed, state,
                  [](Shared& shared) {
                    run_each("ab", [&](char name) {
                      const sync::MutexLock lock(shared.one);
                      if (name == 'a') {
                        shared.text = "ready";
                        shared.changed.notify_one();
                      } else {
                        while (shared.text.empty()) shared.changed.wait(shared.one);
                      }
                    });
                  }),
              "");
  }
}

// The same without checking the text before the wait: a late waiter is never woken.
TEST(SimThreads, ALostNotificationIsFound) {
  unsigned found = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto state = std::make_shared<Shared>(seed);
    const std::string finding = run(seed, state, [](Shared& shared) {
      run_each("ab", [&](char name) {
        const sync::MutexLock lock(shared.one);
        if (name == 'a') {
          shared.changed.notify_one();
        } else {
          shared.changed.wait(shared.one);
        }
      });
    });
    if (!finding.empty()) ++found;
  }
  EXPECT_GT(found, 5u);
}

TEST(SimThreads, ASeedReplaysExactly) {
  std::set<std::uint64_t> traces;
  const auto trace = [](std::uint64_t seed) {
    const auto state = std::make_shared<Shared>(seed);
    EXPECT_EQ(run(seed, state,
                  [](Shared& shared) {
                    run_each("abcd", [&](char) {
                      for (int i = 0; i < 20; ++i) {
                        const sync::MutexLock lock(shared.one);
                        yield_processor();
                      }
                    });
                  }),
              "");
    return state->world.trace();
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::uint64_t first = trace(seed);
    EXPECT_EQ(first, trace(seed));
    traces.insert(first);
  }
  EXPECT_EQ(traces.size(), 20u);
}

}  // namespace
}  // namespace sheaf::sim
