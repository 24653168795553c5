#pragma once

// A procedure as a Work. P has `Out` and `Out take_out()`, which is called once, when it is done.

#include <memory>
#include <optional>
#include <utility>

#include "client/calls/procedure_host.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {

template <class P>
class RunProcedure final : private ProcedureOwner {
 public:
  using Out = typename P::Out;

  RunProcedure(WorkEnd& end, ProcedureHost& host, std::unique_ptr<P> procedure)
      : end_(end), host_(host), procedure_(std::move(procedure)) {}

  void start(Now now) { host_.run(std::move(procedure_), *this, now); }
  void cancel(Now now) { run_->cancel(now); }
  Out take() { return std::move(*out_); }

 private:
  void on_progress(ProcedureRun& run, Now) override {
    run_ = &run;
    if (!run.procedure().done()) return;
    out_.emplace(static_cast<P&>(run.procedure()).take_out());
    run.release();
    end_.ended();
  }

  WorkEnd& end_;
  ProcedureHost& host_;
  std::unique_ptr<P> procedure_;
  ProcedureRun* run_ = nullptr;
  std::optional<Out> out_;
};

// Runs a procedure for a caller that waits.
template <class P>
typename P::Out run_procedure(runtime::Context& context, ProcedureHost& host,
                              std::unique_ptr<P> procedure, Stop stop = nullptr) {
  return Blocking<RunProcedure<P>>(context.lane(), HowToWait(), host, std::move(procedure))
      .wait(stop);
}

}  // namespace sheaf::client::calls
