// Clients that a driver turns: no thread of the library, and no other difference.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/client.h>
#include <sheaf/driver.h>
#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"
#include "tests/support/listener.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

std::size_t threads() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// Turns the driver as a program with poll() does, through its descriptor alone. Returns how often
// it woke.
template <class Done>
unsigned turn_until(Driver& driver, const Done& done, std::chrono::milliseconds longest = 60s) {
  unsigned woken = 0;
  const auto end = std::chrono::steady_clock::now() + longest;
  while (!done()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= 0ms) break;
    pollfd wanted{.fd = driver.descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, static_cast<int>(left.count())) > 0) {
      driver.poll();
      ++woken;
    }
  }
  return woken;
}

class Driven : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  std::unique_ptr<test::Endpoint> endpoint_ = GetParam().make();
  Driver driver_;  // outlives the client
};
INSTANTIATE_TEST_SUITE_P(On, Driven, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Driven, AClientHasNoThreadAndItsCallbacksRunInPoll) {
  const std::size_t before = threads();
  Client client = test::open(endpoint_->uri(), {.driver = &driver_});
  const auto here = std::this_thread::get_id();
  int ended = 0;
  client.async().set("driver/a", "1").then([&](Result<SetResult> set) {
    EXPECT_TRUE(set) << set.error().message();
    EXPECT_EQ(std::this_thread::get_id(), here);
    client.async().get("driver/a").then([&](Result<GetResult> got) {
      EXPECT_TRUE(got && *got && (*got)->data == "1");
      ++ended;
    });
  });
  turn_until(driver_, [&] { return ended == 1; });
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(threads(), before);
}

