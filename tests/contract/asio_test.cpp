// Calls of a client beside asio: the two ways that docs/asynchronous.md shows.
// The io_context outlives the client: the client's thread may still be inside asio::post when run()
// has returned. Destroying the client waits for that thread.
#ifdef SHEAF_HAS_ASIO

#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

#include <sheaf/asio.h>
#include <sheaf/async.h>

#include "tests/contract/endpoints.h"
#include "tests/support/deaf_server.h"
#include "tests/support/task.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// ---- a coroutine of any type, resumed by the io_context

// Resumes on the io_context, which does not run out of work before.
AsyncClient on(asio::io_context& io, const Client& client) {
  return client.async().resume_by(
      [&io, work = asio::make_work_guard(io)](std::coroutine_handle<> waiting) {
        asio::post(io, [waiting] { waiting.resume(); });
      });
}

test::Task<std::vector<std::thread::id>> threads_of(AsyncClient client) {
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 3; ++i) {
    const auto set = co_await client.set("key", std::to_string(i));
    EXPECT_TRUE(set && set->stored);
    const auto got = co_await client.get("key");
    EXPECT_EQ(got.value()->data, std::to_string(i));
    threads.push_back(std::this_thread::get_id());
  }
  co_return threads;
}

TEST(Asio, ACoroutineOfAnyTypeGoesOnWhereTheIoContextRuns) {
  asio::io_context io;
  Client client = test::open("embedded://3?name=asio-hook");
  auto threads = threads_of(on(io, client));
  io.run();  // returns when the coroutine has ended, and its hook with it
  EXPECT_EQ(threads.get(), std::vector<std::thread::id>(3, std::this_thread::get_id()));
}

// ---- operations of asio itself

asio::awaitable<std::string> write_then_read(AsioClient client, std::thread::id& thread) {
  const auto written = co_await client.set("key", "value", asio::use_awaitable);
  if (!written || !written->stored) co_return "not set";
  const auto got = co_await client.get("key", asio::use_awaitable);
  thread = std::this_thread::get_id();
  co_return got && *got ? (*got)->data : "not got";
}

TEST(Asio, AnAwaitableOfAsioAwaitsACallAndGoesOnOnItsExecutor) {
  asio::io_context io;
  Client client = test::open("embedded://3?name=asio-awaitable");
  std::thread::id thread;
  auto read = asio::co_spawn(io, write_then_read(AsioClient(client), thread), asio::use_future);
  std::jthread runner([&] { io.run(); });
  EXPECT_EQ(read.get(), "value");
  EXPECT_EQ(thread, runner.get_id());
}

