// A client's calls together with asio, in the two ways that docs/asynchronous.md shows. The
// io_context outlives the client: the client's thread may still be inside asio::post when run() has
// returned. Destroying the client waits for that thread.
#ifdef SHEAF_HAS_ASIO

#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#if !__has_include(<asio/deferred.hpp>)  // as in asio 1.22
#include <asio/experimental/deferred.hpp>
#endif
#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

#include <sheaf/asio.h>
#include <sheaf/async.h>

#include "tests/contract/endpoints.h"
#include "tests/support/listener.h"
#include "tests/support/task.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
#if __has_include(<asio/deferred.hpp>)
using asio::deferred;
#else
using asio::experimental::deferred;
#endif

// ---- a coroutine of any type, resumed by the io_context

// Resumes on the io_context, and keeps it from running out of work until then.
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
  io.run();  // returns when the coroutine and its hook have ended
  EXPECT_EQ(threads.get(), std::vector<std::thread::id>(3, std::this_thread::get_id()));
}

// ---- operations of asio itself

asio::awaitable<std::string> set_then_get(AsyncClient client, std::thread::id& thread) {
  const auto written = co_await client.set("key", "value")(asio::use_awaitable);
  if (!written || !written->stored) co_return "not set";
  const auto got = co_await client.get("key")(asio::use_awaitable);
  thread = std::this_thread::get_id();
  co_return got && *got ? (*got)->data : "not got";
}

TEST(Asio, AnAwaitableOfAsioAwaitsACallAndGoesOnOnItsExecutor) {
  asio::io_context io;
  Client client = test::open("embedded://3?name=asio-awaitable");
  std::thread::id thread;
  auto read = asio::co_spawn(io, set_then_get(client.async(), thread), asio::use_future);
  std::jthread runner([&] { io.run(); });
  EXPECT_EQ(read.get(), "value");
  EXPECT_EQ(thread, runner.get_id());
}

// asio cancels the call through its token: the timer wins, and the coroutine awaits the call's end.
asio::awaitable<bool> timer_wins(AsyncClient client, GetOptions options) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, 20ms);
  const auto first = co_await (client.get("key", options)(asio::use_awaitable) ||
                               timer.async_wait(asio::use_awaitable));
  co_return first.index() == 1;
}

TEST(Asio, ACancelledOperationOfAsioStopsTheCall) {
  const test::DeafServer server;
  asio::io_context io;
  Client client = test::open("mqtt://" + server.address() + "?timeout=20s&connect_timeout=20s");
  auto won = asio::co_spawn(io, timer_wins(client.async(), {}), asio::use_future);
  const auto started = std::chrono::steady_clock::now();
  io.run();
  EXPECT_TRUE(won.get());
  EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
  EXPECT_EQ(client.stats().front().waiting, 0u);
}

// Both the slot and the token in the options end the call.
TEST(Asio, AStopTokenEndsACallThatAsioCouldCancel) {
  const test::DeafServer server;
  for (const bool by_slot : {false, true}) {
    asio::io_context io;
    Client client = test::open("mqtt://" + server.address() + "?timeout=20s&connect_timeout=20s");
    asio::cancellation_signal signal;
    std::stop_source source;
    const std::stop_token token = source.get_token();
    std::optional<Reason> reason;
    client.async().get("key", {.stop = &token})(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(io, [&](const Result<GetResult>& got) {
          reason = got.error().reason;
        })));
    by_slot ? signal.emit(asio::cancellation_type::total) : void(source.request_stop());
    io.run();
    EXPECT_EQ(reason, Reason::cancelled) << by_slot;
  }
}

// Every object that owns memory has a name, since g++ before 14 would free it twice
// (SHEAF_DESTROYS_TWICE).
asio::awaitable<std::string> with_arguments(AsyncClient client, const std::string& text) {
  const SetOptions options{.ttl = 1h, .version = {}};
  const bool stored = (co_await client.set("a", text, options)(asio::use_awaitable))->stored;
  Client::Compute compute = [text, only = std::make_unique<int>(7)] { return text; };
  const auto made =
      co_await client.get_or_compute("b", {}, std::move(compute))(asio::use_awaitable);
  const RemoveOptions if_value{.if_value = text};
  const auto removed = co_await client.remove("a", if_value)(asio::use_awaitable);
  co_return stored && removed->found == RemoveResult::removed ? made->data : "";
}

TEST(Asio, AnAwaitableTakesOptionsAndFunctions) {
  asio::io_context io;
  Client client = test::open("embedded://1?name=asio-arguments");
  const std::string text = "longer than what a string keeps in itself";
  auto end = asio::co_spawn(io, with_arguments(client.async(), text), asio::use_future);
  io.run();
  EXPECT_EQ(end.get(), text);
}

TEST(Asio, ACallMayBeDeferredAndStartsWhenItIsAwaited) {
  asio::io_context io;
  Client client = test::open("embedded://1?name=asio-deferred");
  auto operation = client.async().set("key", "value")(deferred);
  EXPECT_FALSE(client.get("key").value());
  auto stored = std::move(operation)(asio::use_future);
  EXPECT_TRUE(stored.get().value().stored);
  EXPECT_EQ(client.get("key").value()->data, "value");
}

// A move-only handler on a strand: asio's own rule is that it runs there.
TEST(Asio, AHandlerThatOnlyMovesRunsOnItsExecutor) {
  asio::io_context io;
  Client client = test::open("embedded://1?name=asio-handler");
  auto strand = asio::make_strand(io);
  bool right = false;
  auto handler = [&, only = std::make_unique<int>(7)](Result<GetResult> got) {
    right = got && !*got && *only == 7 && strand.running_in_this_thread();
  };
  client.async().get("none")(asio::bind_executor(strand, std::move(handler)));
  io.run();
  EXPECT_TRUE(right);
}

// A completion token must accept the outcome, and a concept can check that.
template <class Token>
concept TakesGet = requires(Call<Result<GetResult>> call, Token token) { std::move(call)(token); };
static_assert(TakesGet<asio::use_awaitable_t<>>);
static_assert(TakesGet<void (*)(Result<GetResult>)>);
static_assert(!TakesGet<void (*)(int)>);
static_assert(!TakesGet<void*>);

}  // namespace
}  // namespace sheaf

#endif
