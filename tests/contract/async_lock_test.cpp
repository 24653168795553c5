// The contract of AsyncLocker and AsyncLockGuard: both forms, on every kind of endpoint.

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <sheaf/async.h>

#include "tests/contract/forms.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

class AsyncLocks : public test::InEveryForm {
 protected:
  LockResult lock(const AsyncLocker& locker, std::string_view name, const LockOptions& options) {
    return test::outcome_of(form, locker.lock(name, options));
  }
  LockResult try_lock(const AsyncLocker& locker, std::string_view name) {
    return test::outcome_of(form, locker.try_lock(name));
  }
  Result<GetResult> read(const AsyncLockGuard& guard, std::string_view key) {
    return test::outcome_of(form, guard.read(key));
  }
  Result<SetResult> write(const AsyncLockGuard& guard, std::string_view key,
                          std::string_view value) {
    return test::outcome_of(form, guard.write(key, value));
  }
  Result<RemoveResult> remove(const AsyncLockGuard& guard, std::string_view key) {
    return test::outcome_of(form, guard.remove(key));
  }
  Result<bool> release(const AsyncLockGuard& guard) {
    return test::outcome_of(form, guard.release());
  }
};

INSTANTIATE_TEST_SUITE_P(On, AsyncLocks, test::every_form(), test::name_of_form);

TEST_P(AsyncLocks, ALockIsTakenUsedAndReleased) {
  const AsyncLocker locker = Locker(*client).async();
  LockGuard guard = lock(locker, "door", {.wait = 10s}).guard();
  EXPECT_TRUE(guard.held());
  EXPECT_TRUE(try_lock(locker, "door").busy());
  EXPECT_TRUE(lock(locker, "door", {.wait = 1500ms}).busy());
  const AsyncLockGuard async = guard.async();
  EXPECT_FALSE(read(async, "{door}k").value().has_value());
  EXPECT_TRUE(write(async, "{door}k", "v").value().stored);
  EXPECT_EQ(read(async, "{door}k").value()->data, "v");
  EXPECT_TRUE(remove(async, "{door}k").has_value());
  EXPECT_FALSE(client->get("{door}k").value().has_value());
  EXPECT_TRUE(release(async).value());
  EXPECT_FALSE(guard.held());
  EXPECT_FALSE(release(async).value());
  EXPECT_EQ(read(async, "{door}k").error().reason, Reason::lock_lost);
  EXPECT_TRUE(try_lock(locker, "door").held());
}

TEST_P(AsyncLocks, WhatIsNotAllowedIsReportedNotDone) {
  const AsyncLocker locker = Locker(*client).async();
  EXPECT_EQ(try_lock(locker, "").error().reason, Reason::bad_argument);
  EXPECT_EQ(lock(locker, "x", {.timeout = 25h}).error().reason, Reason::bad_argument);
  EXPECT_EQ(try_lock(Locker(*client, {.lease = 1ms}).async(), "x").error().outcome,
            Outcome::invalid);
  LockGuard guard = lock(locker, "x", {}).guard();
  EXPECT_EQ(read(guard.async(), "").error().reason, Reason::bad_argument);
  LockGuard moved = std::move(guard);
  EXPECT_EQ(write(guard.async(), "{x}k", "v").error().reason, Reason::lock_lost);
  EXPECT_FALSE(release(guard.async()).value());
}

TEST_P(AsyncLocks, AWaitEndsWhenTheHolderReleases) {
  Locker locker(*client);
  LockGuard holder = locker.try_lock("baton").guard();
  std::promise<void> asked;
  std::thread waiter([&] {
    asked.set_value();
    EXPECT_TRUE(lock(locker.async(), "baton", {}).held());
  });
  asked.get_future().wait();
  EXPECT_TRUE(holder.release().value());
  waiter.join();
}

TEST_P(AsyncLocks, AGuardThatIsDestroyedEndsItsOperations) {
  Locker locker(*client);
  std::optional<AsyncLockGuard> async;
  {
    LockGuard guard = locker.try_lock("short").guard();
    async = guard.async();
  }
  EXPECT_EQ(write(*async, "{short}k", "v").error().reason, Reason::lock_lost);
  EXPECT_TRUE(locker.try_lock("short").held());
}

TEST_P(AsyncLocks, AfterItsClientEveryCallEndsWithShutdown) {
  const Locker locker(*client);
  LockGuard guard = lock(locker.async(), "orphan", {}).guard();
  client.reset();
  EXPECT_EQ(try_lock(locker.async(), "orphan").error().outcome, Outcome::shutdown);
  EXPECT_EQ(lock(locker.async(), "orphan", {}).error().outcome, Outcome::shutdown);
  EXPECT_EQ(read(guard.async(), "{orphan}k").error().outcome, Outcome::shutdown);
  EXPECT_EQ(write(guard.async(), "{orphan}k", "v").error().outcome, Outcome::shutdown);
  EXPECT_EQ(remove(guard.async(), "{orphan}k").error().outcome, Outcome::shutdown);
  EXPECT_EQ(release(guard.async()).error().outcome, Outcome::shutdown);
}

TEST_P(AsyncLocks, AClientThatGoesEndsEachCallOnce) {
  Client holding = test::open(endpoint->uri());
  const LockGuard held = Locker(holding).try_lock("busy").guard();
  Locker locker(*client);
  LockGuard own = locker.try_lock("own").guard();
  std::atomic<int> ended = 0;
  for (int i = 0; i < 10; ++i) {
    locker.async().lock("busy").then([&](LockResult got) {
      EXPECT_EQ(got.error().outcome, Outcome::shutdown);
      ++ended;
    });
    own.async().write("{own}k", "v").then([&](const Result<SetResult>&) { ++ended; });
  }
  own.async().release().then([&](const Result<bool>&) { ++ended; });
  std::atomic<int> lost = 0;
  own.on_loss([&](const Error&) { ++lost; });
  client.reset();
  EXPECT_EQ(ended, 21);
  EXPECT_EQ(lost, 0) << "it was released";
}

TEST(AsyncLockFutures, ALockThatNobodyTakesIsReleased) {
  Client client = test::open("embedded://1?name=async-lost-lock");
  Locker locker(client);
  {
    const auto dropped = locker.async().lock("x").future();
  }
  EXPECT_TRUE(locker.lock("x", {.wait = 20s}).held());
}

TEST(AsyncLockCallbacks, MayTakeFurtherLocks) {
  Client client = test::open("embedded://1?name=async-locks");
  const Locker locker(client);
  std::latch done(3);
  std::optional<LockGuard> kept;
  locker.async().lock("async", {.wait = 5s}).then([&](LockResult got) {
    kept = std::move(got).guard();
    locker.async().try_lock("async").then([&](LockResult second) {
      EXPECT_TRUE(second.busy());
      done.count_down();
    });
    locker.async().try_lock("").then([&](LockResult bad) {
      EXPECT_EQ(bad.error().reason, Reason::bad_argument);
      done.count_down();
    });
    done.count_down();
  });
  done.wait();
  EXPECT_TRUE(kept->held());
}

TEST(AsyncLockCallbacks, ALossIsReportedAlsoWhenTheClientHasGone) {
  std::optional<Client> client = test::open("embedded://1?name=async-loss");
  LockGuard guard = Locker(*client).try_lock("x").guard();
  client.reset();
  int lost = 0;
  guard.on_loss([&](const Error& why) {
    EXPECT_EQ(why.reason, Reason::closed);
    ++lost;
  });
  EXPECT_EQ(lost, 1);
}

}  // namespace
}  // namespace sheaf
