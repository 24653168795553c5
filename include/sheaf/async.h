#pragma once

/// @file
/// The asynchronous forms of Client: callbacks and coroutines (AsyncClient), futures
/// (FutureClient). None of them blocks; each may be called from any thread, a callback included.

#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/compute.h>
#include <sheaf/move_only_function.h>
#include <sheaf/owning_temporary.h>

namespace sheaf {
inline namespace v0 {

/// Resumes a coroutine where the application wants it: called once for each `co_await`, on the
/// dispatcher, and must see to it that `waiting.resume()` is called once. None: the coroutine is
/// resumed on the dispatcher itself.
using ResumeHook = std::function<void(std::coroutine_handle<> waiting)>;

/// What an asynchronous call returns to `co_await`, in a coroutine of any type. Nothing is sent
/// before it is awaited. It owns copies of what the call was given.
///
/// Thread rule: one thread; await it at most once.
/// Lifetime: the coroutine must live until it is resumed, which happens by the deadline at the
/// latest; a stop token (see Stop) ends the wait sooner.
template <class Out>
class [[nodiscard]] Awaitable {
 public:
  /// Starts the call; `done` gets its outcome once.
  using Start = MoveOnlyFunction<void(MoveOnlyFunction<void(Out)> done)>;

  /// Made by AsyncClient, AsyncLocker and AsyncList.
  Awaitable(Start start, ResumeHook hook) : start_(std::move(start)), hook_(std::move(hook)) {}

  /// The same call, whose outcome `change` turns into another before the coroutine gets it.
  /// `change` is moved or copied; it runs where a callback of the call would run, and must not
  /// throw.
  template <class Change>
  auto transform(
      Change&& change) && -> Awaitable<std::invoke_result_t<std::decay_t<Change>&, Out>> {
    return {[start = std::move(start_), change = std::forward<Change>(change)](auto done) mutable {
              start([change = std::move(change), done = std::move(done)](Out out) mutable {
                done(change(std::move(out)));
              });
            },
            std::move(hook_)};
  }
  /// g++ before 14 destroys such a temporary twice: name it. See sheaf/owning_temporary.h.
  template <awaited_detail::OwningTemporary Change>
  void transform(Change&& change) && = delete;

  /// As every awaitable: it always suspends.
  bool await_ready() const noexcept { return false; }
  /// As every awaitable: starts the call. The coroutine may go on before this returns.
  void await_suspend(std::coroutine_handle<> waiting) {
    const Start start = std::move(start_);  // this object may be gone before start() returns
    start([this, waiting](Out out) {
      out_.emplace(std::move(out));
      if (!hook_) return waiting.resume();
      const ResumeHook hook = std::move(hook_);
      hook(waiting);
    });
  }
  /// As every awaitable: what the blocking form would return.
  Out await_resume() { return std::move(*out_); }

 private:
  Start start_;
  ResumeHook hook_;
  std::optional<Out> out_;
};

/// The part of AsyncClient that computes what is missing; see there.
///
/// Who misses the same key in one client waits for one computation, whatever the forms of the
/// calls. The function is run by the dispatcher, as callbacks are, and gets a ComputeDone, which it
/// may call later. What it throws goes where exceptions of callbacks go, and the call ends with an
/// error; the next in line computes then. A function that has not begun may be left out: another
/// caller has computed.
///
/// As in the blocking form the time that computing takes does not count. A stop token ends the call
/// at once, and the end of the client does. A function that has begun is not interrupted by either:
/// after the token was stopped, what it makes is stored for the others.
///
/// A blocking call waits until its deadline for a function of an asynchronous one that has begun.
/// So code that must run before the ComputeDone is called, a callback for example, must not wait
/// behind that blocking call, on the same dispatcher or on the only thread that polls a driver.
class SHEAF_API AsyncComputations {
 public:
  /// See Client::get_or_compute. `compute` is called with a ComputeDone.
  void get_or_compute(std::string_view key, const ComputeOptions& options, AsyncCompute compute,
                      MoveOnlyFunction<void(Result<Value>)> done) const;
  Awaitable<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                          AsyncCompute compute) const;
  /// The same; `compute` returns the value, and runs as a callback does.
  void get_or_compute(std::string_view key, const ComputeOptions& options, Client::Compute compute,
                      MoveOnlyFunction<void(Result<Value>)> done) const;
  Awaitable<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                          Client::Compute compute) const;
  /// g++ before 14 destroys such a temporary twice: name it, as a Client::Compute or an
  /// AsyncCompute. See sheaf/owning_temporary.h.
  template <awaited_detail::OwningTemporary Function>
  Awaitable<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                          Function&& compute) const = delete;

 protected:
  /// Internal.
  AsyncComputations(std::shared_ptr<Client::Impl> impl, ResumeHook hook) noexcept
      : impl_(std::move(impl)), hook_(std::move(hook)) {}
  std::shared_ptr<Client::Impl> impl_;  ///< Internal.
  ResumeHook hook_;                     ///< Internal.
};

