#pragma once

/// @file
/// The asynchronous forms of Client, Locker, LockGuard, List and Watch. Each member returns a Call,
/// which sheaf/call.h describes. None blocks; each may be called from any thread or callback.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/call.h>
#include <sheaf/client.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

namespace sheaf {
namespace client::compute {
class DoneHandle;
class PendingCompute;
}  // namespace client::compute
inline namespace v0 {

/// Ends the computation of a missing value. An AsyncCompute gets one, and calls it or one of its
/// copies once, on any thread, before it returns or later. The first call counts.
///
/// If the last copy is destroyed without a call, the computation has failed as by an error
/// (Outcome::not_sent, Reason::other). Once the client has gone a call does nothing.
///
/// Thread rule: any thread may call or copy any object that no other thread changes.
class SHEAF_API ComputeDone {
 public:
  /// Gives the value; or an error, which ends only the caller's call: the next in line computes.
  void operator()(Result<std::string> made) const;
  /// Gives the value.
  void operator()(std::string value) const;

 private:
  friend class client::compute::PendingCompute;
  explicit ComputeDone(std::shared_ptr<const client::compute::DoneHandle> handle) noexcept;
  std::shared_ptr<const client::compute::DoneHandle> handle_;
};

/// Makes the value of a key that is absent, now or later; see AsyncClient::get_or_compute.
using AsyncCompute = MoveOnlyFunction<void(ComputeDone done)>;

/// The asynchronous forms of Client, made by Client::async. Arguments and errors are those of the
/// blocking member of the same name; the Call owns copies of what views refer to.
///
/// Thread rule: any thread may call any member at any time.
/// Lifetime: cheap to copy; may outlive the Client: calls then end with Outcome::shutdown.
class SHEAF_API AsyncClient {
 public:
  using Gets = std::vector<KeyResult<GetResult>>;        ///< What get_many returns.
  using Sets = std::vector<KeyResult<SetResult>>;        ///< What set_many returns.
  using Removes = std::vector<KeyResult<RemoveResult>>;  ///< What remove_many returns.

  /// The same client; the coroutines that await its calls are resumed by the hook.
  AsyncClient resume_by(ResumeHook hook) const { return {impl_, std::move(hook)}; }

  /// See Client::get.
  Call<Result<GetResult>> get(std::string_view key, const GetOptions& options = {}) const;
  /// See Client::set.
  Call<Result<SetResult>> set(std::string_view key, std::string_view value,
                              const SetOptions& options = SetOptions()) const;
  /// See Client::remove.
  Call<Result<RemoveResult>> remove(std::string_view key,
                                    const RemoveOptions& options = RemoveOptions()) const;
#if SHEAF_DESTROYS_TWICE
  Call<Result<SetResult>> set(std::string_view key, std::string_view value,
                              SetOptions&& options) const = delete;  ///< Name the options.
  Call<Result<RemoveResult>> remove(std::string_view key,
                                    RemoveOptions&& options) const = delete;  ///< Likewise.
#endif
  /// See Client::append.
  Call<Result<bool>> append(std::string_view key, std::string_view value,
                            const EditOptions& options = {}) const;
  /// See Client::prepend.
  Call<Result<bool>> prepend(std::string_view key, std::string_view value,
                             const EditOptions& options = {}) const;
  /// See Client::increment.
  Call<Result<CountResult>> increment(std::string_view key, std::uint64_t delta = 1,
                                      const CountOptions& options = {}) const;
  /// See Client::decrement.
  Call<Result<CountResult>> decrement(std::string_view key, std::uint64_t delta = 1,
                                      const CountOptions& options = {}) const;
  /// See Client::touch.
  Call<Result<bool>> touch(std::string_view key, const TouchOptions& options = {}) const;
  /// See Client::get_and_touch.
  Call<Result<GetResult>> get_and_touch(std::string_view key,
                                        const TouchOptions& options = {}) const;
  /// See Client::get_and_set.
  Call<Result<GetResult>> get_and_set(std::string_view key, std::string_view value,
                                      const GetAndSetOptions& options = {}) const;

  /// See Client::get_or_compute. `compute` is called with a ComputeDone.
  ///
  /// All calls of one client that miss a key wait for one computation, blocking ones too. The
  /// dispatcher runs the function, as it runs callbacks; so a future needs the dispatcher, too.
  /// What the function throws goes where exceptions of callbacks go, and the call ends with an
  /// error; the next in line computes then. A function that has not begun is not called if another
  /// caller has computed.
  ///
  /// The time that computing takes does not count. A stop token ends the call at once, and so does
  /// the end of the client; neither interrupts a function that has begun, and after the token was
  /// stopped its value is stored for the others.
  ///
  /// A blocking call waits until its deadline for a function of an asynchronous one that has begun.
  /// If the ComputeDone is called by a later callback of the same dispatcher, or by the only thread
  /// that polls a driver, do not make that blocking call there.
  Call<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                     AsyncCompute compute) const;
  /// The same; `compute` returns the value, and runs as a callback does.
  Call<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                     Client::Compute compute) const;
  /// g++ before 14 destroys such a temporary twice: name it, as a Client::Compute or an
  /// AsyncCompute. See SHEAF_DESTROYS_TWICE.
  template <call_detail::OwningTemporary Function>
  Call<Result<Value>> get_or_compute(std::string_view key, const ComputeOptions& options,
                                     Function&& compute) const = delete;

