#pragma once

// Acquiring and releasing a lock as Works. Both share the session.

#include <memory>
#include <utility>

#include "client/calls/work.h"
#include "client/lock/lock_session.h"

namespace sheaf::client::lock {

// The session that it returns knows the outcome.
class Acquire final {
 public:
  using Out = std::shared_ptr<LockSession>;

  Acquire(calls::WorkEnd& end, Out session) : end_(end), session_(std::move(session)) {}

  void start(Now now) {
    session_->begin([this] { end_.ended(); }, now);
  }
  void cancel(Now now) { session_->cancel(now); }
  Out take() { return std::move(session_); }

 private:
  calls::WorkEnd& end_;
  Out session_;
};

class Release final {
 public:
  using Out = Result<bool>;

  Release(calls::WorkEnd& end, std::shared_ptr<LockSession> session, Deadline deadline)
      : end_(end), session_(std::move(session)), deadline_(deadline) {}

  void start(Now now) {
    session_->release([this](const Out& freed) { finish(freed); }, deadline_, now);
  }
  void cancel(Now now) { session_->cancel(now); }
  Out take() { return std::move(out_); }

 private:
  void finish(const Out& freed) {
    out_ = freed;
    end_.ended();
  }

  calls::WorkEnd& end_;
  std::shared_ptr<LockSession> session_;
  Deadline deadline_;
  Out out_{false};
};

}  // namespace sheaf::client::lock
