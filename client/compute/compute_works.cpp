#include "client/compute/compute_works.h"

#include <memory>
#include <utility>

namespace sheaf::client::compute {

void JoinFlight::start(Now now) {
  Random random(service_.random.fork());
  terms_.holder = random.hex(16);
  leads_ = service_.flights.join(terms_.key, *this);
  std::optional<Right> offered;
  if (!leads_ && computes_here()) offered = service_.flights.take(terms_.key, *this, now);
  auto plan = std::make_unique<ClaimPlan>(terms_, times_.started, times_.due, random.fork(),
                                          leads_ ? Place::leader : Place::follower);
  plan_ = plan.get();
  if (offered) {
    leads_ = true;
    plan->on_right(std::move(*offered));
  }
  service_.procedures.run(std::move(plan), *this, now);
}

void JoinFlight::on_progress(calls::ProcedureRun& run, Now now) {
  run_ = &run;
  if (!plan_->done()) return;
  out_.emplace(plan_->take_out());
  run.release();
  leave(now);
  end_.ended();
}

// The lead is taken up in a task of its own. Otherwise, if no caller can claim, a waiting crowd
// would recurse, each lead inside the one before.
void JoinFlight::on_lead(Now) {
  leads_ = true;
  service_.context.lane().post(*this);
}

void JoinFlight::run(Now now) {
  plan_->on_lead();
  run_->resume(now);
}

void JoinFlight::on_value(const SharedValue& value, Now now) {
  plan_->on_value(value);
  run_->resume(now);
}

void JoinFlight::on_right(Right right, Now now) {
  leads_ = true;
  plan_->on_right(std::move(right));
  run_->resume(now);
}

void JoinFlight::leave(Now now) {
  service_.context.lane().cancel(*this);
  service_.flights.leave(terms_.key, *this);
  if (!leads_ || (*out_ && (*out_)->right)) return;
  const Value* const found = *out_ && (*out_)->value ? &*(*out_)->value : nullptr;
  service_.flights.end(terms_.key, found, now);
}

SettleRight::SettleRight(calls::WorkEnd& end, ComputeService& service, const Terms& terms,
                         Right right, std::optional<std::string> made, Deadline due)
    : end_(end),
      service_(service),
      key_(terms.key),
      made_(made.has_value()),
      run_(static_cast<calls::WorkEnd&>(*this), service.procedures,
           std::make_unique<SettlePlan>(terms, std::move(right), std::move(made), due)) {}

void SettleRight::ended() {
  out_ = run_.take();
  service_.flights.end(key_, made_ ? &out_ : nullptr, service_.now());
  end_.ended();
}

}  // namespace sheaf::client::compute
