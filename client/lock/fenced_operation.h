#pragma once

// A guard's read, write or remove as a Work. It carries out the plan and notifies it when the
// tenure has changed; and it notifies the session of a write that ended without an answer.

#include <memory>
#include <optional>

#include "client/calls/work.h"
#include "client/lock/lock_session.h"

namespace sheaf::client::lock {

template <class P>
class FencedOperation final : private calls::ProcedureOwner, private TenureListener {
 public:
  using Out = typename P::Out;
  FencedOperation(calls::WorkEnd& end, std::shared_ptr<LockSession> session,
                  std::unique_ptr<P> plan)
      : end_(end),
        session_(std::move(session)),
        starting_(std::move(plan)),
        plan_(starting_.get()) {}

  void own() {}  // plans own what they need
  void start(Now now) {
    session_->listen(*this);
    session_->service().procedures.run(std::move(starting_), *this, now);
  }
  void cancel(Now now) { run_->cancel(now); }
  Out take() { return std::move(*out_); }

 private:
  void on_tenure(Now now) override {
    if (run_ == nullptr) return;
    plan_->on_tenure(now);
    run_->resume(now);
  }
  void on_progress(calls::ProcedureRun& run, Now now) override {
    run_ = &run;
    if (!plan_->done() || out_) return;
    out_.emplace(plan_->take_out());
    const bool in_doubt = plan_->in_doubt();
    session_->ignore(*this);
    run.release();
    if (in_doubt) session_->on_doubt(now);
    end_.ended();
  }

  calls::WorkEnd& end_;
  std::shared_ptr<LockSession> session_;
  std::unique_ptr<P> starting_;
  P* plan_;
  calls::ProcedureRun* run_ = nullptr;
  std::optional<Out> out_;
};

}  // namespace sheaf::client::lock
