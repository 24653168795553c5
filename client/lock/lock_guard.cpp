// LockGuard and AsyncLockGuard: the same calls, blocking and asynchronous.

#include <utility>

#include <sheaf/async.h>

#include "client/calls/detached.h"
#include "client/lock/guard_calls.h"
#include "client/lock/lock_kind.h"

namespace sheaf {
inline namespace v0 {
namespace {

namespace lock = client::lock;
using client::calls::prepare;
using client::calls::Returned;
using client::calls::settled;
using client::runtime::Context;
using lock::LockSession;

Error moved_from() { return lock::not_held({}, "the guard was moved from"); }

// Releases the lock of a guard that is destroyed or overwritten.
void drop(const std::shared_ptr<LockSession>& session) noexcept {
  static_cast<void>(lock::release(session, {}, Returned<Result<bool>>()));
}

}  // namespace

LockGuard::LockGuard(std::shared_ptr<LockSession> session) noexcept
    : session_(std::move(session)) {}
LockGuard::LockGuard(LockGuard&&) noexcept = default;
LockGuard& LockGuard::operator=(LockGuard&& other) noexcept {
  if (this == &other) return *this;
  if (session_ != nullptr) drop(session_);
  session_ = std::move(other.session_);
  return *this;
}
LockGuard::~LockGuard() {
  if (session_ != nullptr) drop(session_);
}

const std::string& LockGuard::name() const noexcept {
  static const std::string none;
  return session_ != nullptr ? session_->name() : none;
}

LockStrength LockGuard::strength() const noexcept {
  return session_ != nullptr ? lock::strength_of(session_->context().config())
                             : LockStrength::advisory;
}

bool LockGuard::held() const noexcept { return session_ != nullptr && session_->view().held(); }

FencingToken LockGuard::token() const {
  return session_ != nullptr ? FencingToken{session_->view().token()} : FencingToken();
}

void LockGuard::on_loss(LossCallback lost) {
  if (session_ != nullptr) session_->view().on_loss(std::move(lost));
}

Result<bool> LockGuard::release(const ReleaseOptions& options) {
  if (session_ == nullptr) return false;
  return lock::release(session_, options, Returned<Result<bool>>());
}

Result<GetResult> LockGuard::read(std::string_view key, const FencedReadOptions& options) {
  if (session_ == nullptr) return Failure(moved_from());
  return lock::read(session_, key, options, Returned<Result<GetResult>>());
}

Result<SetResult> LockGuard::write(std::string_view key, std::string_view value,
                                   const FencedWriteOptions& options) {
  if (session_ == nullptr) return Failure(moved_from());
  return lock::write(session_, key, value, options, Returned<Result<SetResult>>());
}

Result<RemoveResult> LockGuard::remove(std::string_view key, const FencedRemoveOptions& options) {
  if (session_ == nullptr) return Failure(moved_from());
  return lock::remove(session_, key, options, Returned<Result<RemoveResult>>());
}

AsyncLockGuard LockGuard::async() const { return {session_, {}}; }

// ---- asynchronous

Call<Result<bool>> AsyncLockGuard::release(const ReleaseOptions& options) const {
  if (session_ == nullptr) return settled<Result<bool>>(false, hook_);
  return prepare<Result<bool>, lock::Release>(
      {session_, session_->context(), hook_}, options.stop,
      [session = session_, options = options](Context&, Stop stop, auto way) mutable {
        options.stop = stop;
        lock::release(session, options, way);
      });
}

Call<Result<GetResult>> AsyncLockGuard::read(std::string_view key,
                                             const FencedReadOptions& options) const {
  if (session_ == nullptr) return settled<Result<GetResult>>(Failure(moved_from()), hook_);
  return prepare<Result<GetResult>, lock::FencedOperation<GetResult>>(
      {session_, session_->context(), hook_}, options.stop,
      [session = session_, key = std::string(key), options = options](Context&, Stop stop,
                                                                      auto way) mutable {
        options.stop = stop;
        lock::read(session, key, options, way);
      });
}

Call<Result<SetResult>> AsyncLockGuard::write(std::string_view key, std::string_view value,
                                              const FencedWriteOptions& options) const {
  if (session_ == nullptr) return settled<Result<SetResult>>(Failure(moved_from()), hook_);
  return prepare<Result<SetResult>, lock::FencedOperation<SetResult>>(
      {session_, session_->context(), hook_}, options.stop,
      [session = session_, key = std::string(key), value = std::string(value), options = options](
          Context&, Stop stop, auto way) mutable {
        options.stop = stop;
        lock::write(session, key, value, options, way);
      });
}

Call<Result<RemoveResult>> AsyncLockGuard::remove(std::string_view key,
                                                  const FencedRemoveOptions& options) const {
  if (session_ == nullptr) return settled<Result<RemoveResult>>(Failure(moved_from()), hook_);
  return prepare<Result<RemoveResult>, lock::FencedOperation<RemoveResult>>(
      {session_, session_->context(), hook_}, options.stop,
      [session = session_, key = std::string(key), options = options,
       if_value = std::optional<std::string>(options.if_value)](Context&, Stop stop,
                                                                auto way) mutable {
        options.stop = stop;
        options.if_value = if_value;
        lock::remove(session, key, options, way);
      });
}

}  // namespace v0
}  // namespace sheaf
