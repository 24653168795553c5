#pragma once

// NotifyOnStop: while it lives, a stop request on a token wakes the threads that wait on a
// condition variable.
//
// Thread rule: belongs to one thread; made and destroyed without the mutex, which it takes.

#include <optional>
#include <stop_token>

#include "base/mutex.h"
#include "base/stop_callback.h"

namespace sheaf {

class NotifyOnStop final : private StopHandler {
 public:
  // `token` may be null. It is read until the destructor ends.
  NotifyOnStop(const std::stop_token* token, sync::Mutex& mutex, sync::CondVar& condition)
      : token_(token), mutex_(mutex), condition_(condition) {
    if (token_ != nullptr && token_->stop_possible()) callback_.emplace(*token_, handler());
  }
  bool stopped() const noexcept { return token_ != nullptr && token_->stop_requested(); }

 private:
  StopHandler& handler() noexcept { return *this; }
  void on_stop_requested() noexcept override {
    const sync::MutexLock lock(mutex_);
    condition_.notify_all();
  }

  const std::stop_token* const token_;
  sync::Mutex& mutex_;
  sync::CondVar& condition_;
  std::optional<StopCallback> callback_;
};

}  // namespace sheaf