// A call that asio cancels is stopped by its token: the timer wins, and the call's end is awaited.
asio::awaitable<bool> timer_wins(AsioClient client) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, 20ms);
  const auto first =
      co_await (client.get("key", asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
  co_return first.index() == 1;
}

TEST(Asio, ACancelledOperationOfAsioStopsTheCall) {
  const test::DeafServer server;
  asio::io_context io;
  Client client = test::open("mqtt://" + server.address() + "?timeout=20s&connect_timeout=20s");
  auto won = asio::co_spawn(io, timer_wins(AsioClient(client)), asio::use_future);
  const auto started = std::chrono::steady_clock::now();
  io.run();
  EXPECT_TRUE(won.get());
  EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
  EXPECT_EQ(client.stats().front().waiting, 0u);
}

// Whatever owns memory is named: g++ before 14 would free it twice (sheaf/owning_temporary.h).
asio::awaitable<std::string> with_arguments(AsioClient client, const std::string& text) {
  const SetOptions options{.ttl = 1h, .version = {}};
  const bool stored = (co_await client.set("a", text, options, asio::use_awaitable))->stored;
  Client::Compute compute = [text, only = std::make_unique<int>(7)] { return text; };
  const auto made =
      co_await client.get_or_compute("b", {}, std::move(compute), asio::use_awaitable);
  const RemoveOptions if_value{.if_value = text};
  const auto removed = co_await client.remove("a", if_value, asio::use_awaitable);
  co_return stored && removed->found == RemoveResult::removed ? made->data : "";
}

TEST(Asio, AnAwaitableTakesOptionsAndFunctions) {
  asio::io_context io;
  Client client = test::open("embedded://1?name=asio-arguments");
  const std::string text = "longer than what a string keeps in itself";
  auto end = asio::co_spawn(io, with_arguments(AsioClient(client), text), asio::use_future);
  io.run();
  EXPECT_EQ(end.get(), text);
}

template <class Token, class Options>
concept Sets = requires(const AsioClient& client, Token token, Options options) {
  client.set("key", "value", std::forward<Options>(options), token);
};
constexpr bool refuses = awaited_detail::destroys_twice;
const auto plain_handler = [](const Result<SetResult>&) {};
static_assert(Sets<asio::use_awaitable_t<>, SetOptions> != refuses);
static_assert(Sets<asio::use_awaitable_t<>, const SetOptions&>);
static_assert(Sets<asio::use_awaitable_t<>, SetOptions&>);
static_assert(Sets<decltype(plain_handler), SetOptions>);

// Every member, with a future as its token.
TEST(Asio, EveryOperationHasItsCompletionSignature) {
  Client client = test::open("embedded://3?name=asio-all");
  const AsioClient calls(client);
  constexpr auto token = asio::use_future;
  const SetOptions for_an_hour{.ttl = 1h};
  const RemoveOptions if_two{.if_value = "2"};
  EXPECT_TRUE(calls.set("a", "1", for_an_hour, token).get()->stored);
  EXPECT_EQ(calls.get("a", token).get().value()->data, "1");
  EXPECT_EQ(calls.remove("a", if_two, token).get()->found, RemoveResult::value_differs);
  EXPECT_EQ(calls.remove("a", token).get()->found, RemoveResult::removed);
  EXPECT_EQ(calls.set_many({{"b", "2"}, {"c", "3"}}, {}, token).get().size(), 2u);
  EXPECT_EQ(calls.get_many({"b", "c", "d"}, {}, token).get().size(), 3u);
  EXPECT_EQ(calls.remove_many({"b", "c"}, {}, token).get().size(), 2u);
  const auto unsupported = [](const auto& result) {
    return result.error().outcome == Outcome::unsupported;
  };
  EXPECT_TRUE(unsupported(calls.append("a", "x", token).get()));
  EXPECT_TRUE(unsupported(calls.prepend("a", "x", token).get()));
  EXPECT_TRUE(unsupported(calls.append("a", "x", {.timeout = 1s}, token).get()));
  EXPECT_TRUE(unsupported(calls.prepend("a", "x", {.timeout = 1s}, token).get()));
  EXPECT_TRUE(unsupported(calls.increment("a", 1, {}, token).get()));
  EXPECT_TRUE(unsupported(calls.decrement("a", 1, {}, token).get()));
  EXPECT_TRUE(unsupported(calls.touch("a", {}, token).get()));
  EXPECT_TRUE(unsupported(calls.get_and_touch("a", {}, token).get()));
  EXPECT_TRUE(unsupported(calls.get_and_set("a", "x", {}, token).get()));
  EXPECT_TRUE(unsupported(calls.execute(Command{"PING"}, {}, token).get()));
}

// A handler that only moves, on a strand: asio's own rule is that it runs there.
TEST(Asio, AHandlerThatOnlyMovesRunsOnItsExecutor) {
  asio::io_context io;
  Client client = test::open("embedded://1?name=asio-handler");
  auto strand = asio::make_strand(io);
  bool right = false;
  auto handler = [&, only = std::make_unique<int>(7)](Result<GetResult> got) {
    right = got && !*got && *only == 7 && strand.running_in_this_thread();
  };
  AsioClient(client).get("none", asio::bind_executor(strand, std::move(handler)));
  io.run();
  EXPECT_TRUE(right);
}

}  // namespace
}  // namespace sheaf

#endif
