// Stop tokens: every call that waits ends at once when its token is asked to stop, and reports what
// is known about it. The connection continues as before.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include <sheaf/async.h>

#include "tests/contract/endpoints.h"
#include "tests/contract/stop_forms.h"
#include "tests/support/lent.h"
#include "tests/support/listener.h"
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
using test::all_forms;
using test::Errors;
using test::errors_of;
using test::lock_forms;
using test::on_a_thread;
using test::other_forms;
using test::patience;
using test::StopForm;

// The promise is 10 ms; a sanitizer on a busy machine gets more.
constexpr auto at_once = 10ms * test::slowness;
constexpr int fewest_rounds = 3;
constexpr int most_rounds = 15;

void wait_until(const std::function<bool()>& holds) {
  const auto until = steady_clock::now() + patience;
  while (!holds()) {
    ASSERT_LT(steady_clock::now(), until);
    std::this_thread::yield();
  }
}

// How long several stops took. A busy machine delays some of them, so the second best counts.
class MeasuredRelease {
 public:
  void add(steady_clock::duration took) { took_.push_back(took); }
  steady_clock::duration undisturbed() {
    std::ranges::sort(took_);
    return took_[1];
  }

 private:
  std::vector<steady_clock::duration> took_;
};

// Stops the call once `begun`. Every key of it must have ended as cancelled, in time.
std::vector<Outcome> stop_and_check(const StopForm& form, Client& client, MeasuredRelease& measured,
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

// Runs several rounds of each form, more of them if a busy machine disturbed them. A round stops
// one call and adds how long that took.
void stop_in_rounds(const std::vector<StopForm>& forms,
                    const std::function<void(const StopForm&, MeasuredRelease&)>& round) {
  for (const StopForm& form : forms) {
    SCOPED_TRACE(form.name);
    MeasuredRelease measured;
    for (int i = 0; i < fewest_rounds || (i < most_rounds && measured.undisturbed() >= at_once);
         ++i) {
      round(form, measured);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_LT(measured.undisturbed(), at_once);
  }
}

TEST(Stop, WhatWaitsForAConnectionEndsAtOnceAndWasNotSent) {
  stop_in_rounds(all_forms(), [](const StopForm& form, MeasuredRelease& measured) {
    const test::DeafServer server;
    Client client = test::open("mqtt://" + server.address() + "?connect_timeout=20s");
    const auto waits = [&] { return client.stats().front().waiting > 0; };
    for (const Outcome outcome : stop_and_check(form, client, measured, waits)) {
      ASSERT_EQ(outcome, Outcome::not_sent);
    }
    // A list's writer and a lock's release continue, although no caller waits for them.
    if (form.name == "get") {
      EXPECT_EQ(client.stats().front().waiting, 0u);
    }
  });
}

TEST(Stop, ATokenThatWasStoppedBeforeRefusesTheCallAndNothingIsAsked) {
  Client client = test::open("embedded://1?name=stopped-before");
  std::stop_source source;
  source.request_stop();
  for (const StopForm& form : all_forms()) {
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
    for (const StopForm& form : all_forms()) {
      for (const auto& error : form.begin(client, token).get()) EXPECT_FALSE(error) << form.name;
    }
  }
}

TEST(Stop, ACallAndItsTokenMayEndAtTheSameTime) {
  Client client = test::open("embedded://3?name=stop-race");
  const auto all = all_forms();
  std::size_t ended = 0;
  std::size_t cancelled = 0;
  for (int round = 0; round < test::share_of(60); ++round) {
    for (const StopForm& form : all) {
      std::stop_source source;
      std::atomic<bool> go = false;
      std::jthread stopper([&] {
        go.wait(false);
        const auto until = steady_clock::now() + round * 2us;
        while (steady_clock::now() < until) {
        }
        source.request_stop();
      });
      go = true;
      go.notify_one();
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
        client.async().get("k", {.stop = &token}).then([&](Result<GetResult>) { ++ended; });
      }
      stopper = std::jthread([&] { source.request_stop(); });
    }
    EXPECT_EQ(ended, 20);
  }
}

// ---- what waits without a request of its own in flight

// True once the client has sent requests and all of them have been answered.
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
  stop_in_rounds(lock_forms(), [&](const StopForm& form, MeasuredRelease& measured) {
    LockResult held = other.lock("lock", {.wait = patience});
    ASSERT_TRUE(held);
    EXPECT_EQ(stop_and_check(form, client, measured, asked(client)),
              std::vector{Outcome::not_sent});
    EXPECT_TRUE(held->release().value());
    LockResult again = other.try_lock("lock");
    ASSERT_TRUE(again) << "nobody else has it";
  });
}