TEST_P(Driven, BlockingCallsNeedNobodyWhoTurns) {
  Client client = test::open(endpoint_->uri(), {.driver = &driver_});
  bool ended = false;
  client.async().set("driver/b", "1").then([&](Result<SetResult>) { ended = true; });
  ASSERT_TRUE(client.set("driver/a", "1"));  // while work for the driver waits
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("driver/" + std::to_string(i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  for (const auto& [key, got] : client.get_many(keys)) ASSERT_TRUE(got) << key;
  Locker locker(client);
  ASSERT_TRUE(locker.lock("driver/lock", {.wait = 5s}));
  EXPECT_FALSE(ended);
  turn_until(driver_, [&] { return ended; });
  EXPECT_TRUE(ended);
}

TEST_P(Driven, ThreadsThatCallBesideTheDriverAllGetTheirAnswers) {
  Client client = test::open(endpoint_->uri(), {.driver = &driver_});
  std::atomic<int> blocking = 0;
  std::atomic<int> called = 0;
  std::jthread turning([&](const std::stop_token& stop) { driver_.run(stop); });
  {
    std::vector<std::jthread> callers;
    for (int thread = 0; thread < 4; ++thread) {
      callers.emplace_back([&, thread] {
        const std::string key = "driver/" + std::to_string(thread);
        for (int i = 0; i < 100; ++i) {
          client.async().set(key, "v").then([&](Result<SetResult> set) { called += set ? 1 : 0; });
          blocking += client.get(key) ? 1 : 0;
        }
      });
    }
  }
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (called < 400 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(blocking, 400);
  EXPECT_EQ(called, 400);
}

TEST(Driven, AnIdleClientWakesNobody) {
  Driver driver;
  Client client = test::open("embedded://1", {.driver = &driver});
  ASSERT_TRUE(client.set("driver/a", "1"));
  turn_until(driver, [] { return false; }, 100ms);  // does the remaining work
  EXPECT_LE(turn_until(driver, [] { return false; }, 300ms), 3u);
}

TEST(Driven, ADeadlineMakesTheDescriptorReadable) {
  test::DeafServer server;
  Driver driver;
  Client client = test::open("memcached://" + server.address(), {.driver = &driver});
  std::optional<Error> error;
  const auto started = std::chrono::steady_clock::now();
  client.async().get("driver/a", {.timeout = 200ms}).then([&](Result<GetResult> got) {
    if (!got) error = got.error();
  });
  const unsigned woken = turn_until(driver, [&] { return error.has_value(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, Reason::timed_out);
  EXPECT_GE(std::chrono::steady_clock::now() - started, 200ms);
  EXPECT_LE(woken, 50u);
  EXPECT_TRUE(driver.timeout());  // the client keeps probing the server
}

// A turn of poll() does not wait, so it is not late. A busy machine may really pause the process.
TEST(Driven, ADeadlineIsNotTakenForAPauseOfTheProcess) {
  test::DeafServer server;
  Driver driver;
  Client client = test::open("memcached://" + server.address(), {.driver = &driver});
  std::optional<Error> error;
  for (int tries = 0; tries < 50 && (!error || error->paused); ++tries) {
    error.reset();
    client.async().get("driver/a", {.timeout = 20ms}).then([&](Result<GetResult> got) {
      if (!got) error = got.error();
    });
    turn_until(driver, [&] { return error.has_value(); });
  }
  ASSERT_TRUE(error);
  EXPECT_FALSE(error->paused) << error->message();
}

TEST(Driven, ACallMakesTheDescriptorReadableWhileAnotherWaitsForItsAnswer) {
  test::DeafServer server;
  Driver driver;
  Client client = test::open("mqtt://" + server.address() + "?timeout=20s&connect_timeout=20s",
                             {.driver = &driver});
  client.async().get("driver/a").then([](Result<GetResult>) {});
  turn_until(driver, [] { return false; }, 100ms);  // does everything that can be done
  ASSERT_FALSE(driver.run_one(0ms));
  client.async().get("driver/b").then([](Result<GetResult>) {});
  EXPECT_TRUE(driver.run_one(0ms));
}

TEST(Driven, ManyClientsShareOneThreadAndEndWhileOthersWork) {
  Driver driver;
  std::jthread turning([&](const std::stop_token& stop) { driver.run(stop); });
  const std::size_t before = threads();
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(test::open("embedded://2", {.driver = &driver}));
  EXPECT_EQ(threads(), before);
  std::atomic<int> called = 0;
  for (int round = 0; round < 20; ++round) {
    for (Client& client : clients)
      client.async().set("driver/a", "1").then([&](Result<SetResult>) { ++called; });
    clients.pop_back();  // its callbacks still come
  }
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (called < 210 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(called, 210);
}

TEST(Driven, AClientEndsInItsOwnCallback) {
  Driver driver;
  auto client = std::make_unique<Client>(test::open("embedded://1", {.driver = &driver}));
  bool closed = false;
  client->async().get("driver/a").then([&](Result<GetResult>) {
    client.reset();
    closed = true;
  });
  turn_until(driver, [&] { return closed; });
  EXPECT_TRUE(closed);
  EXPECT_LE(turn_until(driver, [] { return false; }, 50ms), 3u);
}

TEST(Driven, WhatWasNotTurnedEndsWithItsClient) {
  Driver driver;
  std::optional<Result<GetResult>> ended;
  {
    Client client = test::open("embedded://1", {.driver = &driver});
    client.async().get("driver/a").then([&](Result<GetResult> got) { ended = std::move(got); });
  }
  ASSERT_TRUE(ended);  // with an answer or as shutdown
  if (!*ended) {
    EXPECT_EQ(ended->error().outcome, Outcome::shutdown);
  }
}

TEST(Driven, ATaskOfTheProgramRunsAndWhatItThrowsLeavesPoll) {
  Driver driver;
  int ran = 0;
  driver.post([] { throw std::runtime_error("task"); });
  driver.post([&] { ++ran; });
  EXPECT_THROW(driver.poll(), std::runtime_error);
  EXPECT_TRUE(driver.run_one(0ms));  // the descriptor is readable for the second
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(driver.run_one(0ms));
}

TEST(Driven, EachOfSeveralThreadsInRunEndsWhenItsOwnTokenIsStopped) {
  for (int round = 0; round < 500; ++round) {
    Driver driver;
    std::latch begun(3);
    std::vector<std::jthread> turning;
    for (int i = 0; i < 3; ++i)
      turning.emplace_back([&](const std::stop_token& stop) { driver.run(stop); });
    if (round % 2 == 0) {  // all have begun, or some begin late
      for (int i = 0; i < 3; ++i) driver.post([&] { begun.arrive_and_wait(); });
      begun.wait();
    }
    for (std::jthread& thread : turning) {
      thread.request_stop();
      thread.join();  // the later threads keep sleeping
    }
  }
}

TEST(Driven, AThreadThatIsStoppedLeavesWorkToTheOthers) {
  Driver driver;
  std::jthread staying([&](const std::stop_token& stop) { driver.run(stop); });
  std::atomic<int> ran = 0;
  for (int round = 0; round < 200; ++round) {
    std::jthread leaving([&](const std::stop_token& stop) { driver.run(stop); });
    driver.post([&] { ++ran; });
    leaving.request_stop();
  }
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (ran < 200 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(ran, 200);
}

TEST(Driven, AThreadThatIsStoppedInACallbackWakesNobodyMeanwhile) {
  Driver driver;
  std::stop_source stopping;
  unsigned woken = 0;
  driver.post([&] {
    stopping.request_stop();
    woken = turn_until(driver, [] { return false; }, 50ms);
  });
  driver.run(stopping.get_token());
  EXPECT_LE(woken, 3u);
  EXPECT_FALSE(driver.run_one(0ms));  // no work is left
}

TEST(Driven, AnExecutorOfTheProgramRunsTheCallbacksInstead) {
  Driver driver;
  std::vector<std::function<void()>> tasks;
  ClientOptions options{.driver = &driver};
  options.executor = [&](std::function<void()> task) { tasks.push_back(std::move(task)); };
  Client client = test::open("embedded://1", std::move(options));
  bool called = false;
  client.async().get("driver/a").then([&](Result<GetResult>) { called = true; });
  turn_until(driver, [&] { return !tasks.empty(); });
  EXPECT_FALSE(called);
  while (!tasks.empty()) {
    const auto task = std::move(tasks.front());
    tasks.erase(tasks.begin());
    task();
  }
  EXPECT_TRUE(called);
}

TEST(Driven, InAForkedChildPollDoesNothing) {
  Driver driver;
  Client client = test::open("embedded://1", {.driver = &driver});
  ASSERT_TRUE(client.set("driver/a", "1"));
  client.async().get("driver/a").then([](Result<GetResult>) {});
  EXPECT_EXIT(
      {
        const bool right =
            driver.poll() == 0 && client.get("driver/a").error().reason == Reason::forked;
        std::_Exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sheaf
