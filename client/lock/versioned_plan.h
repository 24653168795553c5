#pragma once

// A guard's read, write and remove where nobody compares tokens: under an advisory lock. What is
// compared is the version of the key itself, as the guard has read it, so a holder that was stopped
// past its lease overwrites nothing that it has not read.
//
// | operation | the key is noted | sends                         | notes afterwards             |
// |-----------|------------------|-------------------------------|------------------------------|
// | read      |                  | get                           | its version, or absent       |
// | write     | at a version     | set if version, on the        | stored: the new version, if  |
// |           |                  | connection that told it       | told; not stored: nothing    |
// | write     | as absent        | set if absent                 | the same                     |
// | write     | not              | set                           | stored: the new version      |
// | remove    | at a version     | remove if version, likewise   | absent; not removed: nothing |
// | remove    | as absent        | get: there again? not removed | there: nothing               |
// | remove    | not              | remove                        | nothing                      |
// | any       |                  | without an answer             | what was noted before        |
//
// So a write that may still land cannot be overwritten by the next one unseen, nor land on top of
// it: both compare the version from before. And a version is compared only where it was told: a
// server that has restarted counts from 1 again.

#include "client/lock/fenced_plan.h"

namespace sheaf::client::lock {

class VersionedPlan : public FencedPlan {
 protected:
  using FencedPlan::FencedPlan;
  bool token_counts() const final { return false; }
  std::uint64_t connection() const final;
  const Tenure::Noted* noted() const;
  // Compares with what is noted.
  void compare(protocol::Operation& operation);
  // What was compared did not hold. What another thread has noted since stays.
  void forget();

 private:
  std::string version_;  // compared; the command borrows it, and the note may change
};

class VersionedRead final : public PlanFor<VersionedPlan, GetResult> {
 public:
  VersionedRead(std::shared_ptr<Tenure> tenure, FencedTerms terms)
      : PlanFor(std::move(tenure), std::move(terms)) {}

 private:
  Step first() const override { return Step::getting; }
  protocol::Operation operation() override;
  Step on_reply(const socket::Completion& answer) override;
};

class VersionedWrite final : public PlanFor<VersionedPlan, SetResult> {
 public:
  VersionedWrite(std::shared_ptr<Tenure> tenure, FencedTerms terms, SetCondition condition)
      : PlanFor(std::move(tenure), std::move(terms)), condition_(condition) {}

 private:
  Step first() const override { return Step::writing; }
  protocol::Operation operation() override;
  Step on_reply(const socket::Completion& answer) override;
  SetCondition condition_;
};

class VersionedRemove final : public PlanFor<VersionedPlan, RemoveResult> {
 public:
  VersionedRemove(std::shared_ptr<Tenure> tenure, FencedTerms terms,
                  std::optional<std::string> if_value)
      : PlanFor(std::move(tenure), std::move(terms)), if_value_(std::move(if_value)) {}

 private:
  Step first() const override;
  protocol::Operation operation() override;
  Step on_reply(const socket::Completion& answer) override;
  std::optional<std::string> if_value_;
};

}  // namespace sheaf::client::lock
