// The asynchronous forms of get_or_compute on every endpoint: callback, coroutine, future and asio,
// together with blocking callers. All callers of a client share one computation, whatever their
// form.

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sheaf/async.h>
#ifdef SHEAF_HAS_ASIO
#include <asio/use_future.hpp>

#include <sheaf/asio.h>
#endif

#include "tests/contract/forms.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Answer = std::future<Result<Value>>;
using Clock = std::chrono::steady_clock;

// ---- ways to call

enum class Way : std::uint8_t { callback, coroutine, future, asio };

const char* name_of(Way way) {
  constexpr const char* names[] = {"callback", "coroutine", "future", "asio"};
  return names[static_cast<int>(way)];
}

std::vector<Way> ways() {
#ifdef SHEAF_HAS_ASIO
  return {Way::callback, Way::coroutine, Way::future, Way::asio};
#else
  return {Way::callback, Way::coroutine, Way::future};
#endif
}

template <class Function>
Answer call(const Client& client, Way way, const std::string& key, const ComputeOptions& options,
            Function given) {
  std::conditional_t<std::is_invocable_v<Function&>, Client::Compute, AsyncCompute> function =
      std::move(given);
  switch (way) {
    case Way::coroutine:
      return test::awaited(client.async().get_or_compute(key, options, std::move(function)))
          .future();
    case Way::future:
      return client.async().get_or_compute(key, options, std::move(function)).future();
    case Way::asio:
#ifdef SHEAF_HAS_ASIO
      return client.async().get_or_compute(key, options, std::move(function))(asio::use_future);
#endif
    case Way::callback:
      break;
  }
  return test::begin_with_callback(
      client.async().get_or_compute(key, options, std::move(function)));
}

Answer call(const Client& client, const std::string& key, AsyncCompute function,
            const ComputeOptions& options = {.timeout = 20s}) {
  return call(client, Way::callback, key, options, std::move(function));
}

Client::Compute made(std::string value) {
  return [value = std::move(value)] { return value; };
}

// A function that keeps its ComputeDone for the test.
class Held {
 public:
  AsyncCompute function() {
    return [this](ComputeDone done) { begun_.set_value(std::move(done)); };
  }
  // Waits until the function has begun.
  ComputeDone done() { return begun_.get_future().get(); }

 private:
  std::promise<ComputeDone> begun_;
};

Error no_database() {
  Error error;
  error.outcome = Outcome::refused;
  error.text = "no database";
  return error;
}

std::string data_of(Answer& answer) {
  const Result<Value> got = answer.get();
  return got ? got->data : got.error().message();
}

// ---- on every endpoint, in every way

using WayParam = std::tuple<test::EndpointFactory, Way>;

class ComputingInEveryWay : public testing::TestWithParam<WayParam> {
 protected:
  Answer start(const std::string& key, const ComputeOptions& options, auto function) {
    return call(client, std::get<Way>(GetParam()), key, options, std::move(function));
  }
  const std::unique_ptr<test::Endpoint> endpoint = std::get<0>(GetParam()).make();
  Client client = test::open(endpoint->uri());
};
INSTANTIATE_TEST_SUITE_P(On, ComputingInEveryWay,
                         testing::Combine(testing::ValuesIn(test::all_factories()),
                                          testing::ValuesIn(ways())),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" +
                                  name_of(std::get<Way>(test.param));
                         });

TEST_P(ComputingInEveryWay, AFunctionThatOnlyMovesComputes) {
  auto text = std::make_unique<std::string>("moved");
  const auto got = start("{key}", {.timeout = 20s}, [t = std::move(text)] { return *t; }).get();
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->data, "moved");
}

TEST_P(ComputingInEveryWay, AMissIsComputedAndStoredAHitIsRead) {
  const auto first = start("{key}", {.timeout = 20s}, made("made")).get();
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->data, "made");
  EXPECT_EQ(client.get("{key}").value()->data, "made");
  EXPECT_EQ(client.get("{key}").value()->version, first->version);
  EXPECT_EQ(start("{key}", {.timeout = 20s}, made("wrong")).get().value().data, "made");
  EXPECT_FALSE(client.get("{key}:sheaf-lease").value().has_value());
}

