// AsyncWatch: waits for events that block no thread, and what ends such waits.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/driver.h>

#include "client/client_impl.h"
#include "tests/contract/forms.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Kind = WatchEvent::Kind;
using Next = Result<std::optional<WatchEvent>>;
using test::soon;

// ---- on every kind of endpoint with watches, in every way to consume a Call

using WatchParam = std::tuple<test::EndpointFactory, test::Form>;

class AsyncWatches : public testing::TestWithParam<WatchParam> {
 protected:
  AsyncWatches() : watch(client.watch("k").value()) {}
  // Returns the value of the next event that says what the key holds, skipping gaps.
  std::optional<std::string> next_value() {
    for (;;) {
      const auto next = test::outcome_of(form, watch.async().next({.wait = soon}));
      const WatchEvent& event = next.value().value();
      if (event.kind != Kind::gap && event.kind != Kind::failed) return event.value;
    }
  }

  const test::Form form = std::get<test::Form>(GetParam());
  std::unique_ptr<test::Endpoint> endpoint = std::get<test::EndpointFactory>(GetParam()).make();
  Client client = test::open(endpoint->uri());
  Watch watch;
};
INSTANTIATE_TEST_SUITE_P(On, AsyncWatches,
                         testing::Combine(testing::ValuesIn(test::watch_factories()),
                                          testing::ValuesIn(test::all_ways)),
                         test::name_of_form);

TEST_P(AsyncWatches, EventsComeOneByOneAndAWaitEnds) {
  EXPECT_EQ(next_value(), std::nullopt);
  ASSERT_TRUE(client.set("k", "1"));
  EXPECT_EQ(next_value(), "1");
  ASSERT_TRUE(client.remove("k"));
  EXPECT_EQ(next_value(), std::nullopt);
  EXPECT_FALSE(test::outcome_of(form, watch.async().next({.wait = 0s})).value());
  EXPECT_FALSE(test::outcome_of(form, watch.async().next({.wait = 20ms})).value());
}

TEST_P(AsyncWatches, AnEventEndsACallThatWaits) {
  EXPECT_EQ(next_value(), std::nullopt);
  std::promise<std::optional<std::string>> seen;
  std::thread waiter([&] { seen.set_value(next_value()); });
  ASSERT_TRUE(client.set("k", "later"));
  EXPECT_EQ(seen.get_future().get(), "later");
  waiter.join();
}

// ---- what ends a wait

class WaitForEvent : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      driver.emplace();
      turner = std::jthread([this](const std::stop_token& stop) { driver->run(stop); });
    }
    client.emplace(test::open("embedded://1?name=async-watch", options()));
    watch.emplace(client->watch("k").value());
    EXPECT_EQ(watch->next().value()->kind, Kind::current);
  }
  void TearDown() override {
    watch.reset();
    client.reset();
  }
  ClientOptions options() {
    ClientOptions made;
    if (driver) made.driver = &*driver;
    return made;
  }
  std::future<Next> begin(const NextOptions& options = {}) {
    return watch->async().next(options).future();
  }
  void set(const std::string& value) { ASSERT_TRUE(client->set("k", value)); }

  std::optional<Driver> driver;  // turned by another thread
  std::jthread turner;
  std::optional<Client> client;
  std::optional<Watch> watch;
};
INSTANTIATE_TEST_SUITE_P(Of, WaitForEvent, testing::Bool(), [](const auto& test) {
  return test.param ? "ADrivenClient" : "AClientWithThreads";
});

TEST_P(WaitForEvent, OfSeveralCallsEachGetsAnotherEventInTheirOrder) {
  std::vector<std::future<Next>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(begin());
  for (int i = 0; i < 10; ++i) set(std::to_string(i));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(waiting[i].get().value()->value, std::to_string(i));
}

TEST_P(WaitForEvent, ATokenEndsOneCallAndNoEventIsLost) {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  auto stopped = begin({.stop = &token});
  auto kept = begin();
  source.request_stop();
  EXPECT_EQ(stopped.get().error().reason, Reason::cancelled);
  set("1");
  set("2");
  EXPECT_EQ(kept.get().value()->value, "1");
  EXPECT_EQ(watch->next().value()->value, "2");
}

