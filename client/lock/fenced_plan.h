#pragma once

// FencedPlan: a guard's read, write or remove of a key that a lock protects, as a procedure. Its
// requests go over the lock's own connection and carry the lock's token.
//
// A token protects only keys that were claimed with it: the store raises a key's fence when a write
// carries a token, never at a GET. So a read claims the key: it writes back the value that it has
// read, with the token, if the key still holds that value. From then on the store refuses every
// older token, and a later write replaces exactly what was read. An absent key cannot be claimed:
// its next write is stored only if the key is still absent.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// | step    | input                | then                              | next    |
// |---------|----------------------|-----------------------------------|---------|
// | token   | the token is certain |                                   | first   |
// | getting | absent               | noted as absent                   | over    |
// | getting | value                | SET key, same value, NEX, token   | writing |
// | writing | +OK                  |                                   | over    |
// | writing | :-1                  | read: again; write: not stored    |         |
// | any     | lock not held        | refused before anything is sent   | over    |
// | any     | not answered         | the error                         | over    |
//
// Thread rule: one thread at a time; under the baton.

#include <memory>
#include <string>

#include <sheaf/options.h>

#include "client/calls/procedure.h"
#include "client/lock/lock_controls.h"
#include "client/lock/tenure.h"

namespace sheaf::client::lock {

// The arguments that all operations of a guard share.
struct FencedTerms {
  std::string key;
  std::string value;                 // write
  std::chrono::milliseconds ttl{0};  // write; read: for the claim
  bool persist = false;              // likewise
  Deadline started{0};
  Deadline deadline{0};
  bool bound = true;  // to the lock's connection; false: the key may be on another node
  std::shared_ptr<void> parent{};  // of the requests; see Procedure::set_parent
  LockControls controls{};
};

class FencedPlan : public calls::Procedure {
 public:
  void start(Now now) final;
  void on_answer(unsigned id, const socket::Completion& answer) final;
  void on_deadline(Now now) final;
  bool on_cancel(Now now) final;
  void on_shutdown(Now now) final;
  // Call when the tenure has changed.
  void on_tenure(Now now);

  bool poll_command(calls::Command& command) final;
  Deadline poll_deadline() const final;
  bool done() const final { return step_ == Step::over; }
  // Valid once done: a write of this plan has no answer, and may still be executed.
  bool in_doubt() const noexcept { return in_doubt_; }

 protected:
  enum class Step : std::uint8_t { token, getting, writing, over };

  FencedPlan(std::shared_ptr<Tenure> tenure, FencedTerms terms)
      : tenure_(std::move(tenure)), terms_(std::move(terms)) {
    set_parent(std::move(terms_.parent));
  }

  virtual Step first() const = 0;
  virtual protocol::Operation operation() = 0;  // of the current step; without deadline
  // Takes the answer to the current step and returns the next step.
  virtual Step on_reply(const socket::Completion& answer) = 0;
  // True if writes carry the token: then a write without an answer requires a new token.
  virtual bool token_counts() const { return true; }
  // The connection for the current step; 0 = any.
  virtual std::uint64_t connection() const { return terms_.bound ? tenure_->connection : 0; }
  std::string_view fence() const { return terms_.controls.token ? std::string_view(token_) : ""; }

  std::shared_ptr<Tenure> tenure_;
  FencedTerms terms_;
  Step step_ = Step::token;
  std::optional<Error> error_;

 private:
  void enter(Step step, Now now);
  void fail(Error error);

  std::string token_;  // for this operation: the tenure's token may change meanwhile
  bool want_ = false;
  bool in_doubt_ = false;
};

// A plan of one kind and its result.
template <class Plan, class T>
class PlanFor : public Plan {
 public:
  using Out = Result<T>;
  // Only once done().
  Out take_out() {
    if (this->error_) return Failure(std::move(*this->error_));
    return std::move(result_);
  }

 protected:
  using Plan::Plan;
  T result_{};  // valid if there is no error
};

class FencedRead final : public PlanFor<FencedPlan, GetResult> {
 public:
  FencedRead(std::shared_ptr<Tenure> tenure, FencedTerms terms)
      : PlanFor(std::move(tenure), std::move(terms)) {}

 private:
  Step first() const override { return Step::getting; }
  protocol::Operation operation() override;
  Step on_reply(const socket::Completion& answer) override;
};

class FencedWrite final : public PlanFor<FencedPlan, SetResult> {
 public:
  FencedWrite(std::shared_ptr<Tenure> tenure, FencedTerms terms, SetCondition condition)
      : PlanFor(std::move(tenure), std::move(terms)), condition_(condition) {}

 private:
  Step first() const override { return Step::writing; }
  protocol::Operation operation() override;
  Step on_reply(const socket::Completion& answer) override;
  SetCondition condition_;
};

class FencedRemove final : public PlanFor<FencedPlan, RemoveResult> {
 public:
  FencedRemove(std::shared_ptr<Tenure> tenure, FencedTerms terms,
               std::optional<std::string> if_value)
      : PlanFor(std::move(tenure), std::move(terms)), if_value_(std::move(if_value)) {}

 private:
  Step first() const override { return Step::writing; }
  protocol::Operation operation() override;
  Step on_reply(const socket::Completion& answer) override;
  std::optional<std::string> if_value_;
};

// The error of an operation whose lock is not held, or not held any more.
Error not_held(std::string_view lock, std::string_view why);
// A write without its token or version. It has views of the terms.
protocol::Operation write_operation(const FencedTerms& terms, SetCondition condition);
// The error of a read that has no room for another note.
Error too_many_noted();

}  // namespace sheaf::client::lock