TEST_P(ComputingInEveryWay, AFunctionThatEndsLaterOnAnotherThreadComputesForAllWhoMiss) {
  Held held;
  std::atomic<int> wrong = 0;
  const auto no = [&] { return ++wrong, std::string("wrong"); };
  Answer leader = start("key", {.timeout = 20s}, held.function());
  const ComputeDone done = held.done();
  std::vector<Answer> others;
  for (int i = 0; i < 3; ++i) {
    for (const Way way : ways()) others.push_back(call(client, way, "key", {.timeout = 20s}, no));
  }
  std::vector<std::thread> blocking;
  for (int i = 0; i < 4; ++i) {
    blocking.emplace_back([&] {
      EXPECT_EQ(client.get_or_compute("key", {.timeout = 20s}, no).value().data, "made");
    });
  }
  std::thread([&] { done("made"); }).join();
  EXPECT_EQ(data_of(leader), "made");
  for (Answer& other : others) EXPECT_EQ(data_of(other), "made");
  for (std::thread& thread : blocking) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(client.get("key").value()->data, "made");
}

TEST_P(ComputingInEveryWay, AnErrorIsItsCallersAndTheNextInLineComputes) {
  Held held;
  const auto begun = Clock::now();
  Answer leader = start("key", {.lease = 60s, .timeout = 20s}, held.function());
  const ComputeDone done = held.done();
  Answer next = start("key", {.timeout = 20s}, made("made"));
  done(Failure(no_database()));
  EXPECT_EQ(leader.get().error().text, "no database");
  EXPECT_EQ(data_of(next), "made");
  EXPECT_LT(Clock::now() - begun, 10s);  // the lease was given back
}

TEST_P(ComputingInEveryWay, AnAsynchronousCallerWaitsForABlockingOne) {
  std::promise<Answer> other;
  const auto got = client.get_or_compute("key", {.timeout = 20s}, [&] {
    other.set_value(start("key", {.timeout = 20s}, made("wrong")));
    return std::string("made");
  });
  EXPECT_EQ(got.value().data, "made");
  Answer waited = other.get_future().get();
  EXPECT_EQ(data_of(waited), "made");
}

// ---- on every endpoint

class AsyncComputing : public test::OnEndpoint {};
INSTANTIATE_TEST_SUITE_P(On, AsyncComputing, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(AsyncComputing, WhatAFunctionThrowsIsOfTheHandlerAndTheNextInLineComputes) {
  std::atomic<int> thrown = 0;
  client.reset();
  client.emplace(
      test::open(endpoint->uri(), {.on_exception = [&](const std::exception_ptr&) { ++thrown; }}));
  const auto simple = [&](Client::Compute function) {
    return call(*client, Way::callback, "key", {.lease = 60s, .timeout = 20s}, std::move(function));
  };
  Answer first = simple([]() -> std::string { throw std::runtime_error("no database"); });
  Answer second = call(*client, "key", [](const ComputeDone&) { throw std::runtime_error("none"); },
                       {.lease = 60s, .timeout = 20s});
  const auto error = first.get().error();
  EXPECT_EQ(error.outcome, Outcome::not_sent);
  EXPECT_EQ(error.reason, Reason::other);
  EXPECT_EQ(second.get().error().reason, Reason::other);
  EXPECT_EQ(client->get_or_compute("key", {.timeout = 20s}, made("made")).value().data, "made");
  client.reset();
  EXPECT_EQ(thrown, 2);
}

TEST_P(AsyncComputing, WithoutACallOfAnyCopyTheComputationHasFailed) {
  Held held;
  Answer answer = call(*client, "key", held.function(), {.lease = 60s, .timeout = 20s});
  {
    const ComputeDone copy = held.done();
  }
  EXPECT_EQ(answer.get().error().outcome, Outcome::not_sent);
  EXPECT_EQ(client->get_or_compute("key", {.timeout = 20s}, made("made")).value().data, "made");
}

TEST_P(AsyncComputing, TheFirstCallOfAComputeDoneCounts) {
  Held held;
  Answer answer = call(*client, "key", held.function());
  const ComputeDone done = held.done();
  done("first");
  done("second");
  done(Failure(no_database()));
  EXPECT_EQ(data_of(answer), "first");
  EXPECT_EQ(client->get("key").value()->data, "first");
}

TEST_P(AsyncComputing, WhoWaitsEndsAtItsOwnDeadline) {
  Held held;
  Answer leader = call(*client, "key", held.function());
  const ComputeDone done = held.done();
  Answer waits = call(*client, Way::callback, "key", {.timeout = 500ms}, made("wrong"));
  const auto got = client->get_or_compute("key", {.timeout = 500ms}, made("wrong"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::timed_out);
  EXPECT_EQ(got.error().outcome, Outcome::not_sent);
  const auto other = waits.get();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().reason, Reason::timed_out);
  done("made");
  EXPECT_EQ(data_of(leader), "made");  // the time of its function does not count
}

TEST_P(AsyncComputing, AStopEndsTheCallsAndWhatTheFunctionMakesIsStoredForTheOthers) {
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  Held held;
  Answer leader = call(*client, "key", held.function(), {.timeout = 20s, .stop = &stop});
  const ComputeDone done = held.done();
  Answer stopped =
      call(*client, Way::callback, "key", {.timeout = 20s, .stop = &stop}, made("wrong"));
  Answer waits = call(*client, Way::callback, "key", {.timeout = 20s}, made("wrong"));
  source.request_stop();
  EXPECT_EQ(leader.get().error().reason, Reason::cancelled);
  EXPECT_EQ(stopped.get().error().reason, Reason::cancelled);
  done("made");
  EXPECT_EQ(data_of(waits), "made");
  EXPECT_EQ(client->get("key").value()->data, "made");
}

TEST_P(AsyncComputing, AValueThatCannotBeStoredIsReturnedAndTheLeaseGivenBack) {
  const std::string large((16u << 20) + 1, 'x');
  const auto first =
      call(*client, Way::callback, "key", {.lease = 60s, .timeout = 20s}, made(large)).get();
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_TRUE(first->data == large);
  EXPECT_TRUE(first->version.empty());
  const auto begun = Clock::now();
  Answer second = call(*client, Way::callback, "key", {.timeout = 20s}, made("small"));
  EXPECT_EQ(data_of(second), "small");
  EXPECT_LT(Clock::now() - begun, 10s);
}

TEST_P(AsyncComputing, TheEndOfTheClientEndsLeadersAndWaitersAndALaterCallDoesNothing) {
  Held held;
  std::vector<Answer> answers;
  answers.push_back(call(*client, Way::future, "key", {.timeout = 20s}, held.function()));
  const ComputeDone done = held.done();
  for (const Way way : ways()) {
    answers.push_back(call(*client, way, "key", {.timeout = 20s}, made("wrong")));
  }
  const AsyncClient handle = client->async();
  client.reset();
  const auto leader = answers.front().get();
  ASSERT_FALSE(leader);
  EXPECT_EQ(leader.error().outcome, Outcome::shutdown);
  for (std::size_t i = 1; i < answers.size(); ++i) {
    const auto got = answers[i].get();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reason, Reason::closed);  // its first read may have been in flight
  }
  done("late");
  bool refused = false;
  handle.get_or_compute("key", {}, made("wrong")).then([&](const Result<Value>& got) {
    refused = !got && got.error().outcome == Outcome::shutdown;
  });
  EXPECT_TRUE(refused);
}