  /// See Client::execute.
  Call<Result<CommandReply>> execute(Command command, const CommandOptions& options = {}) const;

  /// See Client::execute_on_all.
  Call<Result<std::vector<NodeReply>>> execute_on_all(Command command,
                                                      const CommandOptions& options = {}) const;

  /// See Client::execute_many.
  Call<std::vector<Result<CommandReply>>> execute_many(std::vector<Command> commands,
                                                       const CommandOptions& options = {}) const;

  /// See Client::get_many.
  Call<Gets> get_many(std::span<const std::string_view> keys,
                      const BatchOptions& options = {}) const;
  /// See Client::set_many.
  Call<Sets> set_many(std::span<const SetItem> items, const BatchSetOptions& options = {}) const;
  /// See Client::remove_many.
  Call<Removes> remove_many(std::span<const std::string_view> keys,
                            const BatchOptions& options = {}) const;

  /// See Client::check_nodes. A future needs the dispatcher.
  Call<std::vector<NodeReport>> check_nodes(const NodesOptions& options = {}) const;
  /// See Client::server_stats.
  Call<std::vector<NodeText>> server_stats(std::string_view group = {},
                                           const NodesOptions& options = {}) const;
  /// See Client::server_versions.
  Call<std::vector<NodeText>> server_versions(const NodesOptions& options = {}) const;

 private:
  friend class Client;
  AsyncClient(std::shared_ptr<Client::Impl> impl, ResumeHook hook) noexcept
      : impl_(std::move(impl)), hook_(std::move(hook)) {}
  std::shared_ptr<Client::Impl> impl_;
  ResumeHook hook_;
};

/// The asynchronous forms of Locker, made by Locker::async; as AsyncClient. The guard comes in the
/// result, and releases the lock when that is destroyed.
class SHEAF_API AsyncLocker {
 public:
  /// The same locker; the coroutines that await its calls are resumed by the hook.
  AsyncLocker resume_by(ResumeHook hook) const { return {locker_, std::move(hook)}; }

  /// See Locker::try_lock.
  Call<LockResult> try_lock(std::string_view name, const TryLockOptions& options = {}) const;
  /// See Locker::lock.
  Call<LockResult> lock(std::string_view name, const LockOptions& options = {}) const;

 private:
  friend class Locker;
  AsyncLocker(const Locker& locker, ResumeHook hook) noexcept
      : locker_(locker), hook_(std::move(hook)) {}
  Locker locker_;
  ResumeHook hook_;
};

/// The asynchronous forms of LockGuard, made by LockGuard::async; as AsyncClient. It does not keep
/// the lock: when the guard is destroyed or releases it, release() returns false and the other
/// calls end with Reason::lock_lost. That of a moved-from guard answers likewise, on the calling
/// thread.
class SHEAF_API AsyncLockGuard {
 public:
  /// The same guard; the coroutines that await its calls are resumed by the hook.
  AsyncLockGuard resume_by(ResumeHook hook) const { return {session_, std::move(hook)}; }

