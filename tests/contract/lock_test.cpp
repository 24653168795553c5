// The contract of Locker, LockGuard and Mutex on every kind of endpoint, and the additional
// promises of fenced and of advisory locks.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"
#include "tests/support/sanitized.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::EndpointFactory;
using test::kept_lease;

constexpr int each_adds = test::share_of(500);

class LockContract : public testing::TestWithParam<EndpointFactory> {
 protected:
  LockContract() : endpoint(GetParam().make()), client(test::open(endpoint->uri())) {}
  // Takes the lock and returns its guard; the test fails if it cannot.
  static LockGuard take(Locker& locker, std::string_view name) {
    return locker.lock(name, {.wait = 10s}).guard();
  }
  std::string key_elsewhere(const std::string& lock) const {
    const std::string home = client.locate(lock)->node;
    for (int i = 0;; ++i) {
      std::string key = "elsewhere" + std::to_string(i);
      if (client.locate(key)->node != home) return key;
    }
  }

  std::unique_ptr<test::Endpoint> endpoint;
  Client client;
};

// Endpoints whose store compares tokens.
class FencedLockContract : public LockContract {
 protected:
  FencedLockContract() { EXPECT_TRUE(client.supports(Feature::fencing)); }
};

// Endpoints whose store does not: memcached.
class AdvisoryLockContract : public LockContract {
 protected:
  AdvisoryLockContract() { EXPECT_FALSE(client.supports(Feature::fencing)); }
};

TEST_P(LockContract, ALockExcludesEverybodyUntilItIsReleased) {
  Locker locker(client);
  LockGuard guard = take(locker, "door");
  EXPECT_TRUE(guard.held());
  EXPECT_FALSE(guard.token().empty());
  EXPECT_EQ(guard.name(), "door");
  const bool fenced = client.supports(Feature::fencing);
  EXPECT_EQ(guard.strength(), fenced ? LockStrength::fenced : LockStrength::advisory);
  EXPECT_EQ(locker.strength(), guard.strength());
  EXPECT_TRUE(locker.try_lock("door").busy());
  Client other = test::open(endpoint->uri());
  Locker others(other);
  EXPECT_TRUE(others.try_lock("door").busy());
  EXPECT_TRUE(others.lock("door", {.wait = 1500ms}).busy());
  EXPECT_TRUE(others.try_lock("window").held());
  EXPECT_TRUE(guard.release().value());
  EXPECT_FALSE(guard.held());
  EXPECT_TRUE(guard.token().empty());
  EXPECT_FALSE(guard.release().value());
  EXPECT_FALSE(client.get("door").value().has_value());
  EXPECT_TRUE(others.try_lock("door").held());
}

TEST_P(LockContract, AGuardThatDiesReleases) {
  Locker locker(client);
  {
    const LockGuard guard = take(locker, "scope");
  }
  LockGuard first = take(locker, "scope");
  LockGuard second = take(locker, "other");
  first = std::move(second);  // releases "scope"
  EXPECT_TRUE(locker.try_lock("scope").held());
  EXPECT_EQ(first.name(), "other");
}

TEST_P(LockContract, ACallerThatWasToldToStopGivesTheLockBackAllTheSame) {
  Locker locker(client);
  LockGuard guard = take(locker, "stopped");
  EXPECT_EQ(guard.release({.timeout = 0ms}).error().reason, Reason::bad_argument);
  EXPECT_TRUE(guard.held());
  std::stop_source source;
  source.request_stop();
  const std::stop_token stopped = source.get_token();
  EXPECT_EQ(guard.release({.stop = &stopped}).error().reason, Reason::cancelled);
  EXPECT_FALSE(guard.held());
  Client other = test::open(endpoint->uri());
  Locker others(other);
  EXPECT_TRUE(others.lock("stopped", {.wait = 10s}).held());
}

TEST_P(LockContract, RenewalsKeepALockBeyondItsLeaseAndTheTokenStays) {
  Locker locker(client, {.lease = kept_lease});
  LockGuard guard = take(locker, "long");
  const FencingToken token = guard.token();
  guard.on_loss([](const Error& why) { ADD_FAILURE() << why.message(); });
  Locker others(client);
  // memcached keeps an item that is not renewed for up to two seconds longer.
  const auto longer = kept_lease + (client.supports(Feature::millisecond_ttl) ? 1500ms : 2500ms);
  EXPECT_TRUE(others.lock("long", {.wait = longer}).busy());
  EXPECT_TRUE(guard.held());
  EXPECT_EQ(guard.token(), token);
}

