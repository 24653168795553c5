// Stop tokens: every call that waits ends at once when its token is asked to stop, with what is
// known of it, and the connection goes on as before.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include <sheaf/async.h>
#include <sheaf/async_list.h>
#include <sheaf/async_lock.h>

#include "tests/contract/endpoints.h"
#include "tests/support/deaf_server.h"
#include "tests/support/sanitized.h"

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// The promise is 10 ms; a sanitizer and a busy machine get more.
constexpr auto at_once = test::sanitized ? 200ms : 10ms;
constexpr auto patience = 20s;  // of calls that are to end by their token

// A coroutine that starts at once and fulfils a future.
template <class T>
struct Task {
  struct promise_type {
    std::promise<T> promise;
    Task get_return_object() { return {promise.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(T value) { promise.set_value(std::move(value)); }
    void unhandled_exception() { promise.set_exception(std::current_exception()); }
  };
  std::future<T> future;
};

// What a call came to: an error for each of its keys.
using Errors = std::vector<std::optional<Error>>;

template <class T>
Errors errors_of(const Result<T>& result) {
  return {result ? std::nullopt : std::optional(result.error())};
}
template <class T>
Errors errors_of(const std::vector<KeyResult<T>>& results) {
  Errors errors;
  for (const auto& entry : results) errors.push_back(errors_of(entry.result).front());
  return errors;
}

Errors errors_of(const LockResult& result) {
  return {result.failed() ? std::optional(result.error()) : std::nullopt};
}
Errors errors_of(const PushManyResult& result) { return {result.error}; }

// One way to call something that takes a token, begun on another thread or detached.
struct Form {
  std::string name;
  std::function<std::future<Errors>(Client&, std::stop_token)> begin;
};

template <class Call>
std::future<Errors> on_a_thread(Call call) {
  return std::async(std::launch::async, std::move(call));
}

template <class Out>
struct Callback {
  std::shared_ptr<std::promise<Errors>> promise = std::make_shared<std::promise<Errors>>();
  std::future<Errors> future = promise->get_future();
  std::function<void(Out)> receiver() {
    return [to = promise](const Out& out) { to->set_value(errors_of(out)); };
  }
};

template <class Out>
std::future<Errors> converted(std::future<Out> future) {
  return std::async(std::launch::async,
                    [f = std::move(future)]() mutable { return errors_of(f.get()); });
}

std::vector<std::string> texts(int count) {
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) made.push_back("key " + std::to_string(i));
  return made;
}

const std::vector<std::string> names = texts(200);
const std::vector<std::string_view> keys(names.begin(), names.end());
const std::vector<SetItem> items = [] {
  std::vector<SetItem> made;
  for (const std::string& name : names) made.push_back({name, name});
  return made;
}();

Task<Errors> await_get(AsyncClient client, std::stop_token stop) {
  co_return errors_of(co_await client.get("key", {.timeout = patience, .stop = &stop}));
}
Task<Errors> await_set(AsyncClient client, std::stop_token stop) {
  const SetOptions options{.timeout = patience, .stop = &stop};
  co_return errors_of(co_await client.set("key", "value", options));
}
Task<Errors> await_get_many(AsyncClient client, std::stop_token stop) {
  co_return errors_of(co_await client.get_many(keys, {.timeout = patience, .stop = &stop}));
}
Task<Errors> await_set_many(AsyncClient client, std::stop_token stop) {
  const BatchSetOptions options{.timeout = patience, .stop = &stop};
  co_return errors_of(co_await client.set_many(items, options));
}

std::vector<Form> forms() {
  return {
      {"get",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.get("key", {.timeout = patience, .stop = &stop}));
         });
       }},
      {"get, callback",
       [](Client& client, std::stop_token stop) {
         Callback<Result<GetResult>> done;
         client.async().get("key", {.timeout = patience, .stop = &stop}, done.receiver());
         return std::move(done.future);
       }},
      {"get, future",
       [](Client& client, std::stop_token stop) {
         return converted(client.futures().get("key", {.timeout = patience, .stop = &stop}));
       }},
      {"get, co_await",
       [](Client& client, std::stop_token stop) {
         return std::move(await_get(client.async(), std::move(stop)).future);
       }},
      {"set",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.set("key", "value", {.timeout = patience, .stop = &stop}));
         });
       }},
      {"set, callback",
       [](Client& client, std::stop_token stop) {
         Callback<Result<SetResult>> done;
         client.async().set("key", "value", {.timeout = patience, .stop = &stop}, done.receiver());
         return std::move(done.future);
       }},
      {"set, co_await",
       [](Client& client, std::stop_token stop) {
         return std::move(await_set(client.async(), std::move(stop)).future);
       }},
      {"remove",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.remove("key", {.timeout = patience, .stop = &stop}));
         });
       }},
      {"get_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.get_many(keys, {.timeout = patience, .stop = &stop}));
         });
       }},
      {"get_many, callback",
       [](Client& client, std::stop_token stop) {
         Callback<AsyncClient::Gets> done;
         client.async().get_many(keys, {.timeout = patience, .stop = &stop}, done.receiver());
         return std::move(done.future);
       }},
      {"get_many, co_await",
       [](Client& client, std::stop_token stop) {
         return std::move(await_get_many(client.async(), std::move(stop)).future);
       }},
      {"set_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.set_many(items, {.timeout = patience, .stop = &stop}));
         });
       }},
      {"set_many, callback",
       [](Client& client, std::stop_token stop) {
         Callback<AsyncClient::Sets> done;
         client.async().set_many(items, {.timeout = patience, .stop = &stop}, done.receiver());
         return std::move(done.future);
       }},
      {"set_many, co_await",
       [](Client& client, std::stop_token stop) {
         return std::move(await_set_many(client.async(), std::move(stop)).future);
       }},
      {"remove_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.remove_many(keys, {.timeout = patience, .stop = &stop}));
         });
       }},
  };
}

