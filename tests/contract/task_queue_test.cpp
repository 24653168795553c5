// A program with its own loop, which runs a client's callbacks when its descriptor is readable.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/task_queue.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

bool readable(const TaskQueue& queue, int milliseconds = 0) {
  pollfd wanted{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, milliseconds) == 1;
}

TEST(TaskQueue, TellsWhenThereAreTasksAndRunsThoseThatWait) {
  TaskQueue queue;
  EXPECT_FALSE(readable(queue));
  EXPECT_EQ(queue.run(), 0u);
  std::string order;
  queue.post([&] {
    order += 'a';
    queue.post([&] { order += 'c'; });
  });
  queue.post([&] { order += 'b'; });
  EXPECT_TRUE(readable(queue));
  EXPECT_EQ(queue.run(), 2u);
  EXPECT_EQ(order, "ab") << "not those that a task adds";
  EXPECT_TRUE(readable(queue));
  EXPECT_TRUE(queue.run_one());
  EXPECT_EQ(order, "abc");
  EXPECT_FALSE(readable(queue));
  EXPECT_FALSE(queue.run_one());
}

TEST(TaskQueue, WhatATaskThrowsLeavesTheCallAndTheOthersWait) {
  TaskQueue queue;
  bool ran = false;
  queue.post([] { throw std::runtime_error("x"); });
  queue.post([&] { ran = true; });
  EXPECT_THROW(queue.run(), std::runtime_error);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(readable(queue));
  EXPECT_EQ(queue.run(), 1u);
  EXPECT_TRUE(ran);
}

TEST(TaskQueue, AnExecutorMayOutliveItAndThenDropsWhatItGets) {
  const auto alive = std::make_shared<int>(0);
  std::function<void(std::function<void()>)> executor;
  {
    TaskQueue queue;
    executor = queue.executor();
    executor([alive] { FAIL() << "a task that was dropped ran"; });
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  executor([alive] { FAIL() << "a task that was dropped ran"; });
  EXPECT_EQ(alive.use_count(), 1);
}

// Callbacks of two clients on the one thread that turns an epoll loop.
TEST(TaskQueue, AnEpollLoopRunsTheCallbacksOfItsClients) {
  TaskQueue queue;
  const int loop = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{.events = EPOLLIN, .data = {.ptr = &queue}};
  ASSERT_EQ(epoll_ctl(loop, EPOLL_CTL_ADD, queue.descriptor(), &wanted), 0);
  std::optional<Client> one = test::open("embedded://1", {.executor = queue.executor()});
  std::optional<Client> two = test::open("embedded://2", {.executor = queue.executor()});
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
    ASSERT_EQ(epoll_wait(loop, &event, 1, 30'000), 1);
    static_cast<TaskQueue*>(event.data.ptr)->run();
  }
  one.reset();
  two.reset();
  ::close(loop);
}

TEST(TaskQueue, WhatWaitsWhenTheClientIsDestroyedRunsOnceAllTheSame) {
  TaskQueue queue;
  std::atomic<int> ran = 0;
  {
    Client client = test::open("embedded://1", {.executor = queue.executor()});
    for (int i = 0; i < 50; ++i) client.async().get("key").then([&](Result<GetResult>) { ++ran; });
  }
  EXPECT_EQ(ran, 50);
  queue.run();
  EXPECT_EQ(ran, 50);
}

TEST(TaskQueue, ManyThreadsMayPost) {
  TaskQueue queue;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1'000; ++k) queue.post([] {});
    });
  }
  std::size_t done = 0;
  while (done < 4'000) {
    ASSERT_TRUE(readable(queue, 30'000));
    done += queue.run();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(readable(queue));
}

}  // namespace
}  // namespace sheaf
