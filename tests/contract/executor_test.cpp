// The user's executor: callbacks form a strand that never blocks a thread of the user, and
// callbacks may throw.

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/client.h>
#include <sheaf/log.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// A queue of tasks for the threads that call run_one().
class Tasks {
 public:
  void add(std::function<void()> task) {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  // Runs the next task; returns false if none comes within the time.
  bool run_one(std::chrono::nanoseconds time = 10s) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, time, [this] { return !tasks_.empty(); })) return false;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
};

TEST(Executor, ACallbackThatTakesLongBlocksNoOtherThreadOfThePool) {
  Tasks tasks;
  ClientOptions options;
  options.executor = [&](std::function<void()> task) { tasks.add(std::move(task)); };
  std::latch foreign_ran(1);
  std::atomic<int> at_once = 0;
  std::atomic<int> most_at_once = 0;
  std::atomic<int> ended = 0;
  bool seen_in_time = false;
  std::atomic<bool> over = false;
  {
    Client client = test::open("embedded://1?name=strand", options);
    std::atomic<bool> first = true;
    std::vector<std::jthread> pool;
    for (int i = 0; i < 2; ++i) {
      pool.emplace_back([&] {
        while (!over) tasks.run_one(1ms);
      });
    }
    for (int i = 0; i < 8; ++i) {
      client.async().get("k").then([&](Result<GetResult>) {
        const int now = ++at_once;
        if (now > most_at_once) most_at_once = now;
        if (first.exchange(false)) {
          tasks.add([&] { foreign_ran.count_down(); });  // queued after the other callbacks' tasks
          for (int n = 0; n < 10'000 && !foreign_ran.try_wait(); ++n) std::this_thread::yield();
          const auto limit = std::chrono::steady_clock::now() + 10s;
          while (!foreign_ran.try_wait() && std::chrono::steady_clock::now() < limit) {
            std::this_thread::yield();
          }
          seen_in_time = foreign_ran.try_wait();
        }
        --at_once;
        if (++ended == 8) over = true;
      });
    }
  }
  EXPECT_TRUE(seen_in_time);
  EXPECT_EQ(most_at_once, 1);
  EXPECT_EQ(ended, 8);
}

TEST(Executor, ACallbackMayTurnTheLoopUntilAnotherCallbackHasRun) {
  Tasks tasks;
  ClientOptions options;
  options.executor = [&](std::function<void()> task) { tasks.add(std::move(task)); };
  Client client = test::open("embedded://1?name=nested", options);
  bool inner = false;
  bool outer = false;
  client.async().get("a").then([&](Result<GetResult>) {
    client.async().get("b").then([&](Result<GetResult>) { inner = true; });
    while (!inner && tasks.run_one()) {
    }
    EXPECT_TRUE(inner);
    outer = true;
  });
  while (!outer && tasks.run_one()) {
  }
  EXPECT_TRUE(outer);
}

TEST(Executor, WhatACallbackThrowsReachesTheHandlerAndTheNextCallbackRuns) {
  for (const bool executor : {false, true}) {
    std::vector<std::string> thrown;
    ClientOptions options;
    if (executor) {
      options.executor = [](std::function<void()> task) { std::thread(std::move(task)).detach(); };
    }
    options.on_exception = [&](const std::exception_ptr& exception) {
      try {
        std::rethrow_exception(exception);
      } catch (const std::exception& error) {
        thrown.emplace_back(error.what());
      }
    };
    std::latch next(1);
    Client client = test::open("embedded://1?name=throws", options);
    client.async().get("a").then([](Result<GetResult>) { throw std::runtime_error("mine"); });
    client.async().get("b").then([&](Result<GetResult>) { next.count_down(); });
    next.wait();
    EXPECT_EQ(thrown, std::vector<std::string>{"mine"});
  }
}

TEST(Executor, WhatTheExecutorThrowsReachesTheHandlerAndNoCallbackIsLost) {
  std::atomic<int> thrown = 0;
  std::atomic<int> ended = 0;
  ClientOptions options;
  options.executor = [](const std::function<void()>&) { throw std::runtime_error("full"); };
  options.on_exception = [&](const std::exception_ptr&) { ++thrown; };
  {
    Client client = test::open("embedded://1?name=throwing-executor", options);
    for (int i = 0; i < 3; ++i) client.async().get("k").then([&](Result<GetResult>) { ++ended; });
  }
  EXPECT_EQ(ended, 3);  // by the destructor
  EXPECT_EQ(thrown, 3);
}

TEST(Executor, WhatTheLogSinkThrowsReachesTheHandlerAndCallsGoOn) {
  std::atomic<int> thrown = 0;
  std::atomic<int> written = 0;
  {
    ClientOptions options;
    options.log = [&](const LogRecord&) {
      ++written;
      throw std::runtime_error("the disk is full");
    };
    options.on_exception = [&](const std::exception_ptr&) { ++thrown; };
    Client client = test::open("memcached://127.0.0.1:1", options);  // no server listens there
    EXPECT_FALSE(client.get("a"));
    EXPECT_FALSE(client.get("b"));
  }
  EXPECT_GT(written, 1);
  EXPECT_EQ(thrown, written);
}

using ExecutorDeathTest = testing::Test;

TEST(ExecutorDeathTest, WithoutAHandlerWhatACallbackThrowsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        std::latch never(1);
        Client client = test::open("embedded://1?name=death");
        client.async().get("a").then([](Result<GetResult>) { throw std::runtime_error("mine"); });
        never.wait();
      },
      "");
}

}  // namespace
}  // namespace sheaf
