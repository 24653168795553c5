// A driver as the executor of clients that have their own threads: their callbacks run in poll().

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/driver.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// The kernel may end the wait early (EINTR), even in a program without signal handlers.
int wait_for_event(int loop, epoll_event& event) {
  int count = 0;
  do {
    count = epoll_wait(loop, &event, 1, 30'000);
  } while (count < 0 && errno == EINTR);
  return count;
}

bool readable(const Driver& driver, int milliseconds = 0) {
  pollfd wanted{.fd = driver.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, milliseconds) == 1;
}

TEST(DriverExecutor, IsReadableWhileTasksWaitAndRunsThoseThatWaited) {
  Driver driver;
  EXPECT_FALSE(readable(driver));
  EXPECT_EQ(driver.poll(), 0u);
  std::string order;
  driver.post([&] {
    order += 'a';
    driver.post([&] { order += 'c'; });
  });
  driver.post([&] { order += 'b'; });
  EXPECT_TRUE(readable(driver));
  EXPECT_EQ(driver.poll(), 2u);
  EXPECT_EQ(order, "ab") << "not those that a task adds";
  EXPECT_TRUE(readable(driver));
  EXPECT_TRUE(driver.run_one(0ms));
  EXPECT_EQ(order, "abc");
  EXPECT_FALSE(readable(driver));
  EXPECT_FALSE(driver.run_one(0ms));
}

TEST(DriverExecutor, AnExecutorMayOutliveItAndThenDropsWhatItGets) {
  const auto alive = std::make_shared<int>(0);
  std::function<void(std::function<void()>)> executor;
  {
    Driver driver;
    executor = driver.executor();
    executor([alive] { FAIL() << "a task that was dropped ran"; });
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  executor([alive] { FAIL() << "a task that was dropped ran"; });
  EXPECT_EQ(alive.use_count(), 1);
}

// Callbacks of two clients on the one thread that turns an epoll loop.
TEST(DriverExecutor, AnEpollLoopRunsTheCallbacksOfItsClients) {
  Driver driver;
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{.events = EPOLLIN, .data = {.ptr = &driver}};
  ASSERT_EQ(epoll_ctl(loop, EPOLL_CTL_ADD, driver.descriptor(), &wanted), 0);
  std::optional<Client> one = test::open("embedded://1", {.executor = driver.executor()});
  std::optional<Client> two = test::open("embedded://2", {.executor = driver.executor()});
  const auto here = std::this_thread::get_id();
  int left = 200;
  for (int i = 0; i < 100; ++i) {
    for (Client* client : {&*one, &*two}) {
      const std::string key = "key" + std::to_string(i);
      client->async().set(key, key).then([&, client, key](Result<SetResult> set) {
        ASSERT_TRUE(set);
        ASSERT_EQ(std::this_thread::get_id(), here);
        client->async().get(key).then([&, key](Result<GetResult> got) {
          EXPECT_EQ(got.value()->data, key);
          --left;
        });
      });
    }
  }
  while (left > 0) {
    epoll_event event{};
    ASSERT_EQ(wait_for_event(loop, event), 1);
    static_cast<Driver*>(event.data.ptr)->poll();
  }
  one.reset();
  two.reset();
  ::close(loop);
}

TEST(DriverExecutor, WhatWaitsWhenTheClientIsDestroyedRunsOnceAllTheSame) {
  Driver driver;
  std::atomic<int> ran = 0;
  {
    Client client = test::open("embedded://1", {.executor = driver.executor()});
    for (int i = 0; i < 50; ++i) client.async().get("key").then([&](Result<GetResult>) { ++ran; });
  }
  EXPECT_EQ(ran, 50);
  driver.poll();
  EXPECT_EQ(ran, 50);
}

TEST(DriverExecutor, ManyThreadsMayPost) {
  Driver driver;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1'000; ++k) driver.post([] {});
    });
  }
  std::size_t done = 0;
  while (done < 4'000) {
    ASSERT_TRUE(readable(driver, 30'000));
    done += driver.poll();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(driver.poll(), 0u);  // the last task may have run before its signal came
  EXPECT_FALSE(readable(driver));
}

}  // namespace
}  // namespace sheaf
