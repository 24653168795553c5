// Advisory locks on real memcached servers: servers that restart or keep no versions, holders that
// are stopped past their lease or die, and how long other clients wait.

#include <gtest/gtest.h>

#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include <fcntl.h>

#include <array>
#include <atomic>

#include "client/lock/lock_plan.h"
#include "tests/live/client/lock_processes.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"
#include "tests/support/own_process.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using namespace test;

std::string uri_of(const std::vector<const MemcachedProcess*>& servers, const std::string& with) {
  std::string uri = "memcached://";
  for (const MemcachedProcess* server : servers) {
    if (uri.back() != '/') uri += ',';
    uri += "127.0.0.1:" + std::to_string(server->port());
  }
  return uri + "?protocol=" + with;
}

// A test with one server, in the parameter's protocol.
class MemcachedLocks : public testing::TestWithParam<const char*> {
 protected:
  std::string uri() const { return uri_of({&*server}, GetParam()); }
  int counter() const {
    Client client = open(uri());
    return number_in(client.get("n", {.timeout = 5s}).value());
  }
  Lent<MemcachedProcess> server;
};
INSTANTIATE_TEST_SUITE_P(Protocols, MemcachedLocks, testing::Values("meta", "binary"),
                         [](const auto& protocol) { return std::string(protocol.param); });

TEST_P(MemcachedLocks, AServerWithoutVersionsIsOneSentence) {
  MemcachedOptions options;
  options.arguments = {"-C"};
  const Lent<MemcachedProcess> plain(options);
  Client client = open(uri_of({&*plain}, GetParam()));
  Locker locker(client);
  for (const auto& got : {locker.try_lock("x").error(), locker.lock("y", {.wait = 10s}).error()}) {
    EXPECT_EQ(got.outcome, Outcome::unsupported) << got.message();
    EXPECT_NE(got.text.find("keeps no versions (-C): locks need them"), std::string::npos)
        << got.message();
    EXPECT_NE(got.text.find(std::to_string(plain->port())), std::string::npos) << got.message();
  }
  for (const char* left : {"x", "y"}) {  // removed again without waiting for the reply
    while (client.get(left).value()) std::this_thread::yield();
  }
}

TEST_P(MemcachedLocks, ARestartOfTheServerEndsTheBelief) {
  MemcachedProcess own;
  expect_a_restart_to_end_the_belief(own, uri_of({&own}, GetParam()), "n");
}

// The restarted server counts versions from 1 again, so the version that was read may be another
// value's. A lent server would have counted further.
TEST_P(MemcachedLocks, WhatWasReadBeforeARestartIsNotWrittenAfterIt) {
  MemcachedProcess other;
  Client client = open(uri_of({&*server, &other}, GetParam()));
  const auto on = [&](const MemcachedProcess& wanted, const std::string& name) {
    for (int i = 0;; ++i) {
      std::string key = name + std::to_string(i);
      const std::string node = client.locate(key)->node;
      if (node.ends_with(":" + std::to_string(wanted.port()))) return key;
    }
  };
  const std::string key = on(other, "key");
  Locker locker(client);
  auto guard = locker.lock(on(*server, "lock"), {.wait = 10s});
  ASSERT_TRUE(guard);
  client.set(key, "1").value();
  EXPECT_EQ(guard->read(key).value()->data, "1");
  other.kill();
  other.restart();
  while (!client.set(key, "first of a new server")) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {
    const auto late = guard->write(key, "2");
    ASSERT_FALSE(late) << "until it is read again";
    EXPECT_EQ(late.error().outcome, Outcome::not_sent) << late.error().message();
    EXPECT_EQ(late.error().reason, Reason::connection_lost) << late.error().message();
  }
  EXPECT_EQ(guard->read(key).value()->data, "first of a new server");
  EXPECT_TRUE(guard->write(key, "2").value().stored);
}

// ---- holders that are stopped

// Makes one increment; true if it was acknowledged. If `stop` is set, clears it and stops the
// process between the read and the write.
bool count_once(Locker& locker, bool& stop) {
  auto got = locker.lock("sum", {.wait = 30s});
  if (!got) return false;
  const auto old = got->read("n");
  if (!old) return false;
  if (std::exchange(stop, false)) raise(SIGSTOP);
  const auto done = got->write("n", std::to_string(number_in(*old) + 1));
  return done && done->stored;
}

int count(const std::string& uri, int increments, int stop_at) {
  Client client = open(uri);
  Locker locker(client, {.lease = 300ms});
  bool stop = false;
  for (int done = 0, tries = 0; done < increments;) {
    if (++tries == stop_at) stop = true;
    if (count_once(locker, stop)) ++done;
  }
  return 0;
}

TEST_P(MemcachedLocks, FourOfWhomTwoAreStoppedUntilOthersHaveTheLockLoseNoIncrement) {
  if (!may_fork()) return;
  std::vector<pid_t> pids;
  for (int i = 0; i < 4; ++i) {
    pids.push_back(start_process([&] { return count(uri(), 200, i < 2 ? 50 * (i + 1) : 0); }));
  }
  EXPECT_EQ(herd(pids, 4s), 2);
  EXPECT_GE(counter(), 4 * 200);  // a write with outcome unknown may add to it
}

