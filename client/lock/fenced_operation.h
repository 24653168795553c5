#pragma once

// A guard's read, write or remove as a Work. It runs the plan and notifies it when the tenure has
// changed. It notifies the session of a write that ended without an answer.

#include <memory>
#include <optional>

#include "client/calls/work.h"
#include "client/lock/fenced_plan.h"
#include "client/lock/lock_session.h"

namespace sheaf::client::lock {

// T: the plan's result.
template <class T>
class FencedOperation final : private calls::ProcedureOwner, private TenureListener {
 public:
  using Out = Result<T>;

  template <class P>
  FencedOperation(calls::WorkEnd& end, std::shared_ptr<LockSession> session,
                  std::unique_ptr<P> plan)
      : end_(end),
        session_(std::move(session)),
        starting_(std::move(plan)),
        plan_(starting_.get()),
        take_out_([](FencedPlan& its_plan) { return static_cast<P&>(its_plan).take_out(); }) {}

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
    out_.emplace(take_out_(*plan_));
    const bool in_doubt = plan_->in_doubt();
    session_->ignore(*this);
    run.release();
    if (in_doubt) session_->on_doubt(now);
    end_.ended();
  }

  calls::WorkEnd& end_;
  std::shared_ptr<LockSession> session_;
  std::unique_ptr<FencedPlan> starting_;
  FencedPlan* plan_;
  Out (*take_out_)(FencedPlan&);
  calls::ProcedureRun* run_ = nullptr;
  std::optional<Out> out_;
};

}  // namespace sheaf::client::lock