Task<Errors> await_lock(AsyncLocker locker, std::stop_token stop) {
  co_return errors_of(co_await locker.lock("lock", {.wait = patience, .stop = &stop}));
}
Task<Errors> await_push(AsyncList list, std::stop_token stop) {
  co_return errors_of(co_await list.push("item", {.timeout = patience, .stop = &stop}));
}
Task<Errors> await_range(AsyncList list, std::stop_token stop) {
  co_return errors_of(co_await list.range(0, -1, {.timeout = patience, .stop = &stop}));
}

std::vector<Form> lock_forms() {
  return {
      {"lock",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([locker = Locker(client), stop]() mutable {
           return errors_of(locker.lock("lock", {.wait = patience, .stop = &stop}));
         });
       }},
      {"lock, callback",
       [](Client& client, std::stop_token stop) {
         auto promise = std::make_shared<std::promise<Errors>>();
         Locker(client).async().lock(
             "lock", {.wait = patience, .stop = &stop},
             [promise](const LockResult& result) { promise->set_value(errors_of(result)); });
         return promise->get_future();
       }},
      {"lock, co_await",
       [](Client& client, std::stop_token stop) {
         return std::move(await_lock(Locker(client).async(), std::move(stop)).future);
       }},
  };
}

// What is several requests; the outcome says what became of the whole.
std::vector<Form> other_forms() {
  std::vector<Form> all = {
      {"push",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([list = List(client, "list"), stop]() mutable {
           return errors_of(list.push("item", {.timeout = patience, .stop = &stop}));
         });
       }},
      {"push, callback",
       [](Client& client, std::stop_token stop) {
         Callback<Result<std::uint64_t>> done;
         List(client, "list")
             .async()
             .push("item", {.timeout = patience, .stop = &stop}, done.receiver());
         return std::move(done.future);
       }},
      {"push, co_await",
       [](Client& client, std::stop_token stop) {
         return std::move(await_push(List(client, "list").async(), std::move(stop)).future);
       }},
      {"push_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([list = List(client, "list"), stop]() mutable {
           return errors_of(list.push_many(keys, {.timeout = patience, .stop = &stop}));
         });
       }},
      {"drop_holes",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([list = List(client, "list"), stop]() mutable {
           return errors_of(list.drop_holes({.timeout = patience, .stop = &stop}));
         });
       }},
      {"range, co_await",
       [](Client& client, std::stop_token stop) {
         return std::move(await_range(List(client, "list").async(), std::move(stop)).future);
       }},
      {"get_or_compute",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.get_or_compute("absent", {.timeout = patience, .stop = &stop},
                                                  [] { return std::string("made"); }));
         });
       }},
      {"check_nodes",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           Errors errors;
           for (const NodeReport& report : client.check_nodes({.timeout = patience, .stop = &stop}))
             errors.push_back(report.error);
           return errors;
         });
       }},
  };
  for (Form& form : lock_forms()) all.push_back(std::move(form));
  return all;
}

