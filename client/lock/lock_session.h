#pragma once

// LockSession: one acquisition of a lock and the tenure that follows, as its guard sees it: carries
// out the LockPlan, mirrors the belief for other threads, tells of the loss.
//
// Thread rule: begin and what ProcedureOwner says under the baton; the rest from any thread.
// Lifetime: guards share it; while its plan is carried out it keeps itself.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sheaf/locker.h>

#include "base/mutex.h"
#include "client/lock/fenced_plan.h"
#include "client/lock/lock_plan.h"
#include "client/lock/lock_service.h"

namespace sheaf::client::lock {

// Told when the tenure has changed; under the baton.
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
  LockSession(std::shared_ptr<LockService> service, LockTerms terms);

  // Starts to ask; `settled` is called once, under the baton, when it is decided.
  void begin(std::function<void()> settled, Now now);
  // Settled: whether it was got; else why not (none: another holds it).
  bool acquired() const noexcept { return acquired_; }
  const std::optional<Error>& failure() const noexcept { return failure_; }

  LockService& service() const noexcept { return *service_; }
  const std::string& name() const noexcept { return name_; }
  bool held() const;
  std::string token() const;
  void on_loss(LockGuard::LossCallback lost);
  Result<bool> release(const Timeout& timeout);
  // The guard is gone.
  void drop() noexcept;

  Result<GetResult> read(std::string_view key, const FencedReadOptions& options);
  Result<SetResult> write(std::string_view key, std::string_view value,
                          const FencedWriteOptions& options);
  Result<RemoveResult> remove(std::string_view key, const FencedRemoveOptions& options);

  // Under the baton, for fenced operations.
  const std::shared_ptr<Tenure>& tenure() const noexcept { return tenure_; }
  void listen(TenureListener& listener) { listeners_.push_back(&listener); }
  void ignore(TenureListener& listener) { std::erase(listeners_, &listener); }
  void on_doubt(Now now);

 private:
  class Release;
  void on_progress(calls::ProcedureRun& run, Now now) override;
  void publish();
  void tell_listeners(Now now);
  bool stop_believing();
  std::optional<Error> refusal(std::string_view key, bool other_node, const Timeout& timeout) const;
  FencedTerms terms(std::string_view key, bool other_node, const Timeout& timeout) const;

  template <class Fenced, class Versioned, class... More>
  typename Fenced::Out carry_out(FencedTerms wanted, More... more);

  const std::shared_ptr<LockService> service_;
  runtime::Context& context_;
  const std::string name_;
  const bool fenced_;  // else advisory

  // Under the baton; acquired_ and failure_ are constant once settled.
  std::unique_ptr<LockPlan> starting_;
  std::shared_ptr<LockSession> self_;
  calls::ProcedureRun* run_ = nullptr;
  LockPlan* plan_ = nullptr;
  std::shared_ptr<Tenure> tenure_;
  std::function<void()> settled_;
  bool acquired_ = false;
  std::optional<Error> failure_;
  std::vector<Release*> releasing_;
  std::vector<TenureListener*> listeners_;
  unsigned told_changes_ = 0;

  mutable sync::Mutex mutex_;  // nothing is called under it
  Deadline until_ SHEAF_GUARDED_BY(mutex_){0};
  std::string token_ SHEAF_GUARDED_BY(mutex_);
  bool released_ SHEAF_GUARDED_BY(mutex_) = false;
  std::optional<Error> loss_ SHEAF_GUARDED_BY(mutex_);
  LockGuard::LossCallback on_loss_ SHEAF_GUARDED_BY(mutex_);
};

}  // namespace sheaf::client::lock