/// The callback and coroutine forms of Client. Each member comes twice: with a callback, which runs
/// on the dispatcher exactly once, and without one, to be awaited. Arguments and errors are those
/// of the blocking member of the same name. Views are copied before the call returns.
///
/// Thread rule: any thread may call any member at any time.
/// Lifetime: cheap to copy; may outlive the Client: calls then end with Outcome::shutdown, and
/// their callbacks run on the calling thread.
class SHEAF_API AsyncClient : public AsyncComputations {
 public:
  /// Receives the outcome of a call.
  template <class Out>
  using Callback = MoveOnlyFunction<void(Out)>;
  using Gets = std::vector<KeyResult<GetResult>>;        ///< What get_many comes to.
  using Sets = std::vector<KeyResult<SetResult>>;        ///< What set_many comes to.
  using Removes = std::vector<KeyResult<RemoveResult>>;  ///< What remove_many comes to.

  /// The same client; its coroutines are resumed by the hook.
  AsyncClient resume_by(ResumeHook hook) const { return {impl_, std::move(hook)}; }

  /// See Client::get.
  void get(std::string_view key, const GetOptions& options, Callback<Result<GetResult>> done) const;
  Awaitable<Result<GetResult>> get(std::string_view key, const GetOptions& options = {}) const;

  /// See Client::set.
  void set(std::string_view key, std::string_view value, const SetOptions& options,
           Callback<Result<SetResult>> done) const;
  Awaitable<Result<SetResult>> set(std::string_view key, std::string_view value) const;
  Awaitable<Result<SetResult>> set(std::string_view key, std::string_view value,
                                   const SetOptions& options) const;

  /// See Client::remove.
  void remove(std::string_view key, const RemoveOptions& options,
              Callback<Result<RemoveResult>> done) const;
  Awaitable<Result<RemoveResult>> remove(std::string_view key) const;
  Awaitable<Result<RemoveResult>> remove(std::string_view key, const RemoveOptions& options) const;
#if SHEAF_DESTROYS_TWICE
  /// g++ before 14 destroys such a temporary twice: name it. See sheaf/owning_temporary.h.
  Awaitable<Result<SetResult>> set(std::string_view key, std::string_view value,
                                   SetOptions&& options) const = delete;
  Awaitable<Result<RemoveResult>> remove(std::string_view key,
                                         RemoveOptions&& options) const = delete;
#endif

  /// See Client::append.
  void append(std::string_view key, std::string_view value, const EditOptions& options,
              Callback<Result<bool>> done) const;
  Awaitable<Result<bool>> append(std::string_view key, std::string_view value,
                                 const EditOptions& options = {}) const;
  /// See Client::prepend.
  void prepend(std::string_view key, std::string_view value, const EditOptions& options,
               Callback<Result<bool>> done) const;
  Awaitable<Result<bool>> prepend(std::string_view key, std::string_view value,
                                  const EditOptions& options = {}) const;

  /// See Client::increment.
  void increment(std::string_view key, std::uint64_t delta, const CountOptions& options,
                 Callback<Result<CountResult>> done) const;
  Awaitable<Result<CountResult>> increment(std::string_view key, std::uint64_t delta = 1,
                                           const CountOptions& options = {}) const;
  /// See Client::decrement.
  void decrement(std::string_view key, std::uint64_t delta, const CountOptions& options,
                 Callback<Result<CountResult>> done) const;
  Awaitable<Result<CountResult>> decrement(std::string_view key, std::uint64_t delta = 1,
                                           const CountOptions& options = {}) const;

  /// See Client::touch.
  void touch(std::string_view key, const TouchOptions& options, Callback<Result<bool>> done) const;
  Awaitable<Result<bool>> touch(std::string_view key, const TouchOptions& options = {}) const;
  /// See Client::get_and_touch.
  void get_and_touch(std::string_view key, const TouchOptions& options,
                     Callback<Result<GetResult>> done) const;
  Awaitable<Result<GetResult>> get_and_touch(std::string_view key,
                                             const TouchOptions& options = {}) const;

  /// See Client::get_and_set.
  void get_and_set(std::string_view key, std::string_view value, const GetAndSetOptions& options,
                   Callback<Result<GetResult>> done) const;
  Awaitable<Result<GetResult>> get_and_set(std::string_view key, std::string_view value,
                                           const GetAndSetOptions& options = {}) const;

