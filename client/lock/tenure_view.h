#pragma once

// TenureView: what threads without the baton see of a tenure: whether the lock is held, its token,
// and its loss, which is reported once.
//
// Thread rule: any thread; update() under the baton.

#include <optional>
#include <string>

#include <sheaf/locker.h>

#include "base/mutex.h"
#include "client/lock/tenure.h"
#include "client/runtime/context.h"

namespace sheaf::client::lock {

class TenureView {
 public:
  explicit TenureView(runtime::Context& context) : context_(context) {}

  // The tenure has changed, or may have. `loss`: why the lock was lost, if it was.
  void update(const Tenure& tenure, const std::optional<Error>& loss);

  bool held() const;
  std::string token() const;
  void on_loss(LockGuard::LossCallback lost);
  // The guard gives the lock back: from now on it is not held, and no loss is reported. False: this
  // was called before.
  bool give_back();

 private:
  bool believed() const SHEAF_REQUIRES(mutex_);

  runtime::Context& context_;
  mutable sync::Mutex mutex_;  // nothing is called under it
  Deadline until_ SHEAF_GUARDED_BY(mutex_){0};
  std::string token_ SHEAF_GUARDED_BY(mutex_);
  bool given_back_ SHEAF_GUARDED_BY(mutex_) = false;
  std::optional<Error> loss_ SHEAF_GUARDED_BY(mutex_);
  LockGuard::LossCallback on_loss_ SHEAF_GUARDED_BY(mutex_);
};

}  // namespace sheaf::client::lock
