// Client::watch on every kind of endpoint that has it.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include <sheaf/async.h>
#include <sheaf/client.h>
#include <sheaf/driver.h>

#include "protocol/statestore/clock.h"
#include "tests/contract/endpoints.h"

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"
#endif

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Kind = WatchEvent::Kind;
using Keys = std::vector<std::string_view>;
using test::soon;

// Returns the next event, of any key or of one; fails the test if none comes.
WatchEvent next(Watch& watch) {
  auto event = watch.next({.wait = soon});
  if (!event) throw std::runtime_error(event.error().message());
  if (!event->has_value()) throw std::runtime_error("no event came");
  return std::move(**event);
}
WatchEvent next_of(Watch& watch, Kind kind) {
  for (;;) {
    WatchEvent event = next(watch);
    if (event.kind == kind) return event;
  }
}
// Returns the next event that says what a key holds. A server that stalls on a busy machine costs
// the watch its connection, and then there is a gap.
WatchEvent next_state(Watch& watch) {
  for (;;) {
    WatchEvent event = next(watch);
    const bool state =
        event.kind == Kind::current || event.kind == Kind::set || event.kind == Kind::deleted;
    if (state) return event;
  }
}
// Takes events until the key has this value.
void until_value(Watch& watch, const std::string& key, const std::optional<std::string>& value) {
  for (;;) {
    const WatchEvent event = next_state(watch);
    if (event.key == key && event.value == value) return;
  }
}

class WatchContract : public test::OnEndpoint {};
// State stores send each change; other endpoints merge changes that follow one another quickly.
class EveryChange : public test::OnEndpoint {};

INSTANTIATE_TEST_SUITE_P(On, WatchContract, testing::ValuesIn(test::watch_factories()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(On, EveryChange, testing::ValuesIn(test::endpoint_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(WatchContract, AWatchReportsWhatThereIsAndThenChanges) {
  const auto first = client->set("k", "1").value();
  Watch watch = client->watch("k").value();
  WatchEvent event = next_state(watch);
  EXPECT_EQ(event.kind, Kind::current);
  EXPECT_EQ(event.key, "k");
  EXPECT_EQ(event.value, "1");
  EXPECT_EQ(event.version, first.version);
  Client other = test::open(endpoint->uri());
  const auto second = other.set("k", "2").value();
  event = next_state(watch);
  EXPECT_EQ(event.kind, Kind::set);
  EXPECT_EQ(event.value, "2");
  EXPECT_EQ(event.version, second.version);
  client->remove("k").value();
  EXPECT_EQ(next_state(watch).kind, Kind::deleted);
  const std::string bytes("\0\r\n\xFF", 4);
  other.set("k", bytes).value();
  EXPECT_EQ(next_state(watch).value, bytes);
}

TEST_P(WatchContract, TheEndOfALifeIsADeletion) {
  Watch watch = client->watch("short").value();
  until_value(watch, "short", std::nullopt);
  for (int tries = 0; tries < 10; ++tries) {
    client->set("short", "", {.ttl = 4s}).value();
    const auto event = watch.next({.wait = 8s}).value();
    if (!event || event->kind != Kind::set) continue;  // the machine stalled for its whole life
    EXPECT_EQ(event->value, "");
    EXPECT_EQ(next_state(watch).kind, Kind::deleted);
    return;
  }
  FAIL() << "nothing was reported";
}

TEST_P(EveryChange, EvenAValueOfOneMillisecondIsReported) {
  Watch watch = client->watch("k").value();
  EXPECT_EQ(next(watch).kind, Kind::current);
  client->set("k", "", {.ttl = 1ms}).value();
  EXPECT_EQ(next(watch).value, "");
  EXPECT_EQ(next(watch).kind, Kind::deleted);
  EXPECT_FALSE(watch.try_next().value().has_value());
}

TEST_P(WatchContract, KeysOnAllNodesAreWatchedTogether) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("all/" + std::to_string(i));
  Keys keys(names.begin(), names.end());
  keys.push_back(names[0]);
  Watch watch = client->watch(keys).value();
  EXPECT_EQ(watch.keys(), names);
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const WatchEvent event = next_state(watch);
    EXPECT_EQ(event.kind, Kind::current);
    EXPECT_EQ(event.value, std::nullopt);
    ++seen[event.key];
  }
  EXPECT_EQ(seen.size(), names.size());
  for (const auto& name : names) client->set(name, name).value();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const WatchEvent event = next_state(watch);
    EXPECT_EQ(event.value, event.key);
  }
}

TEST_P(EveryChange, AWatchThatIsNotDrainedCostsTheOthersNothing) {
  std::latch blocked(1);
  std::latch released(1);
  std::atomic<int> calls = 0;
  Watch lazy = client
                   ->watch(Keys{"k"}, {},
                           [&](const WatchEvent&) {
                             if (++calls == 1) blocked.count_down();
                             released.wait();
                           })
                   .value();
  blocked.wait();  // from here on it waits in its callback
  Watch eager = client->watch("k").value();
  EXPECT_EQ(next(eager).kind, Kind::current);
  for (int i = 0; i < 500; ++i) {
    client->set("k", std::to_string(i)).value();
    EXPECT_EQ(next(eager).value, std::to_string(i));
  }
  EXPECT_EQ(calls, 1);
  released.count_down();
}

TEST_P(EveryChange, WhatDoesNotFitIsConflatedAndReportedAsAGap) {
  const auto start = std::chrono::system_clock::now();
  Watch small = client->watch("k", {.queue_limit = 2}).value();
  Watch large = client->watch("k").value();
  until_value(large, "k", std::nullopt);
  for (int i = 0; i < 100; ++i) client->set("k", std::to_string(i)).value();
  until_value(large, "k", "99");
  EXPECT_EQ(next(small).kind, Kind::current);
  EXPECT_EQ(next(small).value, "0");
  const WatchEvent gap = next(small);
  EXPECT_EQ(gap.kind, Kind::gap);
  EXPECT_EQ(gap.key, "k");
  EXPECT_GE(gap.from, start - 1s);
  EXPECT_GE(gap.until, gap.from);
  EXPECT_LE(gap.until, std::chrono::system_clock::now());
  EXPECT_EQ(next(small).value, "99");
  EXPECT_FALSE(small.try_next().value().has_value());
}

TEST_P(WatchContract, AWatchOutlivesItsClientAndReportsTheEnd) {
  client->set("k", "1").value();
  Watch watch = client->watch("k").value();
  Watch drained = client->watch("k").value();
  until_value(drained, "k", "1");
  client->set("k", "2").value();
  until_value(drained, "k", "2");
  client.reset();
  EXPECT_EQ(next_state(watch).value, "1");
  EXPECT_EQ(next_state(watch).value, "2");
  const auto end = watch.next({.wait = soon});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().outcome, Outcome::shutdown);
  EXPECT_FALSE(drained.try_next());
}