// A locks, reads and is stopped; its lease ends; B locks and reads; A continues and writes with a
// plain set, because memcached asks for no token; B writes. Returns how many of the two writes were
// acknowledged.
int worst_case_of_memcached(const std::string& uri, bool compares) {
  const pid_t a = start_process([&] {
    Client client = open(uri);
    Locker locker(client, {.lease = 300ms});
    auto got = locker.lock("sum", {.wait = 10s});
    const auto old = client.get("n");
    raise(SIGSTOP);
    if (got->held()) return 2;
    const auto guarded = got->write("n", "0");
    if (guarded || guarded.error().reason != Reason::lock_lost) return 3;
    return client.set("n", std::to_string(number_in(*old) + 1)) ? 1 : 0;
  });
  EXPECT_TRUE(WIFSTOPPED(wait_for(a)));
  Client client = open(uri);
  Locker locker(client);
  auto guard = locker.lock("sum", {.wait = 10s});
  auto old = compares ? guard->read("n") : client.get("n");
  kill(a, SIGCONT);
  const int status = wait_for(a);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  if (!compares) {
    client.set("n", std::to_string(number_in(*old) + 1)).value();
    return 2;
  }
  EXPECT_FALSE(guard->write("n", std::to_string(number_in(*old) + 1)).value().stored);
  old = guard->read("n");
  EXPECT_TRUE(guard->write("n", std::to_string(number_in(*old) + 1)).value().stored);
  return 2;
}

TEST_P(MemcachedLocks, AGuardDoesNotOverwriteWhatAFormerHolderWroteMeanwhile) {
  if (!may_fork()) return;
  EXPECT_EQ(worst_case_of_memcached(uri(), true), 2);
  EXPECT_EQ(counter(), 2);
}

TEST_P(MemcachedLocks, WithPlainGetsAndSetsOneAcknowledgedIncrementIsLost) {
  if (!may_fork()) return;
  EXPECT_EQ(worst_case_of_memcached(uri(), false), 2);
  EXPECT_EQ(counter(), 1);
}

// ---- how long a lock lives

// The lease of 1 s, two more seconds, a poll, and what a busy machine adds.
constexpr auto longest_after_death = 1s + 2s + 300ms + 2s * slowness;
// The lease of 1 s with its allowance, a poll, and what a busy machine adds: the item itself would
// live for 2 s or more.
constexpr auto longest_for_a_waiter = 1s + 60ms + 300ms + 600ms * slowness;

struct Taken {
  int number = 0;
  Clock::time_point asked, got;
};

// Takes locks at the time `when`, writes each one to the pipe `report` and stops its process.
int take_and_stop(const std::string& uri, int first, int count, Clock::time_point when,
                  int report) {
  Client client = open(uri);
  Locker locker(client, {.lease = 1s});
  wait_out(std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()));
  std::vector<LockGuard> guards;
  for (int i = first; i < first + count; ++i) {
    Taken taken{i, Clock::now(), {}};
    auto got = locker.try_lock("lock" + std::to_string(i));
    if (!got) return 1;
    guards.push_back(std::move(*got));
    taken.got = Clock::now();
    if (write(report, &taken, sizeof taken) != sizeof taken) return 2;
  }
  raise(SIGSTOP);
  return 0;
}

// A stopped holder believes in its lock for the length of its lease. No other client may get the
// lock in that time, at any fraction of the server's clock second.
TEST_P(MemcachedLocks, NobodyGetsALockBeforeItsHolderStopsBelievingNorMuchLater) {
  if (!may_fork()) return;
  constexpr int holders = 10;
  constexpr int locks = 5;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_NONBLOCK), 0);
  const Clock::time_point start = Clock::now() + 300ms * slowness;
  std::vector<pid_t> pids;
  for (int i = 0; i < holders; ++i) {
    const auto when = start + i * 103ms;
    pids.push_back(
        start_process([&] { return take_and_stop(uri(), i * locks, locks, when, ends[1]); }));
  }
  Client client = open(uri());
  Locker locker(client);
  std::vector<Taken> held;
  std::vector<LockGuard> guards;
  const auto belief = 1s - client::lock::drift_allowance(1s);
  while (guards.size() < holders * locks && Clock::now() < start + 20s * slowness) {
    Taken taken;
    while (read(ends[0], &taken, sizeof taken) == sizeof taken) held.push_back(taken);
    std::erase_if(held, [&](const Taken& one) {
      auto got = locker.try_lock("lock" + std::to_string(one.number));
      if (!got) return false;
      const auto now = Clock::now();
      EXPECT_GE(now - one.asked, belief) << "lock " << one.number;
      EXPECT_LE(now - one.got, longest_after_death) << "lock " << one.number;
      guards.push_back(std::move(*got));
      return true;
    });
  }
  EXPECT_EQ(guards.size(), holders * locks);
  for (const pid_t pid : pids) {
    kill(pid, SIGKILL);
    int status = wait_for(pid);
    while (WIFSTOPPED(status)) status = wait_for(pid);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it did not get its locks";
  }
  close(ends[0]);
  close(ends[1]);
}

TEST_P(MemcachedLocks, AWaiterGetsTheLockWithinALeaseAndASecondOfItsHoldersDeath) {
  if (!may_fork()) return;
  expect_inheritance_within(uri(), longest_for_a_waiter);
}

TEST_P(MemcachedLocks, AWaiterGetsTheLockWithin400MsOfItsRelease) {
  expect_handover_within(uri(), 10, 400ms * slowness);
}

}  // namespace
}  // namespace sheaf
#endif