TEST_P(FencedLockContract, AFencedReadProtectsWhatAFencedWriteReplaces) {
  Locker locker(client);
  LockGuard guard = take(locker, "shelf");
  EXPECT_FALSE(guard.read("{shelf}book").value().has_value());
  EXPECT_TRUE(guard.write("{shelf}book", "one").value().stored);
  EXPECT_EQ(guard.read("{shelf}book", {.ttl = 1min}).value()->data, "one");
  const auto bare = client.set("{shelf}book", "stolen");
  ASSERT_FALSE(bare);
  EXPECT_EQ(bare.error().reason, Reason::fencing_required);
  const SetResult two = guard.write("{shelf}book", "two", {.ttl = 1min}).value();
  EXPECT_TRUE(two.stored);
  EXPECT_EQ(guard.remove("{shelf}book", {.if_value = "one"}).value(), RemoveResult::value_differs);
  const RemoveResult removed = guard.remove("{shelf}book").value();
  EXPECT_EQ(removed, RemoveResult::removed);
  EXPECT_EQ(removed.version, two.version);
  EXPECT_EQ(guard.remove("{shelf}book").value(), RemoveResult::absent);
}

TEST_P(LockContract, WhatWasReadAsAbsentIsWrittenOnlyIfItIsAbsentStill) {
  Locker locker(client);
  LockGuard guard = take(locker, "slot");
  EXPECT_FALSE(guard.read("{slot}a").value().has_value());
  client.set("{slot}a", "somebody").value();
  EXPECT_FALSE(guard.write("{slot}a", "mine").value().stored);
  EXPECT_EQ(guard.read("{slot}a").value()->data, "somebody");
  EXPECT_TRUE(guard.write("{slot}a", "mine").value().stored);
}

TEST_P(FencedLockContract, AnOlderTokenIsRefusedOnceALaterHolderHasRead) {
  Locker locker(client);
  FencingToken old;
  {
    LockGuard guard = take(locker, "turn");
    old = guard.token();
    guard.write("{turn}n", "1").value();
  }
  LockGuard guard = take(locker, "turn");
  guard.read("{turn}n").value();
  const auto late = client.set("{turn}n", "late", {.fence = old});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reason, Reason::fencing_stale);
}

TEST_P(FencedLockContract, AKeyOnAnotherNodeIsRefusedWithASentenceThatSaysHowToTagIt) {
  Locker locker(client);
  LockGuard guard = take(locker, "home");
  const std::string key = key_elsewhere("home");
  for (const auto& error :
       {guard.read(key).error(), guard.write(key, "x").error(), guard.remove(key).error()}) {
    EXPECT_EQ(error.outcome, Outcome::invalid);
    EXPECT_NE(error.text.find("{home}"), std::string::npos) << error.text;
  }
  EXPECT_FALSE(client.get(key).value().has_value());
  EXPECT_TRUE(guard.write(key, "x", {.other_node = true}).value().stored);
  EXPECT_EQ(guard.read(key, {.other_node = true}).value()->data, "x");
}

TEST_P(LockContract, NothingIsSentUnderALockThatWasReleased) {
  Locker locker(client);
  LockGuard guard = take(locker, "gone");
  guard.release().value();
  EXPECT_EQ(guard.read("{gone}k").error().reason, Reason::lock_lost);
  EXPECT_EQ(guard.write("{gone}k", "v").error().reason, Reason::lock_lost);
  EXPECT_EQ(guard.remove("{gone}k").error().reason, Reason::lock_lost);
  EXPECT_FALSE(client.get("{gone}k").value().has_value());
}

// The bytes that the official SDKs send: SET name value NEX PX, VDEL name value.
TEST_P(FencedLockContract, LocksOfOtherProgramsAreRespectedBothWays) {
  Locker locker(client, {.holder = "me"});
  const SetOptions acquire{.ttl = 10s, .condition = SetCondition::if_absent_or_equal};
  EXPECT_TRUE(client.set("shared", "sdk-client", acquire).value().stored);
  EXPECT_TRUE(locker.try_lock("shared").busy());
  EXPECT_EQ(client.remove("shared", {.if_value = "sdk-client"}).value(), RemoveResult::removed);
  LockGuard guard = take(locker, "shared");
  EXPECT_FALSE(client.set("shared", "sdk-client", acquire).value().stored);
  EXPECT_EQ(client.remove("shared", {.if_value = "sdk-client"}).value(),
            RemoveResult::value_differs);
  EXPECT_TRUE(client.get("shared").value()->data.starts_with("me:"));
  EXPECT_TRUE(guard.release().value());
}