TEST_P(EveryChange, CallbacksComeOneAfterAnotherAndNoneAfterTheWatchHasGone) {
  std::atomic<int> inside = 0;
  std::atomic<int> calls = 0;
  std::latch current(3);  // before that, a write may come as the current state
  std::latch some(20);
  {
    const Watch watch = client
                            ->watch(Keys{"a", "b", "c"}, {},
                                    [&](const WatchEvent&) {
                                      EXPECT_EQ(++inside, 1);
                                      const int call = ++calls;
                                      if (call <= 3) current.count_down();
                                      if (call <= 20) some.count_down();
                                      --inside;
                                    })
                            .value();
    current.wait();
    for (int i = 0; i < 40; ++i) client->set(i % 2 == 0 ? "a" : "b", std::to_string(i)).value();
    some.wait();
  }
  const int before = calls;
  client->set("a", "later").value();
  client->get("a").value();
  EXPECT_EQ(calls, before);
}

TEST_P(WatchContract, AWatchMayEndItselfInItsCallbackAndNoFurtherOneRuns) {
  for (int round = 0; round < 10; ++round) {
    std::optional<Watch> watch;
    std::atomic<int> calls = 0;
    std::latch made(1);
    std::latch gone(1);
    watch = client
                ->watch(Keys{"a", "b"}, {},  // two events wait at once: each key's value
                        [&](const WatchEvent&) {
                          if (++calls > 1) return;
                          made.wait();
                          watch.reset();
                          gone.count_down();
                        })
                .value();
    Watch witness = client->watch("b").value();
    next_state(witness);
    made.count_down();
    gone.wait();
    EXPECT_FALSE(watch.has_value());
    const std::string value = std::to_string(round);
    client->set("b", value).value();
    until_value(witness, "b", value);
    EXPECT_EQ(calls, 1);
  }
}

