#pragma once

// RegisterBase: what all registers share: the operations in flight of an attempt, parallel reads
// and writes, the ways an attempt ends, and the sweeping after a commit.
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

  // The answer to an operation, which may be one of an earlier attempt.
  virtual void on_reply_to(const PendingOperation& operation, const socket::Completion& answer) = 0;

  // Sends an operation of this attempt. If it has no deadline, it gets the time of one step.
  void send(unsigned purpose, PendingOperation operation, Now now);
  // Sends one get for each key; on_exchanged() takes the answers.
  void send_gets(unsigned purpose, std::vector<std::string> gets, Now now);
  // Notes an answer; true if it was the last one.
  bool on_exchanged(const PendingOperation& operation, bool is_get,
                    const socket::Completion& answer);
  void begin_attempt(Deadline until, Now now);
  void report_done() { event_ = {Kind::done, {}}; }
  // True if another attempt may succeed: it will have another connection or fence, or the time-out
  // may have been an accident. Any other error would only repeat.
  static bool worth_another(const socket::Completion& answer) noexcept;
  // Closes the attempt and reports how it ended: as the answer implies, or as given.
  void fail(const socket::Completion& answer);
  void end(Kind kind, Error error, Now now);
  // The error for an answer that is not acceptable.
  Error refused(const socket::Completion& answer, Reason reason, std::string text) const;
  // Binds the attempt to a connection. A store that answers on another connection may have lost
  // everything.
  void use_connection(std::uint64_t connection);
  // After a commit: sweeps the garbage of the old head and adopts the new one.
  void replace_head(Head next, Sweeper::Terms terms);

  const Keys keys_;
  const std::chrono::milliseconds step_timeout_;
  PendingOperations pending_;
  Sweeper sweeper_;
  RegisterEvent event_;
  std::uint64_t attempt_ = 0;  // answers to earlier attempts are ignored
  Deadline started_{0};        // when this attempt began
  Deadline until_{0};
  Deadline good_until_ = never;
  std::uint64_t connection_ = 0;
  Head head_;
  std::size_t unanswered_ = 0;

 private:
  std::vector<std::optional<std::string>> values_;
};

}  // namespace sheaf::client::list