TEST_P(AsyncComputing, ABlockingCallerInACallbackTakesTheRightOfAFunctionThatWaitsBehindIt) {
  const ComputeOptions options{.lease_beside = true, .timeout = 20s};
  std::promise<Result<Value>> inside;
  std::promise<void> busy;
  std::promise<void> claimed;
  client->async().get("other").then([&](const Result<GetResult>&) {
    busy.set_value();  // the dispatcher is busy now
    claimed.get_future().wait();
    inside.set_value(client->get_or_compute("{key}", options, made("here")));
  });
  busy.get_future().wait();
  std::atomic<bool> ran = false;
  Answer queued = call(
      *client, "{key}",
      [&](const ComputeDone& done) {
        ran = true;
        done("there");
      },
      options);
  Client other = test::open(endpoint->uri());
  while (!other.get("{key}:sheaf-lease").value()) std::this_thread::yield();
  claimed.set_value();
  EXPECT_EQ(inside.get_future().get().value().data, "here");
  EXPECT_EQ(data_of(queued), "here");
  EXPECT_FALSE(ran);
}

TEST_P(AsyncComputing, BadArgumentsAreRefusedBeforeAnythingIsAsked) {
  const auto refused = [&](const char* key, const ComputeOptions& options, AsyncCompute function) {
    const auto got = call(*client, key, std::move(function), options).get();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().outcome, Outcome::invalid);
    EXPECT_EQ(got.error().reason, Reason::bad_argument);
  };
  const auto function = [](const ComputeDone& done) { done("x"); };
  refused("", {}, function);
  refused("key", {.lease = 0ms}, function);
  refused("key", {.ttl = 0ms}, function);
  refused("key", {.timeout = 0ms}, function);
  refused("key", {}, nullptr);
  EXPECT_FALSE(call(*client, Way::callback, "key", {}, Client::Compute()).get());
  EXPECT_FALSE(client->get("key").value().has_value());
}

}  // namespace
}  // namespace sheaf