void wait_until(const std::function<bool()>& holds) {
  const auto until = steady_clock::now() + patience;
  while (!holds()) {
    ASSERT_LT(steady_clock::now(), until);
    std::this_thread::yield();
  }
}

// The median of several is what a busy machine leaves alone.
class Measured {
 public:
  static constexpr int rounds = 5;
  void add(steady_clock::duration took) { took_.push_back(took); }
  steady_clock::duration median() {
    std::ranges::sort(took_);
    return took_[took_.size() / 2];
  }

 private:
  std::vector<steady_clock::duration> took_;
};

// Stops the call once `begun`; every key it was for must have ended as cancelled, in time.
std::vector<Outcome> stop_and_check(const Form& form, Client& client, Measured& measured,
                                    const std::function<bool()>& begun) {
  std::stop_source source;
  auto ended = form.begin(client, source.get_token());
  wait_until(begun);
  const auto asked = steady_clock::now();
  source.request_stop();
  const Errors errors = ended.get();
  measured.add(steady_clock::now() - asked);
  std::vector<Outcome> outcomes;
  for (const auto& error : errors) {
    EXPECT_TRUE(error) << form.name << " ended with a value";
    if (!error) continue;
    EXPECT_EQ(error->reason, Reason::cancelled) << form.name << ": " << error->message();
    outcomes.push_back(error->outcome);
  }
  return outcomes;
}

std::vector<Form> all_forms() {
  std::vector<Form> all = forms();
  for (Form& form : other_forms()) all.push_back(std::move(form));
  return all;
}

TEST(Stop, WhatWaitsForAConnectionEndsAtOnceAndWasNotSent) {
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(form.name);
    Measured measured;
    for (int round = 0; round < Measured::rounds; ++round) {
      const test::DeafServer server;
      Client client = test::open("mqtt://" + server.address() + "?connect_timeout=20s");
      const auto waits = [&] { return client.stats().front().waiting > 0; };
      for (const Outcome outcome : stop_and_check(form, client, measured, waits)) {
        ASSERT_EQ(outcome, Outcome::not_sent);
      }
      // A list's writer and a lock's release go on unheard.
      if (form.name == "get") {
        EXPECT_EQ(client.stats().front().waiting, 0u);
      }
    }
    EXPECT_LT(measured.median(), at_once);
  }
}

TEST(Stop, ATokenThatWasStoppedBeforeRefusesTheCallAndNothingIsAsked) {
  Client client = test::open("embedded://1?name=stopped-before");
  std::stop_source source;
  source.request_stop();
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(form.name);
    for (const auto& error : form.begin(client, source.get_token()).get()) {
      ASSERT_TRUE(error);
      EXPECT_EQ(error->reason, Reason::cancelled);
      EXPECT_EQ(error->outcome, Outcome::not_sent);
    }
  }
  EXPECT_EQ(client.stats().front().requests, 0u);
}

TEST(Stop, ATokenThatNobodyStopsChangesNothing) {
  Client client = test::open("embedded://3?name=never-stopped");
  std::stop_source source;
  for (const std::stop_token& token : {source.get_token(), std::stop_token()}) {
    for (const Form& form : all_forms()) {
      for (const auto& error : form.begin(client, token).get()) EXPECT_FALSE(error) << form.name;
    }
  }
}

TEST(Stop, ACallAndItsTokenMayEndAtTheSameTime) {
  Client client = test::open("embedded://3?name=stop-race");
  const auto all = all_forms();
  std::size_t ended = 0;
  std::size_t cancelled = 0;
  for (int round = 0; round < 60; ++round) {
    for (const Form& form : all) {
      std::stop_source source;
      std::atomic<bool> go = false;
      std::jthread stopper([&] {
        while (!go) std::this_thread::yield();
        for (int i = 0; i < round; ++i) std::this_thread::yield();
        source.request_stop();
      });
      go = true;
      for (const auto& error : form.begin(client, source.get_token()).get()) {
        ++ended;
        if (!error) continue;
        ++cancelled;
        ASSERT_EQ(error->reason, Reason::cancelled) << error->message();
      }
    }
  }
  EXPECT_GT(cancelled, 0u);
  EXPECT_LT(cancelled, ended);
  EXPECT_TRUE(client.set("key", "value"));
  EXPECT_EQ(client.get("key").value()->data, "value");
}

