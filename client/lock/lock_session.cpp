#include "client/lock/lock_session.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace sheaf::client::lock {

LockSession::LockSession(std::shared_ptr<LockService> service, LockTerms terms)
    : service_(std::move(service)),
      name_(terms.name),
      fenced_(!terms.by_version),
      starting_(std::make_unique<LockPlan>(std::move(terms), service_->memory, entropy())),
      tenure_(starting_->tenure()),
      view_(service_->context) {}

void LockSession::begin(Settled settled, Now now) {
  settled_ = std::move(settled);
  self_ = shared_from_this();
  plan_ = starting_.get();
  service_->procedures.run(std::move(starting_), *this, now);
}

void LockSession::release(Freed freed, Deadline deadline, Now now) {
  if (plan_ == nullptr) return freed(false);
  releasing_.push_back(std::move(freed));
  plan_->release(deadline, now);
  run_->resume(now);
}

void LockSession::on_doubt(Now now) {
  if (plan_ == nullptr) return;
  plan_->on_doubt(now);
  run_->resume(now);
}

void LockSession::on_progress(calls::ProcedureRun& run, Now now) {
  const auto keep = shared_from_this();
  run_ = &run;
  view_.update(*tenure_, plan_->loss());
  if (plan_->settled() && settled_) {
    acquired_ = plan_->acquired();
    failure_ = plan_->failure();
    std::exchange(settled_, nullptr)();
  }
  if (plan_->freed()) {
    for (const Freed& freed : std::exchange(releasing_, {})) freed(*plan_->freed());
  }
  if (plan_->done()) {
    run_ = nullptr;
    plan_ = nullptr;
    self_ = nullptr;
    run.release();
  }
  notify_listeners(now);
}

void LockSession::notify_listeners(Now now) {
  if (notified_changes_ == tenure_->changes) return;
  notified_changes_ = tenure_->changes;
  for (TenureListener* listener : std::vector(listeners_)) {
    if (std::ranges::find(listeners_, listener) != listeners_.end()) listener->on_tenure(now);
  }
}

}  // namespace sheaf::client::lock