TEST_P(LockContract, ALockThatAnotherTookIsLostAndReportedOnce) {
  Locker locker(client, {.lease = 3s});
  LockGuard guard = take(locker, "stolen");
  std::atomic<int> notified = 0;
  std::latch lost(1);
  guard.on_loss([&](const Error& why) {
    EXPECT_EQ(why.reason, Reason::lock_lost) << why.message();
    ++notified;
    lost.count_down();
  });
  client.set("stolen", "thief").value();  // no client that follows the protocol does that
  lost.wait();
  EXPECT_FALSE(guard.held());
  EXPECT_FALSE(guard.release().value());
  EXPECT_EQ(client.get("stolen").value()->data, "thief");
  EXPECT_EQ(notified, 1);
}

TEST_P(LockContract, ThreadsOfOneClientExcludeEachOther) {
  Locker locker(client);
  std::atomic<int> inside = 0;
  std::atomic<int> rounds = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        const auto guard = locker.lock("one", {.wait = 30s});
        ASSERT_TRUE(guard);
        EXPECT_EQ(++inside, 1);
        --inside;
        ++rounds;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(rounds, 100);
}

TEST_P(LockContract, EightClientsCountUnderOneLock) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      Client own = test::open(endpoint->uri());
      Locker locker(own);
      for (int done = 0; done < each_adds;) {
        auto guard = locker.lock("sum", {.wait = 60s});
        ASSERT_TRUE(guard);
        const auto old = guard->read("{sum}n", {.timeout = 5s});
        ASSERT_TRUE(old) << old.error().message();
        const int next = (*old ? std::stoi((*old)->data) : 0) + 1;
        const auto written = guard->write("{sum}n", std::to_string(next), {.timeout = 5s});
        ASSERT_TRUE(written) << written.error().message();
        if (written->stored) ++done;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(client.get("{sum}n").value()->data, std::to_string(8 * each_adds));
}

TEST_P(LockContract, AGuardOutlivesItsClient) {
  std::optional<Client> own = test::open(endpoint->uri());
  Locker locker(*own);
  LockGuard guard = take(locker, "orphan");
  std::atomic<int> notified = 0;
  guard.on_loss([&](const Error& why) {
    EXPECT_EQ(why.reason, Reason::closed);
    ++notified;
  });
  own.reset();
  EXPECT_EQ(notified, 1);
  EXPECT_FALSE(guard.held());
  EXPECT_TRUE(guard.token().empty());
  EXPECT_EQ(guard.read("{orphan}k").error().outcome, Outcome::shutdown);
  EXPECT_EQ(guard.release().error().outcome, Outcome::shutdown);
  EXPECT_EQ(locker.try_lock("orphan").error().outcome, Outcome::shutdown);
}

TEST_P(LockContract, AForkedChildHoldsNothingAndTheParentGoesOn) {
  Locker locker(client);
  LockGuard guard = take(locker, "family");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool free = !guard.held() && guard.token().empty();
    const auto written = guard.write("{family}k", "child");
    const bool refused = !written && written.error().reason == Reason::forked;
    _exit(free && refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(guard.held());
  EXPECT_TRUE(guard.write("{family}k", "parent").value().stored);
}

TEST_P(LockContract, ClosingAClientEndsEveryWaitForALock) {
  for (int round = 0; round < 10; ++round) {
    std::optional<Client> own = test::open(endpoint->uri());
    Locker holder(client);
    // Each round has a lock of its own: the server may execute a request of the closed client after
    // the guard has released, and then that lock is held for a whole lease (docs/locks.md).
    const std::string name = "busy" + std::to_string(round);
    const LockGuard guard = take(holder, name);
    Locker locker(*own);
    std::atomic<int> started = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        ++started;
        const auto got = locker.lock(name, {.wait = 60s});
        ASSERT_TRUE(got.failed());
        EXPECT_EQ(got.error().outcome, Outcome::shutdown);
      });
    }
    while (started < 4) std::this_thread::yield();
    own.reset();
    for (auto& thread : threads) thread.join();
  }
}

TEST_P(LockContract, AResultIsHeldBusyOrFailed) {
  Locker locker(client);
  LockResult held = locker.try_lock("result");
  EXPECT_TRUE(held && held.held() && !held.busy() && !held.failed());
  EXPECT_TRUE(held->held());
  const LockResult busy = locker.try_lock("result");
  EXPECT_TRUE(!busy && !busy.held() && busy.busy() && !busy.failed());
  LockResult failed = locker.try_lock("");
  EXPECT_TRUE(!failed && !failed.held() && !failed.busy() && failed.failed());
  EXPECT_EQ(failed.error().reason, Reason::bad_argument);
  EXPECT_THROW(static_cast<void>(failed.guard()), BadResultAccess);
  LockGuard guard = std::move(held).guard();
  EXPECT_TRUE(guard.release().value());
}