TEST(Stop, AClientThatClosesEndsWhatATokenCouldStillStop) {
  for (int round = 0; round < 30; ++round) {
    const test::DeafServer server;
    std::stop_source source;
    std::atomic<int> ended = 0;
    std::jthread stopper;
    {
      Client client = test::open("mqtt://" + server.address());
      const std::stop_token token = source.get_token();
      for (int i = 0; i < 20; ++i) {
        client.async().get("k", {.stop = &token}, [&](Result<GetResult>) { ++ended; });
      }
      stopper = std::jthread([&] { source.request_stop(); });
    }
    EXPECT_EQ(ended, 20);
  }
}

// ---- what waits without a request of its own in flight

// Whatever the client has asked has been answered, and there was something.
std::function<bool()> asked(Client& client) {
  const std::uint64_t before = client.stats().front().requests;
  return [&client, before] {
    const NodeStats now = client.stats().front();
    return now.requests > before && now.in_flight == 0;
  };
}

TEST(Stop, AWaitForALockEndsAtOnceAndTheLockIsFreeForOthers) {
  Client client = test::open("embedded://1?name=stop-lock");
  Locker other(client);
  for (const Form& form : lock_forms()) {
    SCOPED_TRACE(form.name);
    Measured measured;
    for (int round = 0; round < Measured::rounds; ++round) {
      LockResult held = other.lock("lock", {.wait = patience});
      ASSERT_TRUE(held);
      EXPECT_EQ(stop_and_check(form, client, measured, asked(client)),
                std::vector{Outcome::not_sent});
      EXPECT_TRUE(held->release().value());
      LockResult again = other.try_lock("lock");
      ASSERT_TRUE(again) << "nobody else has it";
    }
    EXPECT_LT(measured.median(), at_once);
  }
}

TEST(Stop, AWaitForAnEventOfAWatchEndsAtOnceAndTheWatchGoesOn) {
  Client client = test::open("embedded://1?name=stop-watch");
  Watch watch = client.watch("key").value();
  ASSERT_TRUE(watch.next({.wait = patience}).value()) << "current";
  const Form next = {"next", [&](Client&, std::stop_token stop) {
                       return on_a_thread([&watch, stop] {
                         return errors_of(watch.next({.wait = patience, .stop = &stop}));
                       });
                     }};
  Measured measured;
  for (int round = 0; round < Measured::rounds; ++round) {
    stop_and_check(next, client, measured, [] { return true; });
  }
  EXPECT_LT(measured.median(), at_once);
  ASSERT_TRUE(client.set("key", "value"));
  EXPECT_EQ(watch.next({.wait = patience}).value()->value, "value");
}

// Of the same client, and of another process as it looks from here.
TEST(Stop, AWaitForAValueThatAnotherComputesEndsAtOnce) {
  Client leader = test::open("embedded://1?name=stop-compute");
  Client other = test::open("embedded://1?name=stop-compute");
  std::promise<void> computing;
  std::promise<std::string> value;
  auto computed = std::async(std::launch::async, [&] {
    return leader.get_or_compute("key", {.timeout = patience}, [&] {
      computing.set_value();
      return value.get_future().get();
    });
  });
  computing.get_future().get();
  const Form form = {
      "get_or_compute", [](Client& client, std::stop_token stop) {
        return on_a_thread([&client, stop] {
          return errors_of(client.get_or_compute("key", {.timeout = patience, .stop = &stop}, [] {
            ADD_FAILURE() << "somebody computes already";
            return std::string();
          }));
        });
      }};
  for (Client* client : {&leader, &other}) {
    Measured measured;
    for (int round = 0; round < Measured::rounds; ++round) {
      stop_and_check(form, *client, measured, asked(*client));
    }
    EXPECT_LT(measured.median(), at_once);
  }
  value.set_value("made");
  EXPECT_EQ(computed.get().value().data, "made");
}

// What has been computed is returned and stored, whatever the token says meanwhile.
TEST(Stop, AComputationThatEndsAfterTheStopIsReturnedAndStored) {
  Client client = test::open("embedded://1?name=stop-computed");
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  const auto made = client.get_or_compute("key", {.stop = &stop}, [&] {
    source.request_stop();
    return std::string("made");
  });
  EXPECT_EQ(made.value().data, "made");
  wait_until([&] { return client.get("key").value().has_value(); });
}

// A server that stops to answer when it is told to, and goes on later.
struct Server {
  virtual ~Server() = default;
  virtual std::string uri() const = 0;
  virtual void stop() = 0;
  virtual void resume() = 0;
};

