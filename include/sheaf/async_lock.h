#pragma once

/// @file
/// The asynchronous forms of Locker and LockGuard: callbacks and coroutines. None of them blocks;
/// each may be called from any thread, a callback included.

#include <memory>
#include <string_view>
#include <utility>

#include <sheaf/async.h>
#include <sheaf/locker.h>
#include <sheaf/move_only_function.h>

namespace sheaf {
inline namespace v0 {

/// The callback and coroutine forms of Locker, made by Locker::async. Each member comes twice: with
/// a callback, which runs on the dispatcher exactly once, and without one, to be awaited. Arguments
/// and results are those of the blocking member of the same name. The guard comes in the result.
/// Views are copied before the call returns.
///
/// Thread rule: any thread may call any member at any time.
/// Lifetime: cheap to copy; may outlive the Locker and the Client: without the Client calls end
/// with Outcome::shutdown, and their callbacks run on the calling thread.
class SHEAF_API AsyncLocker {
 public:
  /// Receives the outcome of a call.
  using Callback = MoveOnlyFunction<void(LockResult)>;

  /// The same locker; its coroutines are resumed by the hook.
  AsyncLocker resume_by(ResumeHook hook) const { return {locker_, std::move(hook)}; }

  /// See Locker::try_lock.
  void try_lock(std::string_view name, const TryLockOptions& options, Callback done) const;
  Awaitable<LockResult> try_lock(std::string_view name, const TryLockOptions& options = {}) const;
  /// See Locker::lock.
  void lock(std::string_view name, const LockOptions& options, Callback done) const;
  Awaitable<LockResult> lock(std::string_view name, const LockOptions& options = {}) const;

 private:
  friend class Locker;
  AsyncLocker(Locker locker, ResumeHook hook) noexcept
      : locker_(std::move(locker)), hook_(std::move(hook)) {}
  Locker locker_;
  ResumeHook hook_;
};

/// The callback and coroutine forms of LockGuard, made by LockGuard::async; as AsyncLocker. It does
/// not keep the lock: when the guard is destroyed or releases it, release() comes to false and the
/// other calls end with Reason::lock_lost.
///
/// Thread rule and lifetime: as AsyncLocker. The same of a moved-from guard, and callbacks run on
/// the calling thread.
class SHEAF_API AsyncLockGuard {
 public:
  /// Receives the outcome of a call.
  template <class Out>
  using Callback = MoveOnlyFunction<void(Out)>;

  /// The same guard; its coroutines are resumed by the hook.
  AsyncLockGuard resume_by(ResumeHook hook) const { return {session_, std::move(hook)}; }

  /// See LockGuard::read.
  void read(std::string_view key, const FencedReadOptions& options,
            Callback<Result<GetResult>> done) const;
  Awaitable<Result<GetResult>> read(std::string_view key,
                                    const FencedReadOptions& options = {}) const;
  /// See LockGuard::write.
  void write(std::string_view key, std::string_view value, const FencedWriteOptions& options,
             Callback<Result<SetResult>> done) const;
  Awaitable<Result<SetResult>> write(std::string_view key, std::string_view value,
                                     const FencedWriteOptions& options = {}) const;
  /// See LockGuard::remove.
  void remove(std::string_view key, const FencedRemoveOptions& options,
              Callback<Result<RemoveResult>> done) const;
  Awaitable<Result<RemoveResult>> remove(std::string_view key,
                                         const FencedRemoveOptions& options = {}) const;
  /// See LockGuard::release. The guard does not hold the lock any more when this returns; the
  /// awaitable form when it is awaited.
  void release(const ReleaseOptions& options, Callback<Result<bool>> done) const;
  Awaitable<Result<bool>> release(const ReleaseOptions& options = {}) const;

 private:
  friend class LockGuard;
  AsyncLockGuard(std::shared_ptr<client::lock::LockSession> session, ResumeHook hook) noexcept
      : session_(std::move(session)), hook_(std::move(hook)) {}
  std::shared_ptr<client::lock::LockSession> session_;
  ResumeHook hook_;
};

}  // namespace v0
}  // namespace sheaf
