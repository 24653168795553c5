#pragma once

/// @file
/// Calls as operations of asio, standalone or Boost's: a Call takes any completion token
/// (use_awaitable, deferred, use_future, a function), completes on the handler's associated
/// executor, and is cancelled by its cancellation slot:
///
///     asio::awaitable<void> serve(sheaf::AsyncClient client) {
///       sheaf::Result<sheaf::GetResult> got = co_await client.get("key")(asio::use_awaitable);
///     }
///
/// Any of asio's cancellation types ends the call with Reason::cancelled, and so does a stop token
/// in its options. Declare the io_context before the client, so that it is destroyed after it: the
/// client's own thread may still be posting when run() has returned.
///
/// Boost's asio is used if `<asio.hpp>` is not found or if SHEAF_BOOST_ASIO is defined before this
/// header. docs/asynchronous.md says which versions of asio and clang need more.

#if !defined(SHEAF_BOOST_ASIO) && __has_include(<asio.hpp>)
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#else
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#endif

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <sheaf/call.h>

namespace sheaf {
/// Internal: which asio it is, and one operation of it.
namespace asio_detail {
#if !defined(SHEAF_BOOST_ASIO) && __has_include(<asio.hpp>)
namespace net = ::asio;
#else
namespace net = ::boost::asio;
#endif

/// Passes a request to stop on.
struct StopOther {
  std::stop_source other;                               ///< Is stopped.
  void operator()() noexcept { other.request_stop(); }  ///< Called by the first token.
};

/// What an operation keeps until it ends. The work guard keeps the executor's run() from returning.
template <class Handler>
struct Pending {
  /// Keeps the executor at work.
  explicit Pending(Handler its_handler)
      : handler(std::move(its_handler)), work(net::make_work_guard(handler)) {}

  Handler handler;                                                     ///< Called once.
  net::executor_work_guard<net::associated_executor_t<Handler>> work;  ///< The handler's.
  std::stop_source stop{};                                             ///< The call's.
  std::optional<std::stop_callback<StopOther>> linked{};  ///< The token in the options.
};

/// Starts calls. The cancellation slot stops them, if it is connected.
struct Initiation {
  /// By async_initiate.
  template <class Handler, class Out>
  void operator()(Handler handler, Call<Out> call) const {
    auto pending = std::make_shared<Pending<Handler>>(std::move(handler));
    auto prepared = call_detail::Access::take(call);
    auto slot = net::get_associated_cancellation_slot(pending->handler);
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr(pending)](net::cancellation_type) {
        if (const auto alive = weak.lock()) alive->stop.request_stop();
      });
      pending->linked.emplace(std::exchange(prepared->token, pending->stop.get_token()),
                              StopOther{pending->stop});
    }
    prepared.release()->begin(
        [pending](Out out) {
          const auto executor = pending->work.get_executor();
          net::post(executor, [pending, result = std::move(out)]() mutable {
            pending->work.reset();
            std::move(pending->handler)(std::move(result));
          });
        },
        call_detail::Hears::callback);
  }
};
}  // namespace asio_detail

inline namespace v0 {

/// Internal: Call::operator().
template <class Out, asio_detail::net::completion_token_for<void(Out)> Token>
auto start_by_token(Call<Out>&& call, Token&& token) {
  return asio_detail::net::async_initiate<Token, void(Out)>(asio_detail::Initiation(), token,
                                                            std::move(call));
}

}  // namespace v0
}  // namespace sheaf
