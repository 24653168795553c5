#include "client/compute/computation.h"

#include <utility>

#include "client/compute/pending_compute.h"

namespace sheaf::client::compute {

Computation::Computation(ComputeService& service, Terms terms,
                         std::shared_ptr<const AsyncCompute> function)
    : service_(service), terms_(std::move(terms)), function_(std::move(function)) {
  terms_.here = function_ == nullptr;
}

void Computation::start(calls::WorkEnd& caller, Now now) {
  caller_ = &caller;
  self_ = shared_from_this();
  auto plan = std::make_unique<ComputePlan>(std::move(terms_), service_.random.fork());
  plan_ = plan.get();
  const std::string& key = plan->terms().key;
  leads_ = service_.flights.join(key, *this);
  if (leads_) {
    plan->on_lead();
  } else if (computes_here()) {
    if (auto right = service_.flights.take(key, *this)) {
      leads_ = true;
      plan->on_right(std::move(*right));
    }
  }
  service_.procedures.run(std::move(plan), *this, now);
}

// If the client has closed meanwhile, the value is the caller's all the same.
void Computation::settle(calls::WorkEnd& caller, std::optional<std::string> made, Now now) {
  caller_ = &caller;
  if (plan_ == nullptr) {
    if (made) out_.emplace(Value{std::move(*made), {}, 0});
    return tell();
  }
  plan_->on_made(std::move(made), now);
  run_->resume(now);
}

void Computation::cancel(Now now) {
  if (plan_ != nullptr) run_->cancel(now);
}

void Computation::on_made(Result<std::string> made, Now now) {
  if (made) {
    plan_->on_made(std::move(*made), now);
  } else {
    plan_->on_failed(std::move(made.error()), now);
  }
  run_->resume(now);
}

void Computation::on_progress(calls::ProcedureRun& run, Now now) {
  run_ = &run;
  switch (plan_->step()) {
    case ComputePlan::Step::none:
      return;
    case ComputePlan::Step::queue:
      if (pending_ == nullptr) queue_function(now);
      return;
    case ComputePlan::Step::recall:
      plan_->on_recalled(pending_->take_back(), now);
      return run.resume(now);
    case ComputePlan::Step::compute:
      return tell();
    case ComputePlan::Step::tell:
      out_.emplace(plan_->take_out());
      return tell();
    case ComputePlan::Step::end:
      return end(now);
  }
}

// ---- The flight

// The lead is taken up in a task of its own. Otherwise, if no caller can claim, a waiting crowd
// would recurse, each lead inside the one before.
void Computation::on_lead(Now) {
  leads_ = true;
  service_.context.lane().post(*this);
}

void Computation::run(Now now) {
  plan_->on_lead();
  run_->resume(now);
}

void Computation::on_value(const SharedValue& value, Now now) {
  plan_->on_value(value);
  run_->resume(now);
}

void Computation::on_right(Right right, Now now) {
  leads_ = true;
  plan_->on_right(std::move(right));
  run_->resume(now);
}

std::optional<Right> Computation::give() {
  if (pending_ != nullptr) {
    if (!pending_->take_back()) return std::nullopt;
    pending_->detach();
    pending_.reset();
  }
  leads_ = false;
  return plan_->give();
}

// ---- The function and the end

// If the right is taken, the plan follows and has the same deadline as before.
void Computation::queue_function(Now now) {
  if (service_.flights.offer(plan_->terms().key, *this, now)) return;
  pending_ = std::make_shared<PendingCompute>(service_.context, *this);
  service_.context.dispatcher().deliver(
      [pending = pending_, function = function_] { pending->run(*function); });
}

void Computation::end(Now now) {
  const auto self = std::move(self_);
  const std::string& key = plan_->terms().key;
  service_.context.lane().cancel(*this);
  service_.flights.leave(key, *this);
  if (pending_ != nullptr) pending_->detach();
  if (std::exchange(leads_, false)) service_.flights.end(key, plan_->value(), now);
  out_.emplace(plan_->take_out());
  plan_ = nullptr;
  std::exchange(run_, nullptr)->release();
  tell();
}

// The caller has a copy of the function, which the dispatcher destroys.
void Computation::tell() {
  function_.reset();
  if (calls::WorkEnd* const caller = std::exchange(caller_, nullptr)) caller->ended();
}

}  // namespace sheaf::client::compute
