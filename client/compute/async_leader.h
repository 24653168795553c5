#pragma once

// AsyncLeader: a caller that won the right to compute and whose function computes elsewhere. It
// offers the right, has the dispatcher start the function, stores the result, and ends the flight.
// It owns itself and outlives its caller: a stop token ends the call, but not a function that has
// begun, since others wait for its value.
//
// Thread rule: under the baton.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "client/calls/procedure_host.h"
#include "client/compute/compute_plan.h"
#include "client/compute/compute_service.h"
#include "client/compute/pending_compute.h"

namespace sheaf::client::compute {

class AsyncLeader final : private calls::ProcedureOwner,
                          private SingleFlight::Offer,
                          private PendingCompute::Leader {
 public:
  class Caller {
   public:
    // Exactly one of the two is called, once; the leader must not be used afterwards.
    virtual void on_led(Result<Value> out, Now now) = 0;
    // A caller that computes where it waits has taken the right.
    virtual void on_taken(Now now) = 0;

   protected:
    ~Caller() = default;
  };

  // When the call began, when its function must have begun, and how long it may store.
  struct Times {
    Deadline started{0};
    Deadline begin_by{0};
    std::chrono::nanoseconds storing{0};
  };

  // Informs the caller, perhaps before this returns. Until then the caller may cancel `leader`.
  static void begin(ComputeService& service, Caller& caller, Terms terms, Right right,
                    const Times& times, const std::shared_ptr<const AsyncCompute>& function,
                    AsyncLeader*& leader, Now now);

  ~AsyncLeader() = default;
  AsyncLeader(const AsyncLeader&) = delete;
  AsyncLeader& operator=(const AsyncLeader&) = delete;

  // The caller's token was asked to stop. The caller is informed before this returns.
  void cancel(Now now);

 private:
  AsyncLeader(ComputeService& service, Caller& caller, Terms terms, Right right,
              const Times& times);
  static void run(const std::shared_ptr<PendingCompute>& pending, const AsyncCompute& function);
  void on_progress(calls::ProcedureRun& run, Now now) override;
  std::optional<Right> give(Now now) override;
  void on_made(Result<std::string> made, Now now) override;
  void give_up(Reason reason, std::string text, Now now);
  void settle(std::optional<std::string> value, Now now);
  void finish(Now now);
  void tell(Result<Value> out, Now now);

  ComputeService& service_;
  Caller* caller_;  // null: already informed
  const Terms terms_;
  const Right right_;
  const Times times_;
  std::unique_ptr<SettlePlan> plan_owner_;  // until it runs
  SettlePlan& plan_;
  calls::ProcedureRun* run_ = nullptr;
  std::shared_ptr<PendingCompute> pending_;
  bool made_ = false;  // there is a value
};

}  // namespace sheaf::client::compute
