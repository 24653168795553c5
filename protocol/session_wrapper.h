#pragma once

// SessionWrapper: a session around another one of the same contract. It passes on every call that a
// derived class does not override.
//
// Thread rule: that of the inner session.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <utility>

#include "protocol/session.h"

namespace sheaf::protocol {

// `Real` is Session, or a subclass whose own members the derived class needs.
template <class Real = Session>
class SessionWrapper : public Session {
 public:
  explicit SessionWrapper(std::unique_ptr<Real> session) : session_(std::move(session)) {}

  void share_input(SharedInput& input) override { session_->share_input(input); }
  std::span<std::byte> input_space() override { return session_->input_space(); }
  void on_input(std::size_t size, Now now) override { session_->on_input(size, now); }
  void on_output(std::size_t size, Now now) override { session_->on_output(size, now); }
  void on_eof(Now now) override { session_->on_eof(now); }
  void on_deadline(Now now) override { session_->on_deadline(now); }
  void start(Now now) override { session_->start(now); }
  std::expected<Ticket, LocalError> submit(const Operation& operation, Now now) override {
    return session_->submit(operation, now);
  }
  Sent cancel(Ticket ticket, Now now) override { return session_->cancel(ticket, now); }
  bool renew_login(Now now) override { return session_->renew_login(now); }
  void close(Now now) override { session_->close(now); }
  std::span<const Bytes> poll_output() override { return session_->poll_output(); }
  bool poll_event(Event& event) override { return session_->poll_event(event); }
  std::optional<Deadline> poll_deadline() const override { return session_->poll_deadline(); }
  std::size_t room() const override { return session_->room(); }
  std::size_t in_flight() const override { return session_->in_flight(); }
  bool ready() const override { return session_->ready(); }
  bool clean() const override { return session_->clean(); }
  bool closed() const override { return session_->closed(); }
  const CloseReason& close_reason() const override { return session_->close_reason(); }
  const Counters& counters() const override { return session_->counters(); }
  Peer peer() const override { return session_->peer(); }
  std::string_view own_name() const override { return session_->own_name(); }

 protected:
  Real& session() noexcept { return *session_; }
  const Real& session() const noexcept { return *session_; }

 private:
  std::unique_ptr<Real> session_;
};

}  // namespace sheaf::protocol
