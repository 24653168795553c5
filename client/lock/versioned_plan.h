#pragma once

// VersionedPlan: a guard's read, write or remove under an advisory lock, where the server compares
// no tokens. It compares the version of the key itself, as the guard has read it. So a holder that
// was stopped past its lease overwrites nothing that it has not read.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// | operation | the key is noted | sends                         | notes afterwards             |
// |-----------|------------------|-------------------------------|------------------------------|
// | read      |                  | get                           | its version, or absent       |
// | write     | at a version     | set if version, on the        | stored: the new version, if  |
// |           |                  | connection that returned it   | any; not stored: nothing     |
// | write     | as absent        | set if absent                 | the same                     |
// | write     | not              | set                           | stored: the new version      |
// | remove    | at a version     | remove if version, likewise   | absent; not removed: nothing |
// | remove    | as absent        | get: if it exists again, not  | exists: nothing              |
// |           |                  | removed                       |                              |
// | remove    | not              | remove                        | nothing                      |
// | any       |                  | without an answer             | what was noted before        |
//
// A write without an answer may still be executed. The next write compares the same version, so
// neither can overwrite the other: the second one is not stored. A version is compared only on the
// connection that returned it: a server that has restarted counts from 1 again.
//
// Thread rule: one thread at a time; under the baton.

#include "client/lock/fenced_plan.h"

namespace sheaf::client::lock {

class VersionedPlan : public FencedPlan {
 protected:
  using FencedPlan::FencedPlan;
  bool token_counts() const final { return false; }
  std::uint64_t connection() const final;
  const Tenure::Noted* noted() const;
  // Adds the condition that the key is still as noted.
  void compare(protocol::Operation& operation);
  // Drops the note that was compared, because it was not true. A note that another thread has made
  // since stays.
  void forget();

 private:
  std::string version_;  // the compared one: the command has a view of it; the note may change
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