// A watch of a key that one thread alone writes sees the last value of that thread, what it writes
// next, and nothing else. The versions of every key rise.
TEST_P(EveryChange, ManyThreadsWatchAndWriteAtOnce) {
  constexpr int rounds = 10;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const std::string own = "own/" + std::to_string(t);
      std::optional<std::string> before;
      for (int round = 0; round < rounds; ++round) {
        const std::vector<std::string_view> keys{"shared", own};
        Watch watch = client->watch(keys).value();
        if (round % 2 == 1) until_value(watch, own, before);  // so the change comes as one
        const std::string value = std::to_string(t) + "/" + std::to_string(round);
        client->set("shared", value).value();
        client->set(own, value).value();
        std::map<std::string, std::string> newest;
        for (bool found = false; !found;) {
          const WatchEvent event = next(watch);
          if (event.kind == Kind::gap) continue;
          const std::string known = std::exchange(newest[event.key], event.version.text);
          if (!known.empty()) {
            EXPECT_EQ(protocol::statestore::compare_versions(known, event.version.text),
                      protocol::VersionOrder::older)
                << event.key << " " << known << " then " << event.version.text;
          }
          if (event.key != own) continue;
          found = event.value == value;
          EXPECT_TRUE(found || event.value == before) << event.value.value_or("nothing");
        }
        before = value;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) {
    const std::string last = std::to_string(t) + "/" + std::to_string(rounds - 1);
    EXPECT_EQ(client->get("own/" + std::to_string(t)).value()->data, last);
  }
}

TEST(WatchArguments, AreChecked) {
  Client client = test::open("embedded://1?name=watch-arguments");
  EXPECT_EQ(client.watch("").error().outcome, Outcome::invalid);
  EXPECT_EQ(client.watch(Keys{}).error().text, "no key to watch was given");
  EXPECT_EQ(client.watch("k", {.queue_limit = 0}).error().text,
            "queue_limit is 0; it must be 1 to 1000000");
  Watch watch = client.watch(Keys{"k"}, {}, [](const WatchEvent&) {}).value();
  EXPECT_EQ(watch.try_next().error().outcome, Outcome::invalid);
  const Watch moved = std::move(watch);
  EXPECT_EQ(moved.keys().size(), 1U);
}

TEST(WatchSubscribed, AStoreThatNotifiesOnlySubscribersIsHeard) {
  Client client = test::open("embedded://3?name=watch-subscribed&notify=subscribed");
  Watch watch = client.watch("k").value();
  EXPECT_EQ(next(watch).kind, Kind::current);
  client.set("k", "1").value();
  EXPECT_EQ(next(watch).value, "1");
}

// The user's executor runs the callbacks of a watch one after another, on any threads.
TEST(WatchExecutor, TakesTheCallbacks) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  bool over = false;
  ClientOptions options;
  options.executor = [&](std::function<void()> task) {
    const std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
    changed.notify_one();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      for (;;) {
        changed.wait(lock, [&] { return over || !tasks.empty(); });
        if (tasks.empty()) return;
        auto task = std::move(tasks.front());
        tasks.pop_front();
        lock.unlock();
        task();
        lock.lock();
      }
    });
  }
  {
    Client client = test::open("embedded://3?name=watch-executor", std::move(options));
    std::atomic<int> inside = 0;
    std::latch current(1);
    std::latch all(101);
    const Watch watch = client
                            .watch(Keys{"k"}, {},
                                   [&](const WatchEvent& event) {
                                     EXPECT_EQ(++inside, 1);
                                     --inside;
                                     if (event.kind == WatchEvent::Kind::current)
                                       current.count_down();
                                     all.count_down();
                                   })
                            .value();
    current.wait();  // an earlier set would not be reported as a set
    for (int i = 0; i < 100; ++i) client.set("k", std::to_string(i)).value();
    all.wait();
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
    changed.notify_all();
  }
  for (auto& thread : threads) thread.join();
}

