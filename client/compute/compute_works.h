#pragma once

// The Works of a computation: one joins the callers that miss a key, until there is a value or the
// right to compute one; the other settles what a caller has computed on its stack.
//
// Thread rule: as every Work.

#include <optional>
#include <string>

#include "client/calls/admit.h"
#include "client/calls/procedure_call.h"
#include "client/calls/work.h"
#include "client/compute/compute_plan.h"
#include "client/compute/compute_service.h"
#include "client/compute/single_flight.h"

namespace sheaf::client::compute {

// When a call began, and until when it waits.
struct JoinTimes {
  Deadline started{0};
  Deadline due{0};
};

// Ends with a claim. A caller that gets the right leads, and ends the flight.
class JoinFlight final : private calls::ProcedureOwner,
                         private SingleFlight::Member,
                         private socket::Lane::Task {
 public:
  using Out = Result<Claim>;

  JoinFlight(calls::WorkEnd& end, ComputeService& service, const Terms& terms,
             const JoinTimes& times, calls::Form form)
      : end_(end), service_(service), terms_(terms), times_(times), form_(form) {}

  void start(Now now);
  void cancel(Now now) { run_->cancel(now); }
  Out take() { return std::move(*out_); }

 private:
  void on_progress(calls::ProcedureRun& run, Now now) override;
  void on_lead(Now now) override;
  void on_value(const SharedValue& value, Now now) override;
  void on_right(Right right, Now now) override;
  bool computes_here() const override { return form_ == calls::Form::blocking; }
  void run(Now now) override;
  void leave(Now now);

  calls::WorkEnd& end_;
  ComputeService& service_;
  Terms terms_;
  const JoinTimes times_;
  const calls::Form form_;
  ClaimPlan* plan_ = nullptr;
  calls::ProcedureRun* run_ = nullptr;
  bool leads_ = false;
  std::optional<Out> out_;
};

// Stores what was computed, or gives the right back, and ends the flight.
class SettleRight final : private calls::WorkEnd {
 public:
  using Out = Value;

  // Without a value, the next in line computes. Storing may take until `due`.
  SettleRight(calls::WorkEnd& end, ComputeService& service, const Terms& terms, Right right,
              std::optional<std::string> made, Deadline due);

  void start(Now now) { run_.start(now); }
  void cancel(Now now) { run_.cancel(now); }
  Out take() { return std::move(out_); }

 private:
  void ended() override;

  calls::WorkEnd& end_;
  ComputeService& service_;
  const std::string key_;
  const bool made_;
  calls::RunProcedure<SettlePlan> run_;
  Out out_;
};

}  // namespace sheaf::client::compute
