// Locks between processes on a real broker: holders that are stopped past their lease or die, and
// how long other clients wait.

#include <gtest/gtest.h>

#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"

#ifdef SHEAF_TEST_BROKERS
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "tests/live/client/lock_processes.h"
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using namespace test;

struct CountingTerms {
  std::string uri;
  int increments = each;
  int stop_every = each / 5;  // stops itself between read and write, every so many tries
  bool token = true;
  bool guarded = true;  // writes by the guard; else like another program, by the token alone
};

// Makes one increment; true if it was acknowledged.
bool count_once(Client& client, Locker& locker, const CountingTerms& terms, bool stop) {
  auto got = locker.lock("sum", {.wait = 30s});
  if (!got) return false;
  LockGuard& guard = *got;
  const FencingToken token = guard.token();
  const auto old = terms.token ? guard.read("{sum}n") : client.get("{sum}n");
  if (!old) return false;
  if (stop) raise(SIGSTOP);
  const std::string next = std::to_string(number_in(*old) + 1);
  if (terms.token && terms.guarded) {
    const auto done = guard.write("{sum}n", next);
    return done && done->stored;
  }
  SetOptions options;
  if (terms.token) options.fence = token;
  // guard.read() does not claim an absent key.
  if (terms.token && !*old) options.condition = SetCondition::if_absent;
  const auto done = client.set("{sum}n", next, options);
  return done && done->stored;
}

int count(const CountingTerms& terms) {
  Client client = test::open(terms.uri);
  Locker locker(client, {.lease = 300ms});
  for (int done = 0, tries = 0; done < terms.increments;) {
    ++tries;
    if (count_once(client, locker, terms, tries % terms.stop_every == 0)) ++done;
  }
  return 0;
}

class LockProcesses : public testing::Test {
 protected:
  std::string uri() const { return "mqtt://127.0.0.1:" + std::to_string(broker->port()); }
  int counter() const {
    Client client = test::open(uri());
    return number_in(client.get("{sum}n", {.timeout = 5s}).value());
  }
  test::Lent<test::BrokerProcess> broker;
};

TEST_F(LockProcesses, EightThatAreStoppedPastTheirLeaseLoseNoAcknowledgedIncrement) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 8; ++i) {
    CountingTerms terms;
    terms.uri = uri();
    terms.guarded = i % 2 == 0;
    pids.push_back(start_process([&] { return count(terms); }));
  }
  EXPECT_GE(herd(pids), 8 * 4);
  EXPECT_GE(counter(), 8 * each);  // a write with outcome unknown may add to it
}

TEST_F(LockProcesses, WithoutTheTokenStoppedHoldersLoseIncrements) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 4; ++i) {
    CountingTerms terms;
    terms.uri = uri();
    terms.increments = 40;
    terms.stop_every = 10;
    terms.token = false;
    pids.push_back(start_process([&] { return count(terms); }));
  }
  EXPECT_GE(herd(pids), 4 * 2);
  EXPECT_LT(counter(), 4 * 40);
}

// A reads and is stopped; its lease ends; B locks, reads and pauses; A continues and writes first.
// Returns how many of the two writes were acknowledged.
int worst_case(const std::string& uri, bool claim) {
  const pid_t a = start_process([&] {
    Client client = test::open(uri);
    Locker locker(client, {.lease = 300ms});
    auto got = locker.lock("sum", {.wait = 10s});
    const FencingToken token = got->token();
    const auto old = claim ? got->read("{sum}n") : client.get("{sum}n");
    raise(SIGSTOP);
    // Like a program that was started with the token.
    const auto done = client.set("{sum}n", std::to_string(number_in(*old) + 1), {.fence = token});
    const bool refused = !done && done.error().reason == Reason::fencing_stale;
    const auto guarded = got->write("{sum}n", "0");
    if (guarded || guarded.error().reason != Reason::lock_lost) return 3;
    return done ? 1 : refused ? 0 : 2;
  });
  EXPECT_TRUE(WIFSTOPPED(wait_for(a)));
  Client client = test::open(uri);
  Locker locker(client);
  auto guard = locker.lock("sum", {.wait = 10s});
  const auto old = claim ? guard->read("{sum}n") : client.get("{sum}n");
  kill(a, SIGCONT);
  const int status = wait_for(a);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_LE(WEXITSTATUS(status), 1);
  EXPECT_TRUE(guard->write("{sum}n", std::to_string(number_in(*old) + 1)).value().stored);
  return 1 + WEXITSTATUS(status);
}