// A call that a token ends at the moment of an event either takes the event or leaves it to the
// next.
TEST_P(WaitForEvent, TokensAndEventsThatRaceLoseNothing) {
  constexpr int rounds = 300;
  std::vector<std::string> seen;
  std::thread writer([&] {
    for (int i = 0; i < rounds; ++i) set(std::to_string(i));
  });
  while (seen.size() < rounds) {
    std::stop_source source;
    const std::stop_token token = source.get_token();
    auto next = begin({.stop = &token});
    std::thread stopper([&] { source.request_stop(); });
    const Next got = next.get();
    stopper.join();
    if (got) {
      seen.push_back(*(*got)->value);
    } else {
      EXPECT_EQ(got.error().reason, Reason::cancelled);
    }
  }
  writer.join();
  for (int i = 0; i < rounds; ++i) EXPECT_EQ(seen[i], std::to_string(i));
}

TEST_P(WaitForEvent, TheEndOfTheWatchEndsIt) {
  auto next = begin();
  auto second = begin();
  const AsyncWatch async = watch->async();
  watch.reset();
  const Next got = next.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().outcome, Outcome::shutdown);
  EXPECT_FALSE(second.get());
  EXPECT_EQ(async.next().future().get().error().outcome, Outcome::shutdown);
}

TEST_P(WaitForEvent, AWatchThatIsMovedOntoItEndsIt) {
  auto next = begin();
  *watch = client->watch("other").value();
  EXPECT_EQ(next.get().error().outcome, Outcome::shutdown);
  EXPECT_EQ(watch->next().value()->key, "other");
}

TEST_P(WaitForEvent, ItGoesOnWhereTheWatchIsMovedTo) {
  auto next = begin();
  Watch elsewhere = std::move(*watch);
  const Next moved_from = watch->async().next().future().get();
  EXPECT_EQ(moved_from.error().outcome, Outcome::invalid);
  set("1");
  EXPECT_EQ(next.get().value()->value, "1");
  EXPECT_EQ(elsewhere.keys().size(), 1u);
}

TEST_P(WaitForEvent, TheEndOfTheClientEndsItAndLeavesWhatIsQueued) {
  auto next = begin();
  set("1");
  EXPECT_EQ(next.get().value()->value, "1");
  auto waits = begin();
  Watch queued = client->watch("k").value();
  Client(std::move(*client));
  EXPECT_EQ(waits.get().error().outcome, Outcome::shutdown);
  const auto left = queued.async().next().future().get();
  if (left) {
    EXPECT_EQ(left.value()->kind, Kind::current);
  }
  EXPECT_EQ(queued.async().next().future().get().error().outcome, Outcome::shutdown);
}

TEST_P(WaitForEvent, BlockingCallsTakeTurnsWithIt) {
  constexpr int rounds = 100;
  std::atomic<int> seen = 0;
  std::stop_source source;
  const std::stop_token token = source.get_token();
  std::thread blocking([&] {
    for (;;) {
      const Next got = watch->next({.stop = &token});
      if (!got) return;
      ++seen;
    }
  });
  std::thread waiting([&] {
    for (;;) {
      const Next got = begin({.stop = &token}).get();
      if (!got) return;
      ++seen;
    }
  });
  for (int i = 0; i < rounds; ++i) set(std::to_string(i));
  test::wait_for_condition("every event is taken", [&] { return seen == rounds; });
  source.request_stop();
  blocking.join();
  waiting.join();
  EXPECT_EQ(seen, rounds);
}

TEST_P(WaitForEvent, AWatchWithACallbackHasNone) {
  const Watch called = client->watch("k", {}, [](const WatchEvent&) {}).value();
  const Next got = called.async().next().future().get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().outcome, Outcome::invalid);
}

TEST_P(WaitForEvent, AKeyOfItsOwnMayHaveACallback) {
  std::promise<std::string> seen;
  const Watch called = client
                           ->watch("single", {},
                                   [&](const WatchEvent& event) {
                                     if (event.value) seen.set_value(event.key + *event.value);
                                   })
                           .value();
  ASSERT_TRUE(client->set("single", "1"));
  EXPECT_EQ(seen.get_future().get(), "single1");
}

// A wait has no request in flight, so blocking callers need not wake a thread for it.
TEST_P(WaitForEvent, AWaitIsNoWorkInFlight) {
  auto next = begin();
  ASSERT_TRUE(client->get("other"));  // the wait has begun
  EXPECT_FALSE(client::Internals::context(*client).lane().has_async());
  set("end");
  EXPECT_EQ(next.get().value()->value, "end");
}

}  // namespace
}  // namespace sheaf
