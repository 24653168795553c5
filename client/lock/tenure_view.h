#pragma once

// TenureView: the part of a tenure that threads without the baton see: if the lock is held, its
// token, and its loss, which is reported once.
//
// Thread rule: any thread; update() under the baton.

#include <atomic>
#include <memory>
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

  // Call when the tenure may have changed. `loss`: why the lock was lost, if it was.
  void update(const Tenure& tenure, const std::optional<Error>& loss);

  bool held() const;
  std::string token() const;
  void on_loss(LockGuard::LossCallback lost);
  // The guard gives the lock back: from now on it is not held, and no report of a loss begins.
  // Returns false if this was called before.
  bool give_back();

 private:
  // A callback for a loss. A delivery that waits on the dispatcher checks if it was withdrawn.
  struct Report {
    explicit Report(LockGuard::LossCallback callback) : lost(std::move(callback)) {}
    LockGuard::LossCallback lost;
    std::atomic<bool> withdrawn = false;
  };

  void replace_report(std::shared_ptr<Report> by) SHEAF_REQUIRES(mutex_);
  void deliver(std::shared_ptr<Report> report, const Error& why);
  bool believed() const SHEAF_REQUIRES(mutex_);

  runtime::Context& context_;
  mutable sync::Mutex mutex_;  // never held while calling out
  Deadline until_ SHEAF_GUARDED_BY(mutex_){0};
  std::string token_ SHEAF_GUARDED_BY(mutex_);
  bool given_back_ SHEAF_GUARDED_BY(mutex_) = false;
  std::optional<Error> loss_ SHEAF_GUARDED_BY(mutex_);
  std::shared_ptr<Report> report_ SHEAF_GUARDED_BY(mutex_);  // null: no callback
};

}  // namespace sheaf::client::lock
