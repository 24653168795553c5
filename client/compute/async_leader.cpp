#include "client/compute/async_leader.h"

#include <utility>

#include "client/compute/done_handle.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::compute {

AsyncLeader::AsyncLeader(ComputeService& service, Caller& caller, Terms terms, Right right,
                         const Times& times)
    : service_(service),
      caller_(&caller),
      terms_(std::move(terms)),
      right_(std::move(right)),
      times_(times),
      plan_owner_(std::make_unique<SettlePlan>(terms_, right_, times.begin_by)),
      plan_(*plan_owner_),
      pending_(std::make_shared<PendingCompute>(service.context,
                                                static_cast<PendingCompute::Leader&>(*this))) {}

// The leader may be gone once its right is offered, and once its plan has started.
void AsyncLeader::begin(ComputeService& service, Caller& caller, Terms terms, Right right,
                        const Times& times, const std::shared_ptr<const AsyncCompute>& function,
                        AsyncLeader*& its_leader, Now now) {
  auto* leader = new AsyncLeader(service, caller, std::move(terms), std::move(right), times);
  its_leader = leader;
  const std::shared_ptr<PendingCompute> pending = leader->pending_;
  if (service.flights.offer(leader->terms_.key, *leader, now)) return;
  service.procedures.run(std::move(leader->plan_owner_), *leader, now);
  service.context.dispatcher().deliver([pending, function] { run(pending, *function); });
}

// Runs on the dispatcher. What the function throws goes to the dispatcher; its ComputeDone is
// destroyed by then.
void AsyncLeader::run(const std::shared_ptr<PendingCompute>& pending,
                      const AsyncCompute& function) {
  if (!pending->begin()) return;
  function(ComputeDone(std::make_shared<const DoneHandle>(pending)));
}

void AsyncLeader::on_progress(calls::ProcedureRun& run, Now now) {
  run_ = &run;
  if (plan_.overdue()) {
    plan_.on_begun();
    if (pending_->take_back()) {
      return give_up(Reason::timed_out,
                     "the function that computes the value could not start in time", now);
    }
    return run.resume(now);
  }
  if (plan_.done()) finish(now);
}

std::optional<Right> AsyncLeader::give(Now now) {
  if (!pending_->take_back()) return std::nullopt;
  const std::unique_ptr<AsyncLeader> self(this);
  pending_->detach();
  plan_.abandon();
  if (run_ != nullptr) run_->release();
  if (caller_ != nullptr) caller_->on_taken(now);
  return right_;
}

void AsyncLeader::on_made(Result<std::string> made, Now now) {
  if (!made) {
    tell(Failure(std::move(made.error())), now);
    return settle(std::nullopt, now);
  }
  made_ = true;
  settle(std::move(*made), now);
}

void AsyncLeader::settle(std::optional<std::string> value, Now now) {
  plan_.on_made(std::move(value), now.mono + times_.storing);
  run_->resume(now);
}

// For a function that was taken back: informs the caller at once, and gives the right back.
void AsyncLeader::give_up(Reason reason, std::string text, Now now) {
  Error error = runtime::local_error(Outcome::not_sent, reason, std::move(text));
  error.elapsed = now.mono - times_.started;
  tell(Failure(std::move(error)), now);
  settle(std::nullopt, now);
}

void AsyncLeader::cancel(Now now) {
  if (!plan_.computing()) return run_->cancel(now);  // the computed value is returned
  if (pending_->take_back()) return give_up(Reason::cancelled, {}, now);
  Error error = runtime::local_error(Outcome::not_sent, Reason::cancelled, {});
  error.elapsed = now.mono - times_.started;
  tell(Failure(std::move(error)), now);
}

void AsyncLeader::finish(Now now) {
  const std::unique_ptr<AsyncLeader> self(this);
  const Value value = plan_.take_out();
  pending_->detach();
  run_->release();
  service_.flights.end(terms_.key, made_ ? &value : nullptr, now);
  if (made_) return tell(value, now);
  tell(Failure(runtime::local_error(Outcome::shutdown, Reason::closed, "the client is closing")),
       now);
}

void AsyncLeader::tell(Result<Value> out, Now now) {
  if (Caller* const caller = std::exchange(caller_, nullptr)) caller->on_led(std::move(out), now);
}

}  // namespace sheaf::client::compute
