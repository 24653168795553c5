#pragma once

// RegisterBase: what the registers have in common: operations in flight that belong to an attempt,
// reads and writes side by side, how an attempt ends, the sweeping behind a commit.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <algorithm>

#include "client/list/register.h"
#include "client/list/sweeper.h"

namespace sheaf::client::list {

class RegisterBase : public Register {
 public:
  RegisterBase(const RegisterBase&) = delete;
  RegisterBase& operator=(const RegisterBase&) = delete;

  void prolong(Deadline until) final { until_ = std::max(until_, until); }
  RegisterEvent poll_event() final { return std::exchange(event_, {}); }
  const Head& head() const final { return head_; }
  const std::vector<std::optional<std::string>>& values() const final { return values_; }
  std::uint64_t incarnation() const final { return connection_; }
  Deadline good_until() const final { return good_until_; }
  void on_answer(unsigned id, const socket::Completion& answer) final;
  bool poll_command(calls::Command& command) final {
    return pending_.poll(command) || sweeper_.poll(command);
  }

 protected:
  using Kind = RegisterEvent::Kind;

  RegisterBase(Keys keys, std::chrono::milliseconds step_timeout);

  // An answer to an operation; not always one of this attempt.
  virtual void on_reply_to(const PendingOperation& operation, const socket::Completion& answer) = 0;

  // For this attempt; without a deadline it has the time of one step.
  void send(unsigned purpose, PendingOperation operation, Now now);
  // One operation for each key; on_exchanged() takes the answers.
  void send_gets(unsigned purpose, std::vector<std::string> gets, Now now);
  // Notes an answer; true if it was the last.
  bool on_exchanged(const PendingOperation& operation, bool is_get,
                    const socket::Completion& answer);
  void begin_attempt(Deadline until, Now now);
  void report_done() { event_ = {Kind::done, {}}; }
  // The connection or the fence is another one by then, or a time-out may have been an accident.
  // Everything else would end the same again.
  static bool worth_another(const socket::Completion& answer) noexcept;
  // Closes the attempt and reports how it ended: as the answer says, or as given.
  void fail(const socket::Completion& answer);
  void end(Kind kind, Error error, Now now);
  // An error of an answer that is not acceptable.
  Error refused(const socket::Completion& answer, Reason reason, std::string text) const;
  // Answers that follow on another connection come from a store that may know nothing.
  void use_connection(std::uint64_t connection);
  // After a commit: what the head before it left, and from now on the new one.
  void replace_head(Head next, Sweeper::Terms terms);

  const Keys keys_;
  const std::chrono::milliseconds step_timeout_;
  PendingOperations pending_;
  Sweeper sweeper_;
  RegisterEvent event_;
  std::uint64_t attempt_ = 0;  // answers for earlier ones are ignored
  Deadline started_{0};        // of this attempt
  Deadline until_{0};
  Deadline good_until_ = never;
  std::uint64_t connection_ = 0;
  Head head_;
  std::size_t unanswered_ = 0;

 private:
  std::vector<std::optional<std::string>> values_;
};

}  // namespace sheaf::client::list