TEST(WatchExecutor, ItsCallbacksAndThoseOfCallsRunOneAfterAnother) {
  std::atomic<int> inside = 0;
  std::latch watched(1);
  std::latch called(200);
  const auto alone = [&] {
    EXPECT_EQ(++inside, 1);
    std::this_thread::yield();
    --inside;
  };
  ClientOptions options;
  options.executor = [](std::function<void()> task) { std::thread(std::move(task)).detach(); };
  Client client = test::open("embedded://1?name=watch-strand", std::move(options));
  const Watch watch = client
                          .watch(Keys{"k"}, {},
                                 [&](const WatchEvent& event) {
                                   alone();
                                   if (event.value == "199") watched.count_down();
                                 })
                          .value();
  for (int i = 0; i < 200; ++i) {
    client.async().set("k", std::to_string(i)).then([&](const Result<SetResult>& set) {
      EXPECT_TRUE(set);
      alone();
      called.count_down();
    });
  }
  called.wait();
  watched.wait();
}

// No other thread turns the lane of a client with a driver.
TEST(WatchDriven, WhoWaitsForAnEventTurnsTheLane) {
  Driver driver;
  std::optional<Client> client = test::open("embedded://1?name=watch-driven", {.driver = &driver});
  Watch watch = client->watch("k").value();
  EXPECT_EQ(next(watch).kind, Kind::current);
  EXPECT_FALSE(watch.next({.wait = 1ms}).value());
  EXPECT_FALSE(watch.try_next().value());
  std::thread writer([] {
    Client other = test::open("embedded://1?name=watch-driven");
    ::poll(nullptr, 0, 20);
    other.set("k", "1").value();
  });
  EXPECT_EQ(next(watch).value, "1");
  writer.join();

  std::stop_source source;
  const std::stop_token token = source.get_token();
  std::thread stopper([&] {
    ::poll(nullptr, 0, 20);
    source.request_stop();
  });
  EXPECT_EQ(watch.next({.stop = &token}).error().reason, Reason::cancelled);
  stopper.join();

  std::thread closer([&] {
    ::poll(nullptr, 0, 20);
    client.reset();
  });
  EXPECT_EQ(watch.next().error().outcome, Outcome::shutdown);
  closer.join();
  EXPECT_EQ(watch.next().error().outcome, Outcome::shutdown);
}

void expect_no_callback_after_the_end(ClientOptions options) {
  std::optional<Client> client = test::open("embedded://1?name=watch-end", std::move(options));
  std::atomic<int> inside = 0;
  std::atomic<int> calls = 0;
  std::latch begun(1);
  const Watch watch = client
                          ->watch(Keys{"k"}, {},
                                  [&](const WatchEvent&) {
                                    ++inside;
                                    if (++calls == 2) begun.count_down();
                                    ::poll(nullptr, 0, 20);
                                    --inside;
                                  })
                          .value();
  for (int i = 0; i < 20; ++i) client->set("k", std::to_string(i)).value();
  begun.wait();
  client.reset();
  const int before = calls;
  EXPECT_EQ(inside, 0);
  ::poll(nullptr, 0, 100);
  EXPECT_EQ(calls, before);
}

TEST(WatchEnd, NoCallbackRunsOnceItsClientIsClosed) {
  expect_no_callback_after_the_end({});
  expect_no_callback_after_the_end(
      {.executor = [](std::function<void()> task) { std::thread(std::move(task)).detach(); }});
}

TEST(WatchEnd, ACallbackMayDestroyItsClient) {
  std::optional<Client> client = test::open("embedded://1?name=watch-own-end");
  std::latch watching(1);  // no call may run while its client is destroyed
  std::latch over(1);
  const Watch watch = client
                          ->watch(Keys{"k"}, {},
                                  [&](const WatchEvent&) {
                                    watching.wait();
                                    client.reset();
                                    over.count_down();
                                  })
                          .value();
  watching.count_down();
  over.wait();
}

#if !defined(__SANITIZE_THREAD__)
TEST(WatchFork, TheChildIsRefusedAndEndsInPeace) {
  Client client = test::open("embedded://1?name=watch-fork");
  std::optional<Watch> pulled = client.watch("k").value();
  std::optional<Watch> called = client.watch(Keys{"k"}, {}, [](const WatchEvent&) {}).value();
  next(*pulled);
  const pid_t child = fork();
  if (child == 0) {
    const auto refused = pulled->next({.wait = 1s});
    const bool right = !refused && refused.error().reason == Reason::forked;
    pulled.reset();
    called.reset();
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  client.set("k", "v").value();
  EXPECT_EQ(next(*pulled).value, "v");
}
#endif

#ifdef SHEAF_TEST_BROKERS
class WatchBroker : public testing::Test {
 protected:
  std::string uri(const test::BrokerProcess& broker) const {
    return "mqtt://127.0.0.1:" + std::to_string(broker.port());
  }
  // The number of connections that the broker has accepted.
  static std::size_t connections(const test::BrokerProcess& broker) {
    const std::string log = broker.log();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find("New client connected", at)) != std::string::npos;
         ++at) {
      ++count;
    }
    return count;
  }
};

