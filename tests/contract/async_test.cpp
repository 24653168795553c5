// co_await on the calls of a client, from a coroutine type that does not know sheaf.

#include <gtest/gtest.h>

#include <coroutine>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/async.h>

#include "tests/contract/endpoints.h"
#include "tests/support/task.h"

namespace sheaf {
namespace {

using test::Task;

Task<std::string> write_then_read(AsyncClient client) {
  auto set = co_await client.set(std::string("key"), std::string("value"));
  if (!set || !set->stored) co_return "not set";
  auto got = co_await client.get(std::string("key"));
  if (!got || !*got) co_return "not got";
  const std::string read = (*got)->data;
  const RemoveOptions if_read{.if_value = read};
  auto removed = co_await client.remove("key", if_read);
  if (!removed || *removed != RemoveResult::removed) co_return "not removed";
  co_return read;
}

TEST(Coroutines, AValueIsWrittenReadAndRemovedByOneCoroutine) {
  Client client = test::open("embedded://3?name=coroutine");
  EXPECT_EQ(write_then_read(client.async()).get(), "value");
  EXPECT_FALSE(client.get("key").value().has_value());
}

Task<std::size_t> batches(AsyncClient client) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("key " + std::to_string(i));
  std::vector<SetItem> items;
  for (const std::string& name : names) items.push_back({name, "x"});
  std::size_t good = 0;
  for (const auto& entry : co_await client.set_many(items)) good += entry.result.has_value();
  const std::vector<std::string_view> keys(names.begin(), names.end());
  for (const auto& entry : co_await client.get_many(keys)) good += entry.result.value().has_value();
  for (const auto& entry : co_await client.remove_many(keys)) {
    good += entry.result.value() == RemoveResult::removed;
  }
  co_return good;
}

TEST(Coroutines, BatchesGiveEachKeyItsOutcome) {
  Client client = test::open("embedded://3?name=coroutine-batches");
  EXPECT_EQ(batches(client.async()).get(), 300u);
}

Task<std::vector<std::thread::id>> threads_of(AsyncClient client, int calls) {
  std::vector<std::thread::id> threads;
  for (int i = 0; i < calls; ++i) {
    static_cast<void>(co_await client.get("k"));
    threads.push_back(std::this_thread::get_id());
  }
  co_return threads;
}

TEST(Coroutines, AHookDecidesWhereACoroutineGoesOn) {
  Client client = test::open("embedded://1?name=coroutine-hook");
  std::vector<std::thread> workers;
  std::vector<std::thread::id> own;
  const auto hook = [&](std::coroutine_handle<> waiting) {
    std::promise<void> noted;  // the test reads `own` after the last coroutine has ended
    workers.emplace_back([waiting, ready = noted.get_future()] {
      ready.wait();
      waiting.resume();
    });
    own.push_back(workers.back().get_id());
    noted.set_value();
  };
  const auto threads = threads_of(client.async().resume_by(hook), 3).get();
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(threads, own);
}

TEST(Coroutines, AnAwaitableKeepsWhatItWasGiven) {
  Client client = test::open("embedded://1?name=coroutine-owned");
  const auto later = [](AsyncClient async) -> Task<bool> {
    auto set = async.set(std::string(1'000, 'k'), std::string(1'000, 'v'));  // the texts end here
    const auto done = co_await set;
    co_return done.has_value() && done->stored;
  };
  EXPECT_TRUE(later(client.async()).get());
  EXPECT_EQ(client.get(std::string(1'000, 'k')).value()->data, std::string(1'000, 'v'));
}

// g++ before 14 frees the members of temporaries without a constructor; a default argument may be
// such a temporary.
TEST(Coroutines, ObjectsMayBeMadeInTheExpressionThatAwaits) {
  Client client = test::open("embedded://1?name=coroutine-temporaries");
  const auto call = [](Client& one) -> Task<bool> {
    const LockResult lock = co_await Locker(one).async().lock("door");
    const auto pushed = co_await List(one, "list").async().push("item");
    const auto removed = co_await one.async().remove(std::string(100, 'k'));
    co_return lock.held() && pushed&& removed;
  };
  EXPECT_TRUE(call(client).get());
}

TEST(Coroutines, AClosedClientResumesWithShutdown) {
  const auto call = [](AsyncClient async) -> Task<Outcome> {
    const auto got = co_await async.get("k");
    co_return got ? Outcome::unknown : got.error().outcome;
  };
  auto client = std::make_unique<Client>(test::open("embedded://1?name=coroutine-closed"));
  const AsyncClient async = client->async();
  client.reset();
  EXPECT_EQ(call(async).get(), Outcome::shutdown);
}

}  // namespace
}  // namespace sheaf
