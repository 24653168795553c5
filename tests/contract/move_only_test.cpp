// Callbacks that own objects which cannot be copied. The contract tests of lists, locks,
// computations and nodes use such callbacks, too (forms.h).

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/driver.h>
#include <sheaf/json.h>

#include "tests/contract/forms.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

template <class Out>
Out outcome_of(Call<Out> call) {
  return test::begin_with_callback(std::move(call)).get();
}

class MoveOnlyCallbacks : public test::OnEndpoint {
 protected:
  AsyncClient async() const { return client->async(); }
};
INSTANTIATE_TEST_SUITE_P(On, MoveOnlyCallbacks, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(MoveOnlyCallbacks, CallsAndBatchesTakeThem) {
  EXPECT_TRUE(outcome_of(async().set("a", "1")).value().stored);
  EXPECT_EQ(outcome_of(async().get("a")).value()->data, "1");
  const std::vector<std::string_view> keys{"a", "b"};
  EXPECT_EQ(outcome_of(async().get_many(keys)).size(), 2u);
  EXPECT_EQ(outcome_of(async().remove("a")).value(), RemoveResult::removed);
}

TEST_P(MoveOnlyCallbacks, ARefusedCallCallsThem) {
  const auto got = outcome_of(async().get(""));
  EXPECT_EQ(got.error().reason, Reason::bad_argument);
}

TEST_P(MoveOnlyCallbacks, JsonTakesThem) {
  EXPECT_TRUE(outcome_of(set_json(async(), "j", 7)).value().stored);
  EXPECT_EQ(outcome_of(get_json<int>(async(), "j")).value()->data, 7);
  EXPECT_EQ(outcome_of(set_json(async(), "j", std::string("\xff"))).error().reason,
            Reason::bad_argument);
}

using Change = MoveOnlyFunction<std::string(Result<GetResult>)>;

test::Task<std::string> awaited(AsyncClient client, Change change) {
  co_return co_await client.get("k").transform(std::move(change));
}

TEST_P(MoveOnlyCallbacks, AnAwaitedCallIsTransformedByOne) {
  ASSERT_TRUE(client->set("k", "begin"));
  Change change = [end = std::make_unique<std::string>(", end")](const Result<GetResult>& got) {
    return (*got)->data + *end;
  };
  EXPECT_EQ(awaited(async(), std::move(change)).get(), "begin, end");
}

// Does not compile with functions that g++ before 14 would destroy twice in a `co_await` expression
// (SHEAF_DESTROYS_TWICE).
template <class F>
concept Computes = requires(const AsyncClient& client, F f) {
  client.get_or_compute("key", {}, std::forward<F>(f));
};
template <class F>
concept Transforms =
    requires(Call<Result<GetResult>> call, F f) { std::move(call).transform(std::forward<F>(f)); };
constexpr bool destroys_twice = call_detail::destroys_twice;
const std::string text;
const auto owns = [text = text] { return text; };
const auto owns_nothing = [] { return std::string(); };
const auto change = [text = text](const Result<GetResult>&) { return text; };
static_assert(Computes<decltype(owns)> != destroys_twice);
static_assert(Computes<decltype(owns)&>);
static_assert(Computes<decltype(owns_nothing)>);
static_assert(Computes<Client::Compute> && Computes<AsyncCompute>);
static_assert(Computes<std::function<std::string()>>);
static_assert(Transforms<decltype(change)> != destroys_twice);
static_assert(Transforms<decltype(change)&>);
static_assert(Transforms<Change>);

// An object that the callback owns is destroyed once it has run, and also if it never runs.
TEST_P(MoveOnlyCallbacks, WhatTheyOwnIsDestroyedWithThem) {
  const auto alive = std::make_shared<int>(0);
  const auto counted = [&] { return std::make_unique<std::shared_ptr<int>>(alive); };
  std::promise<void> ran;
  async().get("k").then([own = counted(), &ran](const auto&) { ran.set_value(); });
  ran.get_future().get();
  test::wait_for_condition("the callback is destroyed", [&] { return alive.use_count() == 1; });
  {
    const Driver never_run;
    Client other = test::open(endpoint->uri(), {.executor = never_run.executor()});
    for (int i = 0; i < 10; ++i) other.async().get("k").then([own = counted()](const auto&) {});
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(MoveOnlyTasks, ADriverRunsThem) {
  Driver driver;
  std::string ran;
  driver.post([&, own = std::make_unique<std::string>("task")] { ran = *own; });
  EXPECT_EQ(driver.poll(), 1u);
  EXPECT_EQ(ran, "task");
}

TEST(MoveOnlyWatch, EventsComeToOne) {
  Client client = test::open("embedded://1?name=move-only-watch");
  std::promise<std::string> seen;
  auto future = seen.get_future();
  const std::vector<std::string_view> keys{"watched"};
  const auto watch = client.watch(keys, {}, [p = std::move(seen)](const WatchEvent& event) mutable {
    if (event.kind == WatchEvent::Kind::set) p.set_value(*event.value);
  });
  ASSERT_TRUE(watch);
  ASSERT_TRUE(client.set("watched", "v"));
  EXPECT_EQ(future.get(), "v");
}

TEST(MoveOnlyLoss, ALossCallsOne) {
  auto client = std::make_unique<Client>(test::open("embedded://1?name=move-only-loss"));
  std::promise<Reason> lost;
  auto future = lost.get_future();
  LockGuard guard = Locker(*client).try_lock("door").guard();
  guard.on_loss([p = std::move(lost)](const Error& why) mutable { p.set_value(why.reason); });
  client.reset();
  EXPECT_EQ(future.get(), Reason::closed);
}

}  // namespace
}  // namespace sheaf