TEST_P(LockContract, ALockWithoutAWaitIsWaitedForUntilItIsFree) {
  Locker locker(client, {.lease = kept_lease});
  LockGuard guard = take(locker, "patience");
  guard.on_loss([](const Error& why) { ADD_FAILURE() << why.message(); });
  std::promise<void> asks;
  std::thread waiter([&] {
    asks.set_value();
    EXPECT_TRUE(locker.lock("patience").held());
  });
  asks.get_future().wait();
  EXPECT_TRUE(locker.lock("patience", {.wait = kept_lease + 500ms}).busy())
      << "longer than a lease";
  EXPECT_TRUE(guard.release().value());
  waiter.join();
}

TEST_P(LockContract, AMutexServesTheStandardLocks) {
  Mutex one(client, "mutex/1");
  Mutex two(client, "mutex/2", {.lease = 1s});
  {
    const std::scoped_lock both(one, two);
    EXPECT_TRUE(one.held());
    EXPECT_TRUE(one.guard().write("{mutex/1}k", "v").value().stored);
    EXPECT_FALSE(Mutex(client, "mutex/1").try_lock());
    EXPECT_FALSE(one.try_lock_for(50ms));
  }
  EXPECT_FALSE(one.held());
  std::unique_lock lock(one, std::defer_lock);
  EXPECT_TRUE(lock.try_lock_for(5s));
  std::unique_lock late(two, std::chrono::system_clock::now() + 5s);
  EXPECT_TRUE(late.owns_lock());
}

TEST_P(LockContract, AStoppedTokenEndsTheWaitForAMutexInTheQueueAndAtTheStore) {
  Mutex shared(client, "mutex/stopped");
  Mutex other(client, "mutex/stopped");
  shared.lock();
  for (Mutex* mutex : {&shared, &other}) {
    std::stop_source source;
    auto waiter = std::async(std::launch::async, [&] { return mutex->lock(source.get_token()); });
    EXPECT_EQ(waiter.wait_for(100ms), std::future_status::timeout);
    source.request_stop();
    EXPECT_FALSE(waiter.get());
    EXPECT_FALSE(mutex->lock(source.get_token())) << "stopped before";
  }
  shared.unlock();
  const std::stop_source source;
  ASSERT_TRUE(other.lock(source.get_token()));
  const std::unique_lock held(other, std::adopt_lock);
  EXPECT_TRUE(other.held());
}

TEST_P(LockContract, WhatIsNotAllowedIsOneSentenceThatNamesTheLimit) {
  for (const auto lease : {99ms, std::chrono::milliseconds(25h), -1ms}) {
    const auto got = Locker(client, {.lease = lease}).try_lock("x");
    ASSERT_TRUE(got.failed());
    EXPECT_EQ(got.error().outcome, Outcome::invalid);
    EXPECT_NE(got.error().text.find("100ms to 24h"), std::string::npos) << got.error().text;
  }
  EXPECT_FALSE(Locker(client, {.holder = std::string(257, 'h')}).try_lock("x"));
  EXPECT_FALSE(Locker(client).try_lock(""));
  EXPECT_FALSE(Locker(client).try_lock("x", {.timeout = 25h}));
  Mutex bad(client, "x", {.lease = 1ms});
  EXPECT_THROW(bad.lock(), std::system_error);
  EXPECT_FALSE(bad.try_lock());
}

// ---- advisory locks

TEST_P(AdvisoryLockContract, AWriteReplacesOnlyWhatTheGuardHasReadOrWritten) {
  Locker locker(client);
  LockGuard guard = take(locker, "shelf");
  client.set("book", "one").value();
  EXPECT_EQ(guard.read("book").value()->data, "one");
  client.set("book", "two").value();
  EXPECT_FALSE(guard.write("book", "mine").value().stored);
  EXPECT_EQ(guard.read("book").value()->data, "two");
  EXPECT_TRUE(guard.write("book", "mine").value().stored);
  EXPECT_TRUE(guard.write("book", "mine again").value().stored) << "over its own";
  client.set("book", "three").value();
  EXPECT_FALSE(guard.write("book", "mine").value().stored);
  EXPECT_EQ(client.get("book").value()->data, "three");
}

