#pragma once

// Computation: carries out a ComputePlan: its requests through the ProcedureHost, its place among
// the callers of its client in SingleFlight, and its function on the dispatcher or on the caller's
// own stack. It keeps itself alive while it runs, and may outlive its caller: a stop token ends the
// call, but not a function that has begun, since others wait for its value.
//
// | step of the plan | the computation                                                   |
// |------------------|-------------------------------------------------------------------|
// | queue            | offers the right, else gives the function to the dispatcher       |
// | recall           | takes the function back, if it has not begun                      |
// | compute          | ends the caller's wait without an outcome                         |
// | tell             | ends the caller's wait                                            |
// | end              | leaves the flight, or ends it if it leads; ends the caller's wait |
//
// Thread rule: made on any thread, destroyed on any thread; the rest under the baton.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/calls/procedure_host.h"
#include "client/calls/work.h"
#include "client/compute/compute_plan.h"
#include "client/compute/compute_service.h"
#include "client/compute/single_flight.h"

namespace sheaf::client::compute {

class PendingCompute;

class Computation final : public std::enable_shared_from_this<Computation>,
                          private calls::ProcedureOwner,
                          private SingleFlight::Member,
                          private socket::Lane::Task {
 public:
  using Out = ComputePlan::Out;

  // Without a function the caller computes on its own stack.
  Computation(ComputeService& service, Terms terms, std::shared_ptr<const AsyncCompute> function);

  // A wait of the caller. When it ends, take_out() has the outcome, or nothing: then the caller
  // computes now, and waits once more.
  void start(calls::WorkEnd& caller, Now now);
  void settle(calls::WorkEnd& caller, std::optional<std::string> made, Now now);
  std::optional<Out> take_out() { return std::exchange(out_, std::nullopt); }
  // The caller's token was asked to stop. Its wait ends before this returns.
  void cancel(Now now);

  // The function on the dispatcher has ended.
  void on_made(Result<std::string> made, Now now);

 private:
  void on_progress(calls::ProcedureRun& run, Now now) override;
  void on_lead(Now now) override;
  void on_value(const SharedValue& value, Now now) override;
  void on_right(Right right, Now now) override;
  bool computes_here() const override { return plan_->terms().here; }
  std::optional<Right> give() override;
  void run(Now now) override;
  void queue_function(Now now);
  void end(Now now);
  void tell();

  ComputeService& service_;
  Terms terms_;                                   // until it starts
  std::shared_ptr<const AsyncCompute> function_;  // until its caller has been told
  calls::WorkEnd* caller_ = nullptr;              // null: it does not wait
  std::shared_ptr<Computation> self_;             // while it runs
  ComputePlan* plan_ = nullptr;                   // null: it does not run
  calls::ProcedureRun* run_ = nullptr;
  bool leads_ = false;
  std::shared_ptr<PendingCompute> pending_;  // null: the function is not queued
  std::optional<Out> out_;
};

}  // namespace sheaf::client::compute