template <class Process>
struct RealServer final : Server {
  RealServer(std::string before, std::string after)
      : scheme(std::move(before)), rest(std::move(after)) {}
  std::string uri() const override {
    return scheme + "127.0.0.1:" + std::to_string(process.port()) + rest;
  }
  void stop() override { process.stop(); }
  void resume() override { process.resume(); }
  std::string scheme;
  std::string rest;
  Process process;
};

struct ServerKind {
  std::string name;
  std::function<std::unique_ptr<Server>()> make;
};

std::vector<ServerKind> server_kinds() {
  std::vector<ServerKind> kinds;
#ifdef SHEAF_TEST_BROKERS
  kinds.push_back({"Broker", [] {
                     return std::make_unique<RealServer<test::BrokerProcess>>("mqtt://",
                                                                              "?max_in_flight=64");
                   }});
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
  for (const std::string protocol : {"meta", "binary"}) {
    kinds.push_back({"Memcached_" + protocol, [protocol] {
                       return std::make_unique<RealServer<test::MemcachedProcess>>(
                           "memcached://", "?max_in_flight=64&protocol=" + protocol);
                     }});
  }
#endif
  return kinds;
}

class StopOnServer : public testing::TestWithParam<ServerKind> {
 protected:
  std::unique_ptr<Server> server = GetParam().make();
  Client client = test::open(server->uri());
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StopOnServer);
INSTANTIATE_TEST_SUITE_P(On, StopOnServer, testing::ValuesIn(server_kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(StopOnServer, WhatTheServerDoesNotAnswerEndsAtOnceAndIsUnknownOnlyIfItWasSent) {
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.name);
    Measured measured;
    for (int round = 0; round < Measured::rounds; ++round) {
      client.get("warm", {.timeout = patience}).value();
      server->stop();
      // What is in flight when stats() returns has been written: it runs after the turn.
      const auto sent = [&] { return client.stats().front().in_flight > 0; };
      const auto outcomes = stop_and_check(form, client, measured, sent);
      const NodeStats after = client.stats().front();
      const auto unknown = std::ranges::count(outcomes, Outcome::unknown);
      const auto not_sent = std::ranges::count(outcomes, Outcome::not_sent);
      EXPECT_GT(unknown, 0);
      EXPECT_EQ(unknown + not_sent, std::ssize(outcomes));
      EXPECT_EQ(not_sent > 0, outcomes.size() > 1) << "the window holds 64";
      EXPECT_EQ(after.in_flight, 0u);
      EXPECT_EQ(after.downs, 0u);
      server->resume();
    }
    EXPECT_LT(measured.median(), at_once);
  }
}

TEST_P(StopOnServer, LocksListsAndComputationsThatTheServerDoesNotAnswerEndAtOnce) {
  for (const Form& form : other_forms()) {
    SCOPED_TRACE(form.name);
    Measured measured;
    for (int round = 0; round < Measured::rounds; ++round) {
      client.get("warm", {.timeout = patience}).value();
      server->stop();
      const auto sent = [&] { return client.stats().front().in_flight > 0; };
      stop_and_check(form, client, measured, sent);
      server->resume();
      // A lock that was in question is released before the next round.
      LockResult again = Locker(client).lock("lock", {.wait = patience});
      ASSERT_TRUE(again);
    }
    EXPECT_LT(measured.median(), at_once);
  }
}

// The cancelled request keeps its place among the replies.
TEST_P(StopOnServer, TheOthersOnTheConnectionGetTheirOwnReplies) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.set("k" + std::to_string(i), std::to_string(i), {.timeout = patience}));
  }
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t connects = client.stats().front().connects;
    server->stop();
    std::stop_source source;
    const std::stop_token stop = source.get_token();
    std::vector<std::future<Result<GetResult>>> stopped;
    std::vector<std::future<Result<GetResult>>> kept;
    for (int i = 0; i < 10; ++i) {
      const std::string key = "k" + std::to_string(i);
      stopped.push_back(client.futures().get(key, {.timeout = patience, .stop = &stop}));
      kept.push_back(client.futures().get(key, {.timeout = patience}));
    }
    wait_until([&] { return client.stats().front().in_flight == 20; });
    source.request_stop();
    for (auto& each : stopped) ASSERT_EQ(each.get().error().reason, Reason::cancelled);
    server->resume();
    for (int i = 0; i < 10; ++i) {
      ASSERT_EQ(kept[static_cast<std::size_t>(i)].get().value()->data, std::to_string(i));
    }
    EXPECT_EQ(client.stats().front().connects, connects);
  }
}

}  // namespace
}  // namespace sheaf
