#pragma once

/// @file
/// The operations of a client as those of asio: with any completion token (use_awaitable, deferred,
/// use_future, a function), on the handler's associated executor, and with its cancellation slot:
///
///     asio::awaitable<void> serve(sheaf::AsioClient client) {
///       sheaf::Result<sheaf::GetResult> got = co_await client.get("key", asio::use_awaitable);
///     }
///
/// Standalone asio where `<asio.hpp>` is found, else that of Boost; SHEAF_BOOST_ASIO, defined
/// before this header, asks for Boost's. The library itself needs neither.

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
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sheaf/async.h>

namespace sheaf {
/// Internal: which asio it is, and one operation of it.
namespace asio_detail {
#if !defined(SHEAF_BOOST_ASIO) && __has_include(<asio.hpp>)
namespace net = ::asio;
#else
namespace net = ::boost::asio;
#endif

/// Whether an operation with this completion token may stand in a `co_await` expression, where g++
/// before 14 destroys some temporaries twice: see sheaf/owning_temporary.h.
template <class Token, class Out>
concept MayBeAwaited =
    awaited_detail::destroys_twice && !std::is_invocable_v<std::decay_t<Token>&, Out>;

/// What an operation keeps until it ends. The work guard keeps the executor's run() from returning.
template <class Handler>
struct Pending {
  Handler handler;                                                     ///< Called once.
  net::executor_work_guard<net::associated_executor_t<Handler>> work;  ///< Of the handler.
  std::stop_source stop{};                                             ///< Of the call.
};

/// `start` is called with a stop token and a callback that takes the outcome.
template <class Out, class Start, class Token>
auto operation(Start start, Token&& token) {
  const auto initiate = []<class Handler>(Handler handler, Start begin) {
    auto work = net::make_work_guard(handler);
    auto pending =
        std::make_shared<Pending<Handler>>(Pending<Handler>{std::move(handler), std::move(work)});
    auto slot = net::get_associated_cancellation_slot(pending->handler);
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr(pending)](net::cancellation_type) {
        if (const auto alive = weak.lock()) alive->stop.request_stop();
      });
    }
    const std::stop_token stop = pending->stop.get_token();
    begin(&stop, [pending](Out out) {
      const auto executor = pending->work.get_executor();
      net::post(executor, [pending, result = std::move(out)]() mutable {
        pending->work.reset();
        std::move(pending->handler)(std::move(result));
      });
    });
  };
  return net::async_initiate<Token, void(Out)>(initiate, token, std::move(start));
}
}  // namespace asio_detail

