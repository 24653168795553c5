// Calls of a client beside asio: the two ways that docs/asynchronous.md shows, with its very code.
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

// ---- asio::awaitable, which awaits only what is asio's: the callback form as its operation

// Start: void(Stop stop, std::function<void(Out)> done)
template <class Out, class Start, class Token>
auto operation(Start start, Token&& token) {
  const auto initiate = []<class Handler>(Handler handler, Start begin) {
    struct State {
      Handler handler;
      asio::executor_work_guard<asio::associated_executor_t<Handler>> work;
      std::stop_source stop{};
    };
    auto work = asio::make_work_guard(handler);
    auto state = std::make_shared<State>(State{std::move(handler), std::move(work)});
    auto slot = asio::get_associated_cancellation_slot(state->handler);
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr(state)](asio::cancellation_type) {
        if (const auto alive = weak.lock()) alive->stop.request_stop();
      });
    }
    const std::stop_token stop = state->stop.get_token();
    begin(&stop, [state](Out out) {
      const auto executor = state->work.get_executor();
      asio::post(executor, [state, result = std::move(out)]() mutable {
        state->work.reset();
        std::move(state->handler)(std::move(result));
      });
    });
  };
  return asio::async_initiate<Token, void(Out)>(initiate, token, std::move(start));
}

asio::awaitable<Result<GetResult>> get(AsyncClient client, std::string key) {
  return operation<Result<GetResult>>(
      [client, key](Stop stop, auto done) { client.get(key, {.stop = stop}, std::move(done)); },
      asio::use_awaitable);
}

asio::awaitable<Result<SetResult>> set(AsyncClient client, std::string key, std::string value) {
  return operation<Result<SetResult>>(
      [client, key, value](Stop stop, auto done) {
        client.set(key, value, {.stop = stop}, std::move(done));
      },
      asio::use_awaitable);
}

asio::awaitable<std::string> write_then_read(AsyncClient client, std::thread::id& thread) {
  const auto written = co_await set(client, "key", "value");
  if (!written || !written->stored) co_return "not set";
  const auto got = co_await get(client, "key");
  thread = std::this_thread::get_id();
  co_return got && *got ? (*got)->data : "not got";
}

TEST(Asio, AnAwaitableOfAsioAwaitsACallAndGoesOnOnItsExecutor) {
  asio::io_context io;
  Client client = test::open("embedded://3?name=asio-awaitable");
  std::thread::id thread;
  auto read = asio::co_spawn(io, write_then_read(client.async(), thread), asio::use_future);
  std::jthread runner([&] { io.run(); });
  EXPECT_EQ(read.get(), "value");
  EXPECT_EQ(thread, runner.get_id());
}

// A call that asio cancels is stopped by its token: the timer wins, and the call's end is awaited.
asio::awaitable<bool> timer_wins(AsyncClient client) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, 20ms);
  const auto first =
      co_await (get(std::move(client), "key") || timer.async_wait(asio::use_awaitable));
  co_return first.index() == 1;
}

TEST(Asio, ACancelledOperationOfAsioStopsTheCall) {
  const test::DeafServer server;
  asio::io_context io;
  Client client = test::open("mqtt://" + server.address() + "?timeout=20s&connect_timeout=20s");
  auto won = asio::co_spawn(io, timer_wins(client.async()), asio::use_future);
  const auto started = std::chrono::steady_clock::now();
  io.run();
  EXPECT_TRUE(won.get());
  EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
  EXPECT_EQ(client.stats().front().waiting, 0u);
}

}  // namespace
}  // namespace sheaf

#endif