TEST(Stop, AWaitForAnEventOfAWatchEndsAtOnceAndTheWatchGoesOn) {
  Client client = test::open("embedded://1?name=stop-watch");
  Watch watch = client.watch("key").value();
  ASSERT_TRUE(watch.next({.wait = patience}).value()) << "current";
  const StopForm next = {"next", [&](Client&, std::stop_token stop) {
                           return on_a_thread([&watch, stop] {
                             return errors_of(watch.next({.wait = patience, .stop = &stop}));
                           });
                         }};
  stop_in_rounds({next}, [&](const StopForm& form, MeasuredRelease& measured) {
    stop_and_check(form, client, measured, [] { return true; });
  });
  ASSERT_TRUE(client.set("key", "value"));
  EXPECT_EQ(watch.next({.wait = patience}).value()->value, "value");
}

// A wait for a value that is computed by the same client, or by what looks like another process.
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
  const StopForm compute = {
      "get_or_compute", [](Client& client, std::stop_token stop) {
        return on_a_thread([&client, stop] {
          return errors_of(client.get_or_compute("key", {.timeout = patience, .stop = &stop}, [] {
            ADD_FAILURE() << "somebody computes already";
            return std::string();
          }));
        });
      }};
  for (Client* client : {&leader, &other}) {
    stop_in_rounds({compute}, [&](const StopForm& form, MeasuredRelease& measured) {
      stop_and_check(form, *client, measured, asked(*client));
    });
  }
  value.set_value("made");
  EXPECT_EQ(computed.get().value().data, "made");
}

// A computed value is returned and stored, even if the token has been stopped meanwhile.
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

// A server that a test can stop and resume.
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
    return scheme + "127.0.0.1:" + std::to_string(process->port()) + rest;
  }
  void stop() override { process.to_break().stop(); }
  void resume() override { process.to_break().resume(); }
  std::string scheme;
  std::string rest;
  test::Lent<Process> process;
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
                           "memcached://",
                           "?max_in_flight=64&extra_connections=0&protocol=" + protocol);
                     }});
  }
#endif
  return kinds;
}

class StopOnServer : public testing::TestWithParam<ServerKind> {
 protected:
  // Stops a call that was sent to the server, which does not answer until it is resumed.
  std::vector<Outcome> stop_unanswered(const StopForm& form, MeasuredRelease& measured) {
    // Its connection is the one that the call uses, because there are no others.
    client.get("warm", {.timeout = patience}).value();
    server->stop();
    // Requests in flight when stats() returns have been written, since stats() runs after the turn.
    const auto sent = [this] { return client.stats().front().in_flight > 0; };
    return stop_and_check(form, client, measured, sent);
  }

  std::unique_ptr<Server> server = GetParam().make();
  Client client = test::open(server->uri());
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StopOnServer);
INSTANTIATE_TEST_SUITE_P(On, StopOnServer, testing::ValuesIn(server_kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(StopOnServer, WhatTheServerDoesNotAnswerEndsAtOnceAndIsUnknownOnlyIfItWasSent) {
  stop_in_rounds(test::request_forms(), [&](const StopForm& form, MeasuredRelease& measured) {
    const auto outcomes = stop_unanswered(form, measured);
    const NodeStats after = client.stats().front();
    const auto unknown = std::ranges::count(outcomes, Outcome::unknown);
    const auto not_sent = std::ranges::count(outcomes, Outcome::not_sent);
    EXPECT_GT(unknown, 0);
    EXPECT_EQ(unknown + not_sent, std::ssize(outcomes));
    EXPECT_EQ(not_sent > 0, outcomes.size() > 1) << "the window holds 64";
    EXPECT_EQ(after.in_flight, 0u);
    EXPECT_EQ(after.downs, 0u);
    server->resume();
  });
}

TEST_P(StopOnServer, LocksListsAndComputationsThatTheServerDoesNotAnswerEndAtOnce) {
  stop_in_rounds(other_forms(), [&](const StopForm& form, MeasuredRelease& measured) {
    stop_unanswered(form, measured);
    server->resume();
    // A lock whose state was in question is released before the next round.
    LockResult again = Locker(client).lock("lock", {.wait = patience});
    ASSERT_TRUE(again);
  });
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
      stopped.push_back(client.async().get(key, {.timeout = patience, .stop = &stop}).future());
      kept.push_back(client.async().get(key, {.timeout = patience}).future());
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