TEST_P(AdvisoryLockContract, ARemovalRemovesOnlyWhatTheGuardHasRead) {
  Locker locker(client);
  LockGuard guard = take(locker, "shelf");
  EXPECT_EQ(guard.remove("book").value(), RemoveResult::absent);
  EXPECT_FALSE(guard.read("book").value().has_value());
  client.set("book", "one").value();
  EXPECT_EQ(guard.remove("book").value(), RemoveResult::value_differs);
  EXPECT_EQ(guard.read("book").value()->data, "one");
  client.set("book", "two").value();
  EXPECT_EQ(guard.remove("book").value(), RemoveResult::value_differs);
  guard.read("book").value();
  EXPECT_EQ(guard.remove("book").value(), RemoveResult::removed);
  client.set("book", "three").value();
  EXPECT_FALSE(guard.write("book", "mine").value().stored) << "it was absent";
  EXPECT_EQ(client.get("book").value()->data, "three");
  EXPECT_EQ(guard.remove("book", {.if_value = "three"}).error().outcome, Outcome::unsupported);
}

TEST_P(AdvisoryLockContract, KeysMayLiveOnAnyNode) {
  Locker locker(client);
  LockGuard guard = take(locker, "home");
  const std::string key = key_elsewhere("home");
  EXPECT_FALSE(guard.read(key).value().has_value());
  EXPECT_TRUE(guard.write(key, "x").value().stored);
  EXPECT_EQ(guard.read(key).value()->data, "x");
  client.set(key, "y").value();
  EXPECT_FALSE(guard.write(key, "z").value().stored);
  EXPECT_EQ(guard.read(key).value()->data, "y");
  EXPECT_EQ(guard.remove(key).value(), RemoveResult::removed);
}

TEST_P(AdvisoryLockContract, AReadLeavesTheTimeToLiveAlone) {
  Locker locker(client);
  LockGuard guard = take(locker, "shelf");
  client.set("milk", "fresh", {.ttl = 3s}).value();
  EXPECT_EQ(guard.read("milk", {.ttl = 1h}).value()->data, "fresh");
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (guard.read("milk", {.ttl = 1h}).value().has_value()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  }
}

TEST_P(AdvisoryLockContract, ALockThatIsRemovedIsLost) {
  Locker locker(client, {.lease = 3s});
  LockGuard guard = take(locker, "gone");
  std::latch lost(1);
  guard.on_loss([&](const Error& why) {
    EXPECT_EQ(why.reason, Reason::lock_lost) << why.message();
    lost.count_down();
  });
  client.remove("gone").value();
  lost.wait();
  EXPECT_FALSE(guard.held());
  EXPECT_FALSE(client.get("gone").value().has_value()) << "a renewal brings nothing back";
}

TEST_P(AdvisoryLockContract, ANameThatMemcachedCannotHoldIsOneSentence) {
  const std::size_t longest = GetParam().limits.key;
  EXPECT_TRUE(Locker(client).try_lock(std::string(longest, 'k')).held());
  const auto got = Locker(client).try_lock(std::string(longest + 1, 'k'));
  ASSERT_TRUE(got.failed());
  EXPECT_EQ(got.error().outcome, Outcome::invalid);
  EXPECT_NE(got.error().text.find("250 bytes"), std::string::npos) << got.error().text;
  const std::size_t blanks = GetParam().limits.binary_key;
  EXPECT_TRUE(Locker(client).try_lock("a b\n" + std::string(blanks - 4, 'k')).held());
  EXPECT_FALSE(Locker(client).lock("a b\n" + std::string(blanks - 3, 'k'), {.wait = 10s}));
}

TEST(Locking, ANodeThatIsNotThereIsAnErrorInTime) {
  Client client = test::open("mqtt://127.0.0.1:1?timeout=200ms");
  Locker locker(client, {.lease = 300ms});
  EXPECT_EQ(locker.try_lock("x").error().outcome, Outcome::not_sent);
  EXPECT_EQ(locker.lock("x", {.wait = 300ms}).error().outcome, Outcome::not_sent);
  Mutex mutex(client, "x", {.lease = 300ms});
  try {
    mutex.lock();
    FAIL() << "locked nothing";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::host_unreachable);
  }
}

std::string name_of_endpoint(const testing::TestParamInfo<EndpointFactory>& each_endpoint) {
  return each_endpoint.param.name;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AdvisoryLockContract);
INSTANTIATE_TEST_SUITE_P(Endpoints, LockContract, testing::ValuesIn(test::all_factories()),
                         name_of_endpoint);
INSTANTIATE_TEST_SUITE_P(Endpoints, FencedLockContract,
                         testing::ValuesIn(test::endpoint_factories()), name_of_endpoint);
INSTANTIATE_TEST_SUITE_P(Endpoints, AdvisoryLockContract,
                         testing::ValuesIn(test::memcached_factories()), name_of_endpoint);

}  // namespace
}  // namespace sheaf
