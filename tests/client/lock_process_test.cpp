// Locks between processes on a real broker: holders that are stopped past their lease or die, and
// how long others wait.

#include <gtest/gtest.h>

#include <sheaf/locker.h>

#include "tests/client/endpoints.h"

#ifdef SHEAF_TEST_BROKERS
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "tests/support/broker_process.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int slowness = 10;  // the machine, not the protocol, sets the pace
constexpr int each = 100;
#else
constexpr int slowness = 1;
constexpr int each = 500;
#endif

// Runs `work` in a process of its own, which ends with what it returns. No client may be open yet.
template <class Work>
pid_t start_process(const Work& work) {
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process could be started");
  if (pid == 0) {
    int code = 99;
    try {
      code = work();
    } catch (const std::exception& error) {
      static_cast<void>(std::fprintf(stderr, "process: %s\n", error.what()));
    }
    _exit(code);
  }
  return pid;
}

// Waits until the process stops itself or ends; the status of waitpid.
int wait_for(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
  return status;
}

void wait_out(std::chrono::milliseconds time) {
  static_cast<void>(poll(nullptr, 0, static_cast<int>(time.count())));
}

struct CountingTerms {
  std::string uri;
  int increments = each;
  int stop_every = each / 5;  // stops itself between read and write, so often
  bool token = true;
  bool guarded = true;  // writes by the guard; else as another program, with the token alone
};

int number_in(const GetResult& value) { return value ? std::stoi(value->data) : 0; }

// One increment; whether it was acknowledged.
bool count_once(Client& client, Locker& locker, const CountingTerms& terms, bool stop) {
  auto got = locker.lock("sum", 30s);
  if (!got || !*got) return false;
  LockGuard& guard = **got;
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
  // An absent key was not claimed.
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

// Continues each process 400 ms after it has stopped itself, until all have ended. Returns how many
// stops there were.
int herd(std::vector<pid_t> pids) {
  struct Stopped {
    pid_t pid;
    Clock::time_point go_on;
  };
  std::deque<Stopped> stopped;
  int stops = 0;
  while (!pids.empty()) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WUNTRACED | WNOHANG);
    if (pid > 0 && WIFSTOPPED(status)) {
      ++stops;
      stopped.push_back({pid, Clock::now() + 400ms});
    } else if (pid > 0 && std::ranges::find(pids, pid) != pids.end()) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
      std::erase(pids, pid);
    } else {
      wait_out(2ms);
    }
    while (!stopped.empty() && stopped.front().go_on <= Clock::now()) {
      kill(stopped.front().pid, SIGCONT);
      stopped.pop_front();
    }
  }
  return stops;
}

class LockProcesses : public testing::Test {
 protected:
  std::string uri() const { return "mqtt://127.0.0.1:" + std::to_string(broker.port()); }
  int counter() const {
    Client client = test::open(uri());
    return number_in(client.get("{sum}n", {.timeout = 5s}).value());
  }
  test::BrokerProcess broker;
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
  EXPECT_GE(counter(), 8 * each);  // a write that ended unknown may add to it
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
  EXPECT_GE(herd(pids), 4 * 4);
  EXPECT_LT(counter(), 4 * 40);
}

// A reads and is stopped; its lease ends; B locks, reads and stands still; A goes on first.
// Returns how many of the two writes were acknowledged.
int worst_case(const std::string& uri, bool claim) {
  const pid_t a = start_process([&] {
    Client client = test::open(uri);
    Locker locker(client, {.lease = 300ms});
    auto got = locker.lock("sum", 10s);
    const FencingToken token = (*got)->token();
    const auto old = claim ? (*got)->read("{sum}n") : client.get("{sum}n");
    raise(SIGSTOP);
    // As a program would that was started with the token.
    const auto done = client.set("{sum}n", std::to_string(number_in(*old) + 1), {.fence = token});
    const bool refused = !done && done.error().reason == Reason::fencing_stale;
    const auto guarded = (*got)->write("{sum}n", "0");
    if (guarded || guarded.error().reason != Reason::lock_lost) return 3;
    return done ? 1 : refused ? 0 : 2;
  });
  EXPECT_TRUE(WIFSTOPPED(wait_for(a)));
  Client client = test::open(uri);
  Locker locker(client);
  auto guard = locker.lock("sum", 10s);
  const auto old = claim ? (*guard)->read("{sum}n") : client.get("{sum}n");
  kill(a, SIGCONT);
  const int status = wait_for(a);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_LE(WEXITSTATUS(status), 1);
  EXPECT_TRUE((*guard)->write("{sum}n", std::to_string(number_in(*old) + 1)).value().stored);
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
    auto got = locker.lock("sum", 10s);
    raise(SIGSTOP);
    const bool believes = (*got)->held() || !(*got)->token().empty();
    return believes ? 1 : 0;
  });
  EXPECT_TRUE(WIFSTOPPED(wait_for(holder)));
  Client client = test::open(uri());
  Locker locker(client);
  const auto guard = locker.lock("sum", 10s);
  kill(holder, SIGCONT);
  EXPECT_EQ(wait_for(holder), 0);
  EXPECT_TRUE((*guard)->held());
}

