#pragma once

/// @file
/// Call: what every asynchronous member returns. It starts when consumed, in one of four ways.

#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <sheaf/move_only_function.h>

/// @def SHEAF_DESTROYS_TWICE
/// Internal: 1 for g++ before 14, else 0. When a temporary that no constructor makes (an aggregate
/// in braces, a lambda) is part of a `co_await` expression, these compilers destroy it twice, and
/// what it owns is freed twice. So members that return a Call refuse such a temporary: name it.
///
///     const sheaf::SetOptions options{.ttl = 1min};
///     sheaf::Client::Compute compute = [key] { return row_of(key); };
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define SHEAF_DESTROYS_TWICE 1
#else
#define SHEAF_DESTROYS_TWICE 0
#endif

namespace sheaf {
inline namespace v0 {

/// One asynchronous operation; see below.
template <class Out>
class Call;

/// Resumes a coroutine where the application wants it: called once for each `co_await`, on the
/// dispatcher, and must arrange that `waiting.resume()` is called once. Without a hook the
/// coroutine is resumed on the dispatcher itself.
using ResumeHook = std::function<void(std::coroutine_handle<> waiting)>;

}  // namespace v0

/// Internal: what a Call holds, and who may make one.
namespace call_detail {

/// What receives the outcome.
enum class Hears : bool {
  callback,  ///< The user's code: run by the dispatcher.
  promise    ///< No user code: may be called anywhere.
};

/// A call that has not started.
template <class Out>
class Prepared {
 public:
  /// Receives the outcome, once.
  using Done = MoveOnlyFunction<void(Out)>;

  virtual ~Prepared() = default;
  /// Starts it, once. It owns itself from here, and may be gone before this returns.
  virtual void begin(Done done, Hears hears) = 0;

  std::stop_token token{};  ///< Ends it; may be replaced before begin().

 protected:
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

/// Makes calls, and takes what they hold.
struct Access {
  /// A call that is not started.
  template <class Out>
  static Call<Out> make(std::unique_ptr<Prepared<Out>> prepared, ResumeHook hook) {
    return Call<Out>(std::move(prepared), std::move(hook));
  }
  /// To be started by the caller. Throws std::bad_function_call if the call was consumed before.
  template <class Out>
  static std::unique_ptr<Prepared<Out>> take(Call<Out>& call) {
    if (call.prepared_ == nullptr) function_detail::called_empty();
    return std::move(call.prepared_);
  }
};

/// A call whose outcome is turned into another by user code, which the dispatcher therefore runs.
template <class Out, class From, class Change>
class Changed final : public Prepared<Out> {
 public:
  /// `from` is started when this is.
  Changed(std::unique_ptr<Prepared<From>> from, Change change)
      : from_(std::move(from)), change_(std::move(change)) {
    this->token = from_->token;
  }
  void begin(typename Prepared<Out>::Done done, Hears) override {
    const std::unique_ptr<Changed> self(this);
    from_->token = std::move(this->token);
    from_.release()->begin(
        [change = std::move(change_),
         done = std::move(done)](From from) mutable {  // NOLINT: a change may keep it
          done(change(std::move(from)));
        },
        Hears::callback);
  }

