// LockGuard and AsyncLockGuard: the same calls, in two ways.

#include <utility>

#include <sheaf/async_lock.h>

#include "client/calls/owned_options.h"
#include "client/lock/guard_calls.h"
#include "client/lock/lock_kind.h"

namespace sheaf {
inline namespace v0 {
namespace {

namespace lock = client::lock;
using client::calls::Delivered;
using client::calls::OwnedOptions;
using client::calls::Returned;
using lock::LockSession;

Error moved_from() { return lock::not_held({}, "the guard was moved from"); }

// The guard is gone.
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

// ---- callbacks

void AsyncLockGuard::release(const ReleaseOptions& options, Callback<Result<bool>> done) const {
  if (session_ == nullptr) return done(false);
  lock::release(session_, options, Delivered(std::move(done)));
}

void AsyncLockGuard::read(std::string_view key, const FencedReadOptions& options,
                          Callback<Result<GetResult>> done) const {
  if (session_ == nullptr) return done(Failure(moved_from()));
  lock::read(session_, key, options, Delivered(std::move(done)));
}

void AsyncLockGuard::write(std::string_view key, std::string_view value,
                           const FencedWriteOptions& options,
                           Callback<Result<SetResult>> done) const {
  if (session_ == nullptr) return done(Failure(moved_from()));
  lock::write(session_, key, value, options, Delivered(std::move(done)));
}

void AsyncLockGuard::remove(std::string_view key, const FencedRemoveOptions& options,
                            Callback<Result<RemoveResult>> done) const {
  if (session_ == nullptr) return done(Failure(moved_from()));
  lock::remove(session_, key, options, Delivered(std::move(done)));
}

// ---- coroutines

Awaitable<Result<bool>> AsyncLockGuard::release(const ReleaseOptions& options) const {
  return {[self = *this, own = OwnedOptions(options)](auto done) {
            self.release(own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<GetResult>> AsyncLockGuard::read(std::string_view key,
                                                  const FencedReadOptions& options) const {
  return {[self = *this, key = std::string(key), own = OwnedOptions(options)](auto done) {
            self.read(key, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<SetResult>> AsyncLockGuard::write(std::string_view key, std::string_view value,
                                                   const FencedWriteOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value),
           own = OwnedOptions(options)](auto done) {
            self.write(key, value, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<RemoveResult>> AsyncLockGuard::remove(std::string_view key,
                                                       const FencedRemoveOptions& options) const {
  return {[self = *this, key = std::string(key), own = OwnedOptions(options)](auto done) {
            self.remove(key, own.get(), std::move(done));
          },
          hook_};
}

}  // namespace v0
}  // namespace sheaf