  /// See LockGuard::read.
  Call<Result<GetResult>> read(std::string_view key, const FencedReadOptions& options = {}) const;
  /// See LockGuard::write.
  Call<Result<SetResult>> write(std::string_view key, std::string_view value,
                                const FencedWriteOptions& options = {}) const;
  /// See LockGuard::remove.
  Call<Result<RemoveResult>> remove(std::string_view key,
                                    const FencedRemoveOptions& options = {}) const;
  /// See LockGuard::release. The guard no longer holds the lock once the Call is consumed.
  Call<Result<bool>> release(const ReleaseOptions& options = {}) const;

 private:
  friend class LockGuard;
  AsyncLockGuard(std::shared_ptr<client::lock::LockSession> session, ResumeHook hook) noexcept
      : session_(std::move(session)), hook_(std::move(hook)) {}
  std::shared_ptr<client::lock::LockSession> session_;  // null: of a moved-from guard
  ResumeHook hook_;
};

/// The asynchronous forms of List, made by List::async; as AsyncClient. Pushes that are in flight
/// at the same time become one commit, in the order in which they were started.
class SHEAF_API AsyncList {
 public:
  using Items = std::vector<std::string>;                         ///< What range returns.
  using ItemsAndHoles = std::vector<std::optional<std::string>>;  ///< range_with_holes

  /// The same list; the coroutines that await its calls are resumed by the hook.
  AsyncList resume_by(ResumeHook hook) const { return {list_, std::move(hook)}; }

  /// See List::push.
  Call<Result<std::uint64_t>> push(std::string_view value,
                                   const ListCallOptions& options = {}) const;
  /// See List::push_many.
  Call<PushManyResult> push_many(std::span<const std::string_view> values,
                                 const ListCallOptions& options = {}) const;
  /// See List::insert.
  Call<Result<std::optional<std::uint64_t>>> insert(std::int64_t index, std::string_view value,
                                                    const ListCallOptions& options = {}) const;
  /// See List::update.
  Call<Result<bool>> update(std::int64_t index, std::string_view value,
                            const ListCallOptions& options = {}) const;
  /// See List::remove.
  Call<Result<std::optional<std::string>>> remove(std::int64_t index,
                                                  const ListCallOptions& options = {}) const;
  /// See List::clear.
  Call<Result<void>> clear(const ListCallOptions& options = {}) const;
  /// See List::range.
  Call<Result<Items>> range(std::int64_t first, std::int64_t last,
                            const ListCallOptions& options = {}) const;
  /// See List::range_with_holes.
  Call<Result<ItemsAndHoles>> range_with_holes(std::int64_t first, std::int64_t last,
                                               const ListCallOptions& options = {}) const;
  /// See List::drop_holes.
  Call<Result<std::uint64_t>> drop_holes(const ListCallOptions& options = {}) const;
  /// See List::length.
  Call<Result<std::uint64_t>> length(const ListCallOptions& options = {}) const;

 private:
  friend class List;
  AsyncList(const List& list, ResumeHook hook) noexcept : list_(list), hook_(std::move(hook)) {}
  List list_;
  ResumeHook hook_;
};

/// The asynchronous form of Watch, made by Watch::async; as AsyncClient. It does not keep the
/// watch: when that is destroyed or another is moved onto it, calls that wait end with
/// Outcome::shutdown. They continue when the watch is moved to another place. That of a moved-from
/// watch ends calls with Outcome::invalid, on the calling thread.
class SHEAF_API AsyncWatch {
 public:
  /// The same watch; the coroutines that await its calls are resumed by the hook.
  AsyncWatch resume_by(ResumeHook hook) const { return {session_, std::move(hook)}; }

  /// See Watch::next. Calls that wait at the same time get different events, the first call the
  /// oldest. A call that ends without an event has taken none. To limit the time give it a `wait`:
  /// a call that you cancel by a timer may just have taken an event.
  Call<Result<std::optional<WatchEvent>>> next(const NextOptions& options = {}) const;

 private:
  friend class Watch;
  AsyncWatch(std::shared_ptr<Watch::Session> session, ResumeHook hook) noexcept
      : session_(std::move(session)), hook_(std::move(hook)) {}
  std::shared_ptr<Watch::Session> session_;  // null: of a moved-from watch
  ResumeHook hook_;
};

}  // namespace v0
}  // namespace sheaf
