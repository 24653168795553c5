#pragma once

// A fenced operation as a blocking call, on its caller's stack: carries out the plan, lets it know
// of changes of the tenure, and the tenure of a write that nobody knows the end of.

#include <memory>
#include <optional>

#include "client/lock/lock_session.h"

namespace sheaf::client::lock {

template <class P>
class FencedCall final : private socket::Lane::Task,
                         private calls::ProcedureOwner,
                         private TenureListener {
 public:
  using Out = typename P::Out;
  FencedCall(LockSession& session, std::unique_ptr<P> plan)
      : session_(session), starting_(std::move(plan)), plan_(starting_.get()) {}
  Out wait() {
    session_.impl().lane().call(*this, waiter_);
    return std::move(*out_);
  }

 private:
  void run(Now now) override {
    session_.listen(*this);
    session_.impl().procedures().run(std::move(starting_), *this, now);
  }
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
    session_.ignore(*this);
    run.let_go();
    if (in_doubt) session_.on_doubt(now);
    session_.impl().lane().finish(waiter_);  // the caller may be gone from here on
  }

  LockSession& session_;
  std::unique_ptr<P> starting_;
  P* plan_;
  calls::ProcedureRun* run_ = nullptr;
  socket::Lane::Waiter waiter_;
  std::optional<Out> out_;
};

}  // namespace sheaf::client::lock
