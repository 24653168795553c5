// Where and when the functions of asynchronous get_or_compute run and end: with a driver, with an
// executor that runs late, and in a forked child.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/driver.h>

#include "base/mutex.h"
#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// An outcome that a callback stores.
using Kept = std::optional<Result<Value>>;
std::function<void(Result<Value>)> keep(Kept& kept) {
  return [&kept](Result<Value> got) {
    EXPECT_FALSE(kept) << "a callback came twice";
    kept = std::move(got);
  };
}

Client::Compute made_driven(std::string value) {
  return [value = std::move(value)] { return value; };
}

AsyncCompute held(std::optional<ComputeDone>& done) {
  return [&done](ComputeDone given) { done.emplace(std::move(given)); };
}

// ---- with a driver

class DrivenComputing : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  template <class Done>
  void turn_until(const Done& done) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < end) driver_.run_one(100ms);
    EXPECT_TRUE(done());
  }

  std::unique_ptr<test::Endpoint> endpoint_ = GetParam().make();
  Driver driver_;
  Client client_ = test::open(endpoint_->uri(), {.driver = &driver_});
};
INSTANTIATE_TEST_SUITE_P(On, DrivenComputing, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(DrivenComputing, AFunctionRunsInPollAndWhoWaitsGetsItsValue) {
  const auto here = std::this_thread::get_id();
  Kept first;
  Kept second;
  client_.async()
      .get_or_compute("key", {.timeout = 20s},
                      [&] {
                        EXPECT_EQ(std::this_thread::get_id(), here);
                        return std::string("made");
                      })
      .then(keep(first));
  client_.async().get_or_compute("key", {.timeout = 20s}, made_driven("made")).then(keep(second));
  turn_until([&] { return first && second; });
  EXPECT_EQ(first->value().data, "made");
  EXPECT_EQ(second->value().data, "made");
}

TEST_P(DrivenComputing, ABlockingWaiterDrivesForAFunctionThatThePollingThreadRuns) {
  std::optional<ComputeDone> done;
  Kept leader;
  client_.async().get_or_compute("key", {.timeout = 20s}, held(done)).then(keep(leader));
  turn_until([&] { return done.has_value(); });
  std::promise<Result<Value>> waited;
  std::thread waiter([&] {
    waited.set_value(client_.get_or_compute("key", {.timeout = 20s}, made_driven("wrong")));
  });
  auto got = waited.get_future();
  (*done)("made");
  turn_until([&] { return got.wait_for(0s) == std::future_status::ready && leader; });
  waiter.join();
  EXPECT_EQ(got.get().value().data, "made");
  EXPECT_EQ(leader->value().data, "made");
}

TEST_P(DrivenComputing, ABlockingCallerComputesWhenNobodyPollsForAFunctionThatHasNotBegun) {
  bool ran = false;
  Kept queued;
  client_.async()
      .get_or_compute("key", {.timeout = 20s}, [&] { return ran = true, std::string("there"); })
      .then(keep(queued));
  EXPECT_EQ(client_.get_or_compute("key", {.timeout = 20s}, made_driven("here")).value().data,
            "here");
  EXPECT_FALSE(queued);
  turn_until([&] { return queued.has_value(); });
  EXPECT_EQ(queued->value().data, "here");
  EXPECT_FALSE(ran);
}

// This cannot work: the waiting thread is the one that would call the ComputeDone.
TEST_P(DrivenComputing, WhoWaitsForWhatItsOwnThreadWouldEndTimesOut) {
  std::optional<ComputeDone> done;
  Kept leader;
  client_.async().get_or_compute("key", {.timeout = 20s}, held(done)).then(keep(leader));
  turn_until([&] { return done.has_value(); });
  const auto got = client_.get_or_compute("key", {.timeout = 300ms}, made_driven("wrong"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::timed_out);
  EXPECT_EQ(got.error().outcome, Outcome::not_sent);
  (*done)("made");
  turn_until([&] { return leader.has_value(); });
  EXPECT_EQ(leader->value().data, "made");
}

TEST_P(DrivenComputing, TheEndOfAClientThatNobodyPollsEndsItsCallsAndRunsNoFunction) {
  std::optional<ComputeDone> done;
  Kept leader;
  Kept waits;
  Kept queued;
  bool ran = false;
  client_.async().get_or_compute("a", {.timeout = 20s}, held(done)).then(keep(leader));
  turn_until([&] { return done.has_value(); });
  client_.async().get_or_compute("a", {.timeout = 20s}, made_driven("wrong")).then(keep(waits));
  client_.async()
      .get_or_compute("b", {.timeout = 20s}, [&] { return ran = true, std::string(); })
      .then(keep(queued));
  ASSERT_TRUE(client_.get("c"));  // drives the others as far as they get
  Client ended = std::move(client_);
  {
    const Client gone = std::move(ended);
  }
  for (const Kept* kept : {&leader, &waits, &queued}) {
    ASSERT_TRUE(*kept);
    ASSERT_FALSE(**kept);
    EXPECT_EQ((*kept)->error().reason, Reason::closed);
  }
  EXPECT_EQ(leader->error().outcome, Outcome::shutdown);  // no request of it was in flight
  EXPECT_FALSE(ran);
  (*done)("late");
}

// ---- with an executor that runs nothing until the test says so

class LateExecutor {
 public:
  std::function<void(std::function<void()>)> executor() {
    return [this](std::function<void()> task) {
      const sync::MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
    };
  }
  void run() {
    for (;;) {
      std::function<void()> task;
      {
        const sync::MutexLock lock(mutex_);
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

 private:
  sync::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ SHEAF_GUARDED_BY(mutex_);
};

class LateComputing : public testing::Test {
 protected:
  // A future ends without the executor, but its function does not begin without it.
  auto queued(const ComputeOptions& options) {
    return client.async()
        .get_or_compute("key", options,
                        [this](const ComputeDone& done) {
                          ran = true;
                          done("made");
                        })
        .future();
  }
  LateExecutor late;
  Client client = test::open("embedded://1", {.executor = late.executor()});
  bool ran = false;
};

TEST_F(LateComputing, AFunctionThatDoesNotBeginByTheDeadlineIsLeftOutAndTheCallEnds) {
  const auto got = queued({.timeout = 100ms}).get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::timed_out);
  EXPECT_EQ(got.error().outcome, Outcome::not_sent);
  EXPECT_EQ(client.get_or_compute("key", {.timeout = 20s}, made_driven("other")).value().data,
            "other");
  late.run();
  EXPECT_FALSE(ran);
}

TEST_F(LateComputing, AFunctionThatHasNotBegunWhenItsTokenIsStoppedIsLeftOut) {
  std::stop_source source;
  const std::stop_token stop = source.get_token();
  auto stopped = queued({.timeout = 20s, .stop = &stop});
  while (!client.get("key:sheaf-lease").value()) std::this_thread::yield();  // it has the right
  source.request_stop();
  const auto got = stopped.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().reason, Reason::cancelled);
  EXPECT_EQ(client.get_or_compute("key", {.timeout = 20s}, made_driven("other")).value().data,
            "other");
  late.run();
  EXPECT_FALSE(ran);
}

TEST_F(LateComputing, ACallerOnItsOwnStackComputesInPlaceOfAFunctionThatHasNotBegun) {
  auto later = queued({.timeout = 20s});
  EXPECT_EQ(client.get_or_compute("key", {.timeout = 20s}, made_driven("here")).value().data,
            "here");
  EXPECT_EQ(later.get().value().data, "here");
  late.run();
  EXPECT_FALSE(ran);
}

// ---- what the user gave is destroyed where callbacks run

TEST(Computing, AFunctionIsDestroyedByTheDispatcherHoweverItsCallEnds) {
  Client client = test::open("embedded://1");
  std::vector<std::thread::id> destroyed;  // by one thread if this test is right
  const auto noted = [&] {
    return std::shared_ptr<void>(nullptr,
                                 [&](void*) { destroyed.push_back(std::this_thread::get_id()); });
  };
  std::optional<ComputeDone> done;
  std::promise<void> begun;
  const auto holding = [&](ComputeDone given) {
    done.emplace(std::move(given));
    begun.set_value();
  };
  auto computed = client.async()
                      .get_or_compute("a", {.timeout = 20s},
                                      AsyncCompute([note = noted(), holding](ComputeDone given) {
                                        holding(std::move(given));
                                      }))
                      .future();
  begun.get_future().wait();
  auto joined =
      client.async()
          .get_or_compute("a", {.timeout = 20s},
                          Client::Compute([note = noted()] { return std::string("wrong"); }))
          .future();
  (*done)("made");
  EXPECT_EQ(computed.get().value().data, "made");
  EXPECT_EQ(joined.get().value().data, "made");
  auto read =
      client.async()
          .get_or_compute("a", {.timeout = 20s},
                          Client::Compute([note = noted()] { return std::string("wrong"); }))
          .future();
  EXPECT_EQ(read.get().value().data, "made");
  auto kept = client.async()
                  .get_or_compute("b", {.timeout = 20s},
                                  AsyncCompute([note = noted()](const ComputeDone&) {}))
                  .future();
  EXPECT_FALSE(kept.get());
  std::promise<std::thread::id> dispatcher;  // its queue is then empty, so the end runs nothing
  client.async().get("key").then(
      [&](const Result<GetResult>&) { dispatcher.set_value(std::this_thread::get_id()); });
  const auto where = dispatcher.get_future().get();
  {
    const Client ended = std::move(client);
  }
  EXPECT_THAT(destroyed, ElementsAre(where, where, where, where));
}

TEST(Computing, AFunctionMayDestroyItsOwnClient) {
  auto client = std::make_unique<Client>(test::open("embedded://1"));
  std::promise<void> over;
  auto answer = client->async()
                    .get_or_compute("key", {.timeout = 20s},
                                    [&](const ComputeDone& done) {
                                      client.reset();
                                      done("late");
                                      over.set_value();
                                    })
                    .future();
  over.get_future().wait();
  const auto got = answer.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().outcome, Outcome::shutdown);
}

TEST(Computing, InAForkedChildAComputeDoneDoesNothing) {
  Client client = test::open("embedded://1");
  std::promise<ComputeDone> begun;
  auto answer = client.async()
                    .get_or_compute("key", {.timeout = 20s},
                                    [&](ComputeDone done) { begun.set_value(std::move(done)); })
                    .future();
  const ComputeDone done = begun.get_future().get();
  EXPECT_EXIT(
      {
        done("of the child");
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
  done("made");
  EXPECT_EQ(answer.get().value().data, "made");
}

}  // namespace
}  // namespace sheaf
