#pragma once

// LockSession: one acquisition of a lock and the tenure that follows. It owns the LockPlan while it
// runs, reports how the acquisition and the release ended, and notifies the guard's operations when
// the tenure has changed. TenureView is the part that other threads see.
//
// Thread rule: under the baton, except for functions marked "any thread".
// Lifetime: guards and their operations share it; it keeps itself alive while its plan runs.

#include <memory>
#include <string>
#include <vector>

#include <sheaf/move_only_function.h>

#include "client/lock/lock_plan.h"
#include "client/lock/lock_service.h"
#include "client/lock/tenure_view.h"

namespace sheaf::client::lock {

// Notified when the tenure has changed; under the baton.
class TenureListener {
 public:
  // May remove itself.
  virtual void on_tenure(Now now) = 0;

 protected:
  ~TenureListener() = default;
};

class LockSession final : public std::enable_shared_from_this<LockSession>,
                          private calls::ProcedureOwner {
 public:
  using Settled = MoveOnlyFunction<void()>;
  using Freed = MoveOnlyFunction<void(const Result<bool>&)>;

  LockSession(std::shared_ptr<LockService> service, LockTerms terms);

  // Any thread.
  LockService& service() const noexcept { return *service_; }
  runtime::Context& context() const noexcept { return service_->context; }
  const std::string& name() const noexcept { return name_; }
  bool fenced() const noexcept { return fenced_; }  // else advisory
  TenureView& view() noexcept { return view_; }
  const std::shared_ptr<Tenure>& tenure() const noexcept { return tenure_; }  // not its contents

  // Starts to ask; `settled` is called once, when the outcome is known.
  void begin(Settled settled, Now now);
  // Valid once settled: true if the lock was acquired; else failure() is the reason (none: another
  // client holds it). Both are constant from then on, so any thread may call them.
  bool acquired() const noexcept { return acquired_; }
  const std::optional<Error>& failure() const noexcept { return failure_; }

  // Releases the lock and passes the outcome to `freed` by the deadline: see LockGuard::release.
  void release(Freed freed, Deadline deadline, Now now);
  // Ends an acquisition or release whose caller does not wait any longer. It must not have ended
  // yet.
  void cancel(Now now) { run_->cancel(now); }

  void listen(TenureListener& listener) { listeners_.push_back(&listener); }
  void ignore(TenureListener& listener) { std::erase(listeners_, &listener); }
  // Call when a fenced write has ended without an answer.
  void on_doubt(Now now);

 private:
  void on_progress(calls::ProcedureRun& run, Now now) override;
  void notify_listeners(Now now);

  const std::shared_ptr<LockService> service_;
  const std::string name_;
  const bool fenced_;
  std::unique_ptr<LockPlan> starting_;
  std::shared_ptr<LockSession> self_;
  calls::ProcedureRun* run_ = nullptr;
  LockPlan* plan_ = nullptr;
  const std::shared_ptr<Tenure> tenure_;
  Settled settled_;
  bool acquired_ = false;
  std::optional<Error> failure_;
  std::vector<Freed> releasing_;
  std::vector<TenureListener*> listeners_;
  unsigned notified_changes_ = 0;  // the tenure's changes at the last notification
  TenureView view_;
};

}  // namespace sheaf::client::lock