inline namespace v0 {

/// The asynchronous forms of Client for asio. Each member takes the arguments of the member of
/// Client with the same name and a completion token whose signature is `void(Out)`, Out being what
/// that member returns. Keys and values are owned by the operation. `options.stop` is not looked
/// at: cancellation comes through the slot of the handler, with any of asio's types, and ends the
/// call with Reason::cancelled.
///
/// Thread rule: any thread may call any member at any time. Handlers run on their executor.
/// Lifetime: cheap to copy; as AsyncClient. Declare the io_context before the client, so that it is
/// destroyed after it: the client's own thread may still be posting when run() has returned.
class AsioClient {
 public:
  /// Of the client's asynchronous forms.
  explicit AsioClient(const Client& client) : client_(client.async()) {}

  /// See Client::get.
  template <class Token>
  auto get(std::string key, GetOptions options, Token&& token) const {
    return call<Result<GetResult>>(
        std::move(options),
        [key = std::move(key)](const AsyncClient& client, auto& with, auto done) {
          client.get(key, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// The same without options.
  template <class Token>
  auto get(std::string key, Token&& token) const {
    return get(std::move(key), GetOptions{}, std::forward<Token>(token));
  }

  /// See Client::set.
  template <class Token>
  auto set(std::string key, std::string value, const SetOptions& options, Token&& token) const {
    return call<Result<SetResult>>(
        options,
        [key = std::move(key), value = std::move(value)](const AsyncClient& client, auto& with,
                                                         auto done) {
          client.set(key, value, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// The same without options.
  template <class Token>
  auto set(std::string key, std::string value, Token&& token) const {
    const SetOptions options;
    return set(std::move(key), std::move(value), options, std::forward<Token>(token));
  }
  /// g++ before 14 destroys such a temporary twice: name it. See sheaf/owning_temporary.h.
  template <asio_detail::MayBeAwaited<Result<SetResult>> Token>
  auto set(std::string key, std::string value, SetOptions&& options, Token&& token) const = delete;

  /// See Client::remove. `options.if_value` must live until the operation is started.
  template <class Token>
  auto remove(std::string key, const RemoveOptions& options, Token&& token) const {
    std::string value(options.if_value.value_or(std::string_view{}));
    return call<Result<RemoveResult>>(
        options,
        [key = std::move(key), value = std::move(value)](const AsyncClient& client, auto& with,
                                                         auto done) {
          if (with.if_value) with.if_value = value;
          client.remove(key, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// The same without options.
  template <class Token>
  auto remove(std::string key, Token&& token) const {
    const RemoveOptions options;
    return remove(std::move(key), options, std::forward<Token>(token));
  }
  /// g++ before 14 destroys such a temporary twice: name it. See sheaf/owning_temporary.h.
  template <asio_detail::MayBeAwaited<Result<RemoveResult>> Token>
  auto remove(std::string key, RemoveOptions&& options, Token&& token) const = delete;

  /// See Client::append.
  template <class Token>
  auto append(std::string key, std::string value, EditOptions options, Token&& token) const {
    return edit(&AsyncClient::append, std::move(key), std::move(value), std::move(options),
                std::forward<Token>(token));
  }
  /// The same without options.
  template <class Token>
  auto append(std::string key, std::string value, Token&& token) const {
    return append(std::move(key), std::move(value), EditOptions{}, std::forward<Token>(token));
  }
  /// See Client::prepend.
  template <class Token>
  auto prepend(std::string key, std::string value, EditOptions options, Token&& token) const {
    return edit(&AsyncClient::prepend, std::move(key), std::move(value), std::move(options),
                std::forward<Token>(token));
  }
  /// The same without options.
  template <class Token>
  auto prepend(std::string key, std::string value, Token&& token) const {
    return prepend(std::move(key), std::move(value), EditOptions{}, std::forward<Token>(token));
  }

  /// See Client::increment.
  template <class Token>
  auto increment(std::string key, std::uint64_t delta, CountOptions options, Token&& token) const {
    return call<Result<CountResult>>(
        std::move(options),
        [key = std::move(key), delta](const AsyncClient& client, auto& with, auto done) {
          client.increment(key, delta, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// See Client::decrement.
  template <class Token>
  auto decrement(std::string key, std::uint64_t delta, CountOptions options, Token&& token) const {
    return call<Result<CountResult>>(
        std::move(options),
        [key = std::move(key), delta](const AsyncClient& client, auto& with, auto done) {
          client.decrement(key, delta, with, std::move(done));
        },
        std::forward<Token>(token));
  }

  /// See Client::touch.
  template <class Token>
  auto touch(std::string key, TouchOptions options, Token&& token) const {
    return call<Result<bool>>(
        std::move(options),
        [key = std::move(key)](const AsyncClient& client, auto& with, auto done) {
          client.touch(key, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// See Client::get_and_touch.
  template <class Token>
  auto get_and_touch(std::string key, TouchOptions options, Token&& token) const {
    return call<Result<GetResult>>(
        std::move(options),
        [key = std::move(key)](const AsyncClient& client, auto& with, auto done) {
          client.get_and_touch(key, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// See Client::get_and_set.
  template <class Token>
  auto get_and_set(std::string key, std::string value, GetAndSetOptions options,
                   Token&& token) const {
    return call<Result<GetResult>>(
        std::move(options),
        [key = std::move(key), value = std::move(value)](const AsyncClient& client, auto& with,
                                                         auto done) {
          client.get_and_set(key, value, with, std::move(done));
        },
        std::forward<Token>(token));
  }

  /// See AsyncClient::get_or_compute. `compute` takes a ComputeDone, or nothing and returns the
  /// value; it is run by the client's dispatcher, not by the handler's executor.
  template <class Function, class Token>
  auto get_or_compute(std::string key, ComputeOptions options, Function&& compute,
                      Token&& token) const {
    return call<Result<Value>>(
        std::move(options),
        [key = std::move(key), compute = std::forward<Function>(compute)](
            const AsyncClient& client, auto& with, auto done) mutable {
          client.get_or_compute(key, with, std::move(compute), std::move(done));
        },
        std::forward<Token>(token));
  }

  /// g++ before 14 destroys such a temporary twice: name it, as a Client::Compute or an
  /// AsyncCompute. See sheaf/owning_temporary.h.
  template <awaited_detail::OwningTemporary Function,
            asio_detail::MayBeAwaited<Result<Value>> Token>
  auto get_or_compute(std::string key, ComputeOptions options, Function&& compute,
                      Token&& token) const = delete;

  /// See Client::execute.
  template <class Token>
  auto execute(Command command, CommandOptions options, Token&& token) const {
    return call<Result<CommandReply>>(
        std::move(options),
        [command = std::move(command)](const AsyncClient& client, auto& with, auto done) mutable {
          client.execute(std::move(command), with, std::move(done));
        },
        std::forward<Token>(token));
  }

  /// See Client::get_many.
  template <class Token>
  auto get_many(std::vector<std::string> keys, BatchOptions options, Token&& token) const {
    return call<AsyncClient::Gets>(
        std::move(options),
        [keys = std::move(keys)](const AsyncClient& client, auto& with, auto done) {
          const std::vector<std::string_view> views(keys.begin(), keys.end());
          client.get_many(views, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// See Client::remove_many.
  template <class Token>
  auto remove_many(std::vector<std::string> keys, BatchOptions options, Token&& token) const {
    return call<AsyncClient::Removes>(
        std::move(options),
        [keys = std::move(keys)](const AsyncClient& client, auto& with, auto done) {
          const std::vector<std::string_view> views(keys.begin(), keys.end());
          client.remove_many(views, with, std::move(done));
        },
        std::forward<Token>(token));
  }
  /// See Client::set_many; pairs of key and value.
  template <class Token>
  auto set_many(std::vector<std::pair<std::string, std::string>> items, BatchSetOptions options,
                Token&& token) const {
    return call<AsyncClient::Sets>(
        std::move(options),
        [items = std::move(items)](const AsyncClient& client, auto& with, auto done) {
          std::vector<SetItem> views;
          views.reserve(items.size());
          for (const auto& [key, value] : items) views.push_back({key, value});
          client.set_many(views, with, std::move(done));
        },
        std::forward<Token>(token));
  }

 private:
  // `start` is called with the client, the options with the stop token of this call, and the
  // callback.
  template <class Out, class Options, class Start, class Token>
  auto call(Options options, Start start, Token&& token) const {
    return asio_detail::operation<Out>(
        [client = client_, options = std::move(options), start = std::move(start)](
            Stop stop, auto done) mutable {
          options.stop = stop;
          start(client, options, std::move(done));
        },
        std::forward<Token>(token));
  }
  using Edit = void (AsyncClient::*)(std::string_view, std::string_view, const EditOptions&,
                                     AsyncClient::Callback<Result<bool>>) const;
  template <class Token>
  auto edit(Edit member, std::string key, std::string value, EditOptions options,
            Token&& token) const {
    return call<Result<bool>>(
        std::move(options),
        [member, key = std::move(key), value = std::move(value)](const AsyncClient& client,
                                                                 auto& with, auto done) {
          (client.*member)(key, value, with, std::move(done));
        },
        std::forward<Token>(token));
  }

  AsyncClient client_;
};

}  // namespace v0
}  // namespace sheaf