 private:
  std::unique_ptr<Prepared<From>> from_;
  Change change_;
};

/// True for a parameter `F&&` that may be a temporary lambda which owns something.
template <class F>
concept OwningTemporary =
    SHEAF_DESTROYS_TWICE != 0 && std::is_class_v<F> && !std::is_trivially_destructible_v<F> &&
    !function_detail::is_wrapper<std::remove_cv_t<F>>;

}  // namespace call_detail

inline namespace v0 {

/// One asynchronous operation that has not started. It owns copies of all that it was given, the
/// stop token and the views in options included. It starts when it is consumed, which is done once,
/// in one of these ways:
///
///     auto got = co_await client.async().get("key");                   // in a coroutine
///     client.async().get("key").then([](Result<GetResult> got) { … });  // a callback
///     std::future<Result<GetResult>> got = client.async().get("key").future();
///     client.async().get("key")(asio::use_awaitable);                  // sheaf/asio.h
///
/// Time counts from there: the deadline is that of a call which begins then, and operations of one
/// client on one key take effect in the order in which they were started. A Call that is destroyed
/// before does nothing.
///
/// `co_await` works in a coroutine of any type. In an `asio::awaitable` it needs an asio that
/// awaits operations directly (1.30 or later); with any asio
/// `co_await std::move(call)(asio::use_awaitable)` does.
///
/// Thread rule: one thread. Any thread may consume it.
/// Lifetime: may outlive the Client; it then ends with Outcome::shutdown. What was consumed or
/// moved from throws std::bad_function_call when it is consumed again.
template <class Out>
class [[nodiscard]] Call {
 public:
  /// Receives the outcome.
  using Callback = MoveOnlyFunction<void(Out)>;

  /// Starts the call. `done` is called once, on the dispatcher; without a client, on this thread.
  void then(Callback done) && { start(std::move(done), call_detail::Hears::callback); }

  /// Starts the call. The future becomes ready on a thread of the library, by the deadline at the
  /// latest; its destructor does not wait.
  std::future<Out> future() && {
    std::promise<Out> promise;
    std::future<Out> future = promise.get_future();
    start([p = std::move(promise)](Out out) mutable { p.set_value(std::move(out)); },
          call_detail::Hears::promise);
    return future;
  }

  /// Starts the call as an operation of asio with this completion token, whose signature is
  /// `void(Out)`. Needs sheaf/asio.h, which says more.
  template <class Token>
  auto operator()(Token&& token) && -> decltype(start_by_token(std::declval<Call>(),
                                                               std::forward<Token>(token))) {
    return start_by_token(std::move(*this), std::forward<Token>(token));
  }

  /// The same call, whose outcome `change` turns into another. `change` is moved or copied; it runs
  /// where a callback of the call would run, also for a future, and must not throw.
  template <class Change>
  auto transform(Change&& change) && -> Call<std::invoke_result_t<std::decay_t<Change>&, Out>> {
    using To = std::invoke_result_t<std::decay_t<Change>&, Out>;
    using Changed = call_detail::Changed<To, Out, std::decay_t<Change>>;
    return call_detail::Access::make<To>(
        std::make_unique<Changed>(call_detail::Access::take(*this), std::forward<Change>(change)),
        std::move(hook_));
  }
  /// g++ before 14 destroys such a temporary twice: name it. See SHEAF_DESTROYS_TWICE.
  template <call_detail::OwningTemporary Change>
  void transform(Change&& change) && = delete;

  /// As every awaitable: it always suspends.
  bool await_ready() const noexcept { return false; }
  /// As every awaitable: starts the call. The coroutine may continue before this returns; it must
  /// live until it is resumed.
  void await_suspend(std::coroutine_handle<> waiting) {
    start(
        [this, waiting](Out out) {
          out_.emplace(std::move(out));
          if (!hook_) return waiting.resume();
          const ResumeHook hook = std::move(hook_);
          hook(waiting);
        },
        call_detail::Hears::callback);
  }
  /// As every awaitable: what the blocking form would return.
  Out await_resume() { return std::move(*out_); }

 private:
  friend struct call_detail::Access;
  Call(std::unique_ptr<call_detail::Prepared<Out>> prepared, ResumeHook hook) noexcept
      : prepared_(std::move(prepared)), hook_(std::move(hook)) {}
  // This object may be gone before it returns.
  void start(Callback done, call_detail::Hears hears) {
    call_detail::Access::take(*this).release()->begin(std::move(done), hears);
  }

  std::unique_ptr<call_detail::Prepared<Out>> prepared_;  // null: it was consumed
  ResumeHook hook_;
  std::optional<Out> out_;
};

}  // namespace v0
}  // namespace sheaf