  /// See Client::execute.
  void execute(Command command, const CommandOptions& options,
               Callback<Result<CommandReply>> done) const;
  Awaitable<Result<CommandReply>> execute(Command command,
                                          const CommandOptions& options = {}) const;

  /// See Client::get_many.
  void get_many(std::span<const std::string_view> keys, const BatchOptions& options,
                Callback<Gets> done) const;
  Awaitable<Gets> get_many(std::span<const std::string_view> keys,
                           const BatchOptions& options = {}) const;
  /// See Client::set_many.
  void set_many(std::span<const SetItem> items, const BatchSetOptions& options,
                Callback<Sets> done) const;
  Awaitable<Sets> set_many(std::span<const SetItem> items,
                           const BatchSetOptions& options = {}) const;
  /// See Client::remove_many.
  void remove_many(std::span<const std::string_view> keys, const BatchOptions& options,
                   Callback<Removes> done) const;
  Awaitable<Removes> remove_many(std::span<const std::string_view> keys,
                                 const BatchOptions& options = {}) const;

  /// See Client::check_nodes.
  void check_nodes(const NodesOptions& options, Callback<std::vector<NodeReport>> done) const;
  Awaitable<std::vector<NodeReport>> check_nodes(const NodesOptions& options = {}) const;
  /// See Client::server_stats.
  void server_stats(std::string_view group, const NodesOptions& options,
                    Callback<std::vector<NodeText>> done) const;
  Awaitable<std::vector<NodeText>> server_stats(std::string_view group = {},
                                                const NodesOptions& options = {}) const;
  /// See Client::server_versions.
  void server_versions(const NodesOptions& options, Callback<std::vector<NodeText>> done) const;
  Awaitable<std::vector<NodeText>> server_versions(const NodesOptions& options = {}) const;

 private:
  friend class Client;
  using AsyncComputations::AsyncComputations;
};

/// The future forms of Client. A future becomes ready on a thread of the library, by the deadline
/// at the latest; its destructor does not wait. Arguments and errors are those of the blocking
/// member of the same name. Views are copied before the call returns.
///
/// Thread rule and lifetime: as AsyncClient.
class SHEAF_API FutureClient {
 public:
  /// See Client::get.
  std::future<Result<GetResult>> get(std::string_view key, const GetOptions& options = {}) const;
  /// See Client::set.
  std::future<Result<SetResult>> set(std::string_view key, std::string_view value,
                                     const SetOptions& options = {}) const;
  /// See Client::remove.
  std::future<Result<RemoveResult>> remove(std::string_view key,
                                           const RemoveOptions& options = {}) const;
  /// See Client::append.
  std::future<Result<bool>> append(std::string_view key, std::string_view value,
                                   const EditOptions& options = {}) const;
  /// See Client::prepend.
  std::future<Result<bool>> prepend(std::string_view key, std::string_view value,
                                    const EditOptions& options = {}) const;
  /// See Client::increment.
  std::future<Result<CountResult>> increment(std::string_view key, std::uint64_t delta = 1,
                                             const CountOptions& options = {}) const;
  /// See Client::decrement.
  std::future<Result<CountResult>> decrement(std::string_view key, std::uint64_t delta = 1,
                                             const CountOptions& options = {}) const;
  /// See Client::touch.
  std::future<Result<bool>> touch(std::string_view key, const TouchOptions& options = {}) const;
  /// See Client::get_and_touch.
  std::future<Result<GetResult>> get_and_touch(std::string_view key,
                                               const TouchOptions& options = {}) const;
  /// See Client::get_and_set.
  std::future<Result<GetResult>> get_and_set(std::string_view key, std::string_view value,
                                             const GetAndSetOptions& options = {}) const;
  /// See AsyncClient::get_or_compute. The function runs as a callback does, so it needs the
  /// dispatcher, and the future with it.
  std::future<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                            AsyncCompute compute) const;
  std::future<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                            Client::Compute compute) const;
  /// See Client::execute.
  std::future<Result<CommandReply>> execute(Command command,
                                            const CommandOptions& options = {}) const;
  /// See Client::get_many.
  std::future<AsyncClient::Gets> get_many(std::span<const std::string_view> keys,
                                          const BatchOptions& options = {}) const;
  /// See Client::set_many.
  std::future<AsyncClient::Sets> set_many(std::span<const SetItem> items,
                                          const BatchSetOptions& options = {}) const;
  /// See Client::remove_many.
  std::future<AsyncClient::Removes> remove_many(std::span<const std::string_view> keys,
                                                const BatchOptions& options = {}) const;

 private:
  friend class Client;
  explicit FutureClient(std::shared_ptr<Client::Impl> impl) noexcept : impl_(std::move(impl)) {}
  std::shared_ptr<Client::Impl> impl_;
};

}  // namespace v0
}  // namespace sheaf