class WorstCase : public LockProcesses {
 protected:
  WorstCase() {
    Client client = test::open(uri());
    client.set("{sum}n", "0").value();
  }
};

TEST_F(WorstCase, TheHolderThatGoesOnFirstIsRefused) {
  EXPECT_EQ(worst_case(uri(), true), 1);
  EXPECT_EQ(counter(), 1);
}

TEST_F(WorstCase, WithAPlainGetOneAcknowledgedIncrementIsLost) {
  EXPECT_EQ(worst_case(uri(), false), 2);
  EXPECT_EQ(counter(), 1);
}

TEST_F(LockProcesses, AStoppedHolderLearnsOfItsLossWhenItGoesOn) {
  const pid_t holder = start_process([&] {
    Client client = test::open(uri());
    Locker locker(client, {.lease = 300ms});
    auto got = locker.lock("sum", {.wait = 10s});
    raise(SIGSTOP);
    const bool believes = got->held() || !got->token().empty();
    return believes ? 1 : 0;
  });
  EXPECT_TRUE(WIFSTOPPED(wait_for(holder)));
  Client client = test::open(uri());
  Locker locker(client);
  const auto guard = locker.lock("sum", {.wait = 10s});
  kill(holder, SIGCONT);
  EXPECT_EQ(wait_for(holder), 0);
  EXPECT_TRUE(guard->held());
}

TEST_F(LockProcesses, ARestartOfTheStoreEndsTheBelief) {
  expect_a_restart_to_end_the_belief(broker.to_break(), uri(), "{sum}n");
}

// ---- how long other clients wait

TEST_F(LockProcesses, AWaiterGetsTheLockWithin100MsOfItsRelease) {
  expect_handover_within(uri(), 10, 100ms * slowness);
}

// A store that grants no watches sends no notifications.
TEST(LockPolling, AWaiterGetsTheLockWithin400MsWithoutNotifications) {
  test::BrokerOptions options;
  options.plugin_options = {{"max_watches", "1"}};
  const test::BrokerProcess broker(options);
  const std::string uri = "mqtt://127.0.0.1:" + std::to_string(broker.port());
  Client greedy = test::open(uri);
  Locker locker(greedy);
  auto first = locker.lock("taken", {.wait = 10s});
  std::thread watcher(
      [&] { static_cast<void>(locker.lock("taken", {.wait = 3s})); });  // has the only watch
  while (greedy.stats()[0].replies < 3) std::this_thread::yield();
  expect_handover_within(uri, 4, 400ms * slowness);
  watcher.join();
}

TEST_F(LockProcesses, AWaiterGetsTheLockWithinALeaseAnd400MsOfItsHoldersDeath) {
  expect_inheritance_within(uri(), 1s + 1500ms * slowness);  // 400 ms by design
}

TEST_F(LockProcesses, OfEightThatLockAndUnlockWithoutPauseNoneWaitsLongerThanTwoSeconds) {
  std::atomic<bool> over = false;
  std::mutex mutex;
  Clock::duration longest{0};
  int total = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      Client client = test::open(uri());
      Locker locker(client);
      while (!over) {
        const auto start = Clock::now();
        auto guard = locker.lock("sum", {.wait = 30s});
        const auto waited = Clock::now() - start;
        ASSERT_TRUE(guard);
        guard->release().value();
        const std::scoped_lock lock(mutex);
        longest = std::max(longest, waited);
        ++total;
      }
    });
  }
  wait_out(5s);
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_LT(longest, 2s * slowness);
  EXPECT_GT(total, 100);
}

}  // namespace
}  // namespace sheaf
#endif