TEST_F(WatchBroker, ARestartIsAGapWithItsTimeAndWhatIsThereNow) {
  test::Lent<test::BrokerProcess> broker;
  Client client = test::open(uri(*broker));
  client.set("k", "1").value();
  Watch watch = client.watch("k").value();
  EXPECT_EQ(next(watch).value, "1");
  const auto killed = std::chrono::system_clock::now();
  broker.to_break().kill();
  broker.to_break().restart();
  Client other = test::open(uri(*broker));
  other.set("k", "2").value();
  const WatchEvent gap = next_of(watch, Kind::gap);
  EXPECT_LE(gap.from, killed);
  EXPECT_GE(gap.from, killed - 5s);
  EXPECT_GE(gap.until, killed);
  EXPECT_LE(gap.until, std::chrono::system_clock::now());
  until_value(watch, "k", "2");
  other.set("k", "3").value();
  until_value(watch, "k", "3");
}

TEST_F(WatchBroker, AStoppedBrokerIsNoticedAndReportedWhenItGoesOn) {
  test::Lent<test::BrokerProcess> broker;
  Client client = test::open(uri(*broker));
  Watch watch = client.watch("k").value();
  EXPECT_EQ(next(watch).kind, Kind::current);
  broker.to_break().stop();
  const auto stopped = std::chrono::system_clock::now();
  // The line gives up on its own, and reports when it cannot come back.
  EXPECT_EQ(next_of(watch, Kind::failed).key, "k");
  broker.to_break().resume();
  const WatchEvent gap = next_of(watch, Kind::gap);
  EXPECT_LE(gap.from, stopped);
  EXPECT_GE(gap.until, stopped + 1s);
  while (!client.set("k", "1")) std::this_thread::yield();
  until_value(watch, "k", "1");
}

TEST_F(WatchBroker, AThousandKeysShareOneConnection) {
  test::Lent<test::BrokerProcess> broker;
  Client client = test::open(uri(*broker));
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("many/" + std::to_string(i));
  client.get(names[0]).value();
  const std::size_t before = connections(*broker);
  const Keys keys(names.begin(), names.end());
  Watch watch = client.watch(keys, {.queue_limit = 5'000}).value();
  std::vector<Watch> more;
  for (const auto& name : names) more.push_back(client.watch(name).value());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(next(watch).kind, Kind::current);
  for (auto& one : more) EXPECT_EQ(next(one).kind, Kind::current);
  EXPECT_EQ(connections(*broker) - before, 1U);
  std::vector<SetItem> items;
  for (const auto& name : names) items.push_back({name, name});
  for (const auto& stored : client.set_many(items, {.timeout = 20s})) stored.result.value();
  std::map<std::string, std::string> seen;
  while (seen.size() < names.size()) {
    const WatchEvent event = next(watch);
    ASSERT_TRUE(event.kind == Kind::set || event.kind == Kind::gap);
    if (event.value) seen[event.key] = *event.value;
  }
  for (const auto& name : names) EXPECT_EQ(seen[name], name);
}

TEST_F(WatchBroker, ABrokerThatIsNotThereIsReportedAndFoundWhenItComes) {
  test::Lent<test::BrokerProcess> broker;
  const std::string address = uri(*broker);
  broker.to_break().kill();
  Client client = test::open(address);
  Watch watch = client.watch("k").value();
  const WatchEvent failed = next(watch);
  EXPECT_EQ(failed.kind, Kind::failed);
  ASSERT_TRUE(failed.error.has_value());
  EXPECT_EQ("mqtt://" + failed.error->node, address);
  broker.to_break().restart();
  EXPECT_EQ(next_of(watch, Kind::current).value, std::nullopt);
}
#endif

}  // namespace
}  // namespace sheaf
