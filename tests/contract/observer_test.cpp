// The requests that an observer is notified of, on every kind of endpoint.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/client.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// Runs callbacks when the test asks for it, on its thread.
class Heard {
 public:
  ClientOptions options() {
    ClientOptions options;
    options.executor = [this](std::function<void()> task) {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
    };
    options.observer.parent = [this] { return parent_; };
    options.observer.ended = [this](const RequestEvent& event, std::uint64_t missed) {
      events_.push_back(event);
      missed_ += missed;
    };
    return options;
  }
  // Sets the parent of the next calls.
  void set_parent(const std::string& name) { parent_ = std::make_shared<std::string>(name); }
  std::uint64_t missed() const { return missed_; }
  const std::vector<RequestEvent>& events() {
    while (const auto task = next()) task();
    return events_;
  }

 private:
  std::function<void()> next() {
    const std::scoped_lock lock(mutex_);
    if (tasks_.empty()) return nullptr;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  std::shared_ptr<void> parent_;
  std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;
  std::vector<RequestEvent> events_;
  std::uint64_t missed_ = 0;
};

std::string name_of(const RequestEvent& event) {
  return event.parent == nullptr ? "" : *static_cast<std::string*>(event.parent.get());
}

class Observed : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  std::unique_ptr<test::Endpoint> endpoint_ = GetParam().make();
  Heard heard_;  // outlives the client
  Client client_ = test::open(endpoint_->uri(), heard_.options());
};
INSTANTIATE_TEST_SUITE_P(On, Observed, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Observed, EachRequestIsShownWithTheCallThatItBelongsTo) {
  const auto before = std::chrono::system_clock::now();
  heard_.set_parent("write");
  ASSERT_TRUE(client_.set("observer/a", "1"));
  heard_.set_parent("read");
  ASSERT_TRUE(client_.get("observer/a"));
  ASSERT_TRUE(client_.get("observer/none"));
  const auto& events = heard_.events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].operation, "set");
  EXPECT_EQ(events[1].operation, "get");
  EXPECT_EQ(name_of(events[0]), "write");
  EXPECT_EQ(name_of(events[1]), "read");
  EXPECT_EQ(name_of(events[2]), "read");
  for (const RequestEvent& event : events) {
    EXPECT_FALSE(event.outcome);
    EXPECT_EQ(event.keys, 1u);
    EXPECT_FALSE(event.system.empty());
    EXPECT_FALSE(event.address.empty());
    EXPECT_GT(event.start, before - 1s);
    EXPECT_LT(event.start, before + 60s);
    EXPECT_GE(event.elapsed, 0ns);
    EXPECT_LT(event.elapsed, 60s);
  }
  const auto stats = client_.stats();
  EXPECT_TRUE(std::ranges::any_of(stats,
                                  [&](const NodeStats& node) {
                                    return node.node == events[0].address + ":" +
                                                            std::to_string(events[0].port) ||
                                           events[0].port == 0;
                                  }))
      << events[0].address << " " << events[0].port;
}

TEST_P(Observed, ABatchIsShownAsItsRequests) {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("observer/" + std::to_string(i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  // A key that an MGET does not find is requested again.
  for (const std::string& name : names) ASSERT_TRUE(client_.set(name, "v"));
  heard_.set_parent("batch");
  for (const auto& [key, got] : client_.get_many(keys)) ASSERT_TRUE(got) << key;
  std::uint32_t total = 0;
  for (const RequestEvent& event : heard_.events()) {
    if (event.operation == "set") continue;
    total += event.keys;
    EXPECT_EQ(event.operation, event.keys == 1 ? "get" : "get_many");
    EXPECT_EQ(name_of(event), "batch");
  }
  EXPECT_EQ(total, 40u);
}

TEST_P(Observed, AnAsynchronousCallHasTheParentOfTheThreadThatMadeIt) {
  heard_.set_parent("here");
  bool called = false;
  client_.async().get("observer/a").then([&](Result<GetResult> got) { called = got.has_value(); });
  heard_.set_parent("elsewhere");
  test::wait_for_condition("the callback", [&] { return heard_.events().size() == 1 && called; });
  EXPECT_EQ(name_of(heard_.events().front()), "here");
}

TEST_P(Observed, RequestsOfALockAComputationAndAListThatIsReadHaveTheirCallsAsWell) {
  heard_.set_parent("lock");
  {
    Locker locker(client_);
    LockResult lock = locker.try_lock("observer/lock");
    ASSERT_TRUE(lock);
    LockGuard guard = std::move(*lock);
    heard_.set_parent("write");
    ASSERT_TRUE(guard.write("observer/lock:data", "1", {.other_node = true}));
    heard_.set_parent("compute");
    ASSERT_TRUE(client_.get_or_compute("observer/made", {}, [] { return std::string("v"); }));
    heard_.set_parent("range");
    ASSERT_TRUE(List(client_, "observer/list").range(0, -1));
    heard_.set_parent("push");
    ASSERT_TRUE(List(client_, "observer/list").push("item"));
  }
  std::map<std::string, unsigned> requests;
  for (const RequestEvent& event : heard_.events()) ++requests[name_of(event)];
  for (const char* call : {"lock", "write", "compute", "range", ""}) {
    EXPECT_GT(requests[call], 0u) << call;
  }
  EXPECT_EQ(requests["push"], 0u) << "calls share the changes of a list";
}

TEST(Observed, ARequestThatIsNotAnsweredIsShownWithItsError) {
  Heard heard;
  // No server listens on port 1 of the loopback address.
  Client client = test::open("memcached://127.0.0.1:1", heard.options());
  ASSERT_FALSE(client.get("observer/a", {.timeout = 300ms}));
  ASSERT_FALSE(heard.events().empty());
  const RequestEvent& event = heard.events().front();
  EXPECT_EQ(event.outcome, Outcome::not_sent);
  EXPECT_EQ(event.system, "memcached");
  EXPECT_EQ(event.address, "127.0.0.1");
  EXPECT_EQ(event.port, 1);
  EXPECT_FALSE(event.text.empty());
}

TEST(Observed, EventsThatNobodyTakesAreCountedAndLeftOut) {
  Heard heard;
  Client client = test::open("embedded://1", heard.options());
  for (int i = 0; i < 10'005; ++i) ASSERT_TRUE(client.get("observer/a"));
  EXPECT_EQ(heard.events().size(), 10'000u);
  ASSERT_TRUE(client.get("observer/a"));
  EXPECT_EQ(heard.events().size(), 10'001u);
  EXPECT_EQ(heard.missed(), 5u);
}

TEST(Observed, WhatAnObserverThrowsGoesToTheHandlerAndTheCallGoesOn) {
  Heard heard;
  ClientOptions options = heard.options();
  int thrown = 0;
  options.on_exception = [&](const std::exception_ptr&) { ++thrown; };
  options.observer.parent = []() -> std::shared_ptr<void> { throw std::runtime_error("parent"); };
  options.observer.ended = [](const RequestEvent&, std::uint64_t) {
    throw std::runtime_error("ended");
  };
  Client client = test::open("embedded://1", std::move(options));
  EXPECT_TRUE(client.set("observer/a", "1"));
  static_cast<void>(heard.events());
  EXPECT_EQ(thrown, 2);
}

TEST(Observed, WithoutAnObserverNoParentIsAskedFor) {
  ClientOptions options;
  int asked = 0;
  options.observer.parent = [&asked]() -> std::shared_ptr<void> {
    ++asked;
    return nullptr;
  };
  Client client = test::open("embedded://1", std::move(options));
  EXPECT_TRUE(client.set("observer/a", "1"));
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace sheaf