TEST_F(LockProcesses, ARestartOfTheStoreEndsTheBelief) {
  Client client = test::open(uri());
  Locker locker(client);
  auto guard = locker.lock("sum", 10s);
  std::atomic<bool> told = false;
  (*guard)->on_loss([&](const Error& why) {
    EXPECT_EQ(why.reason, Reason::connection_lost) << why.message();
    told = true;
  });
  broker.kill();
  while (!told) std::this_thread::yield();
  EXPECT_FALSE((*guard)->held());
  broker.restart();
  auto next = locker.lock("sum", 10s);
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((*guard)->write("{sum}n", "x").error().reason, Reason::lock_lost);
  EXPECT_FALSE((*guard)->release().value());
  EXPECT_TRUE((*next)->held());
}

// ---- how long others wait

// A thread that waits for the lock, and how long after `since` it got it.
Clock::duration time_to_lock(Client& client, const std::function<Clock::time_point()>& let_go) {
  Locker locker(client);
  const std::uint64_t before = client.stats()[0].replies;
  std::optional<Clock::time_point> got_at;
  std::thread waiter([&] {
    const auto guard = locker.lock("sum", 20s);
    if (guard && *guard) got_at = Clock::now();
  });
  // Asked once, refused, and asked for the watch.
  while (client.stats()[0].replies < before + 2) std::this_thread::yield();
  const Clock::time_point since = let_go();
  waiter.join();
  return got_at ? *got_at - since : 1h;
}

TEST_F(LockProcesses, AWaiterGetsTheLockWithin100MsOfItsRelease) {
  Client holder = test::open(uri());
  Client client = test::open(uri());
  Locker locker(holder);
  for (int i = 0; i < 10; ++i) {
    auto guard = locker.lock("sum", 10s);
    EXPECT_LT(time_to_lock(client,
                           [&] {
                             const auto now = Clock::now();
                             (*guard)->release().value();
                             return now;
                           }),
              100ms * slowness);
  }
}

// A store that grants no watch notifies nobody.
TEST(LockPolling, AWaiterGetsTheLockWithin400MsWithoutNotifications) {
  test::BrokerOptions options;
  options.plugin_options = {{"max_watches", "1"}};
  const test::BrokerProcess broker(options);
  const std::string uri = "mqtt://127.0.0.1:" + std::to_string(broker.port());
  Client greedy = test::open(uri);
  Locker locker(greedy);
  auto first = locker.lock("taken", 10s);
  std::thread watcher([&] { static_cast<void>(locker.lock("taken", 3s)); });  // has the only watch
  while (greedy.stats()[0].replies < 3) std::this_thread::yield();
  Client client = test::open(uri);
  Client holder = test::open(uri);
  Locker holding(holder);
  for (int i = 0; i < 4; ++i) {
    auto guard = holding.lock("sum", 10s);
    EXPECT_LT(time_to_lock(client,
                           [&] {
                             const auto now = Clock::now();
                             (*guard)->release().value();
                             return now;
                           }),
              400ms * slowness);
  }
  watcher.join();
}

TEST_F(LockProcesses, AWaiterGetsTheLockWithinALeaseAnd400MsOfItsHoldersDeath) {
  const pid_t holder = start_process([&] {
    Client client = test::open(uri());
    Locker locker(client, {.lease = 1s});
    const auto guard = locker.lock("sum", 10s);
    raise(SIGSTOP);  // tells that it holds
    return 1;
  });
  EXPECT_TRUE(WIFSTOPPED(wait_for(holder)));
  Client client = test::open(uri());
  const auto waited = time_to_lock(client, [&] {
    const auto now = Clock::now();
    kill(holder, SIGKILL);
    return now;
  });
  EXPECT_LT(waited, 1s + 400ms * slowness);
  EXPECT_TRUE(WIFSIGNALED(wait_for(holder)));
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
        auto guard = locker.lock("sum", 30s);
        const auto waited = Clock::now() - start;
        ASSERT_TRUE(guard && *guard);
        (*guard)->release().value();
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
