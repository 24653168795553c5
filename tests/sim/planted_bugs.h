#pragma once

// Sessions with a bug planted on purpose: a suite that passes with one of them proves nothing.

#include <memory>
#include <string>
#include <utility>

#include "protocol/session.h"

namespace sheaf::sim {

enum class Bug : std::uint8_t {
  none,
  one_behind,          // after a time-out each request is given the reply before its own
  denies_what_it_sent  // a cancelled request is always said not to have left
};

class BuggySession final : public protocol::Session {
 public:
  BuggySession(std::unique_ptr<protocol::Session> real, Bug bug)
      : real_(std::move(real)), bug_(bug) {}

  protocol::Sent cancel(protocol::Ticket ticket, Now now) override {
    timed_out_ = true;
    const protocol::Sent sent = real_->cancel(ticket, now);
    return bug_ == Bug::denies_what_it_sent ? protocol::Sent::no : sent;
  }
  bool poll_event(protocol::Event& event) override {
    if (!real_->poll_event(event)) return false;
    if (event.kind == protocol::Event::Kind::reply && bug_ == Bug::one_behind && timed_out_) {
      given_ = std::exchange(kept_, Kept{event.reply, std::string(event.reply.value),
                                         std::string(event.reply.version)});
      event.reply = given_.reply;
      event.reply.value = given_.value;
      event.reply.version = given_.version;
      event.reply.text = {};
    }
    return true;
  }

  std::expected<protocol::Ticket, protocol::LocalError> submit(const protocol::Operation& operation,
                                                               Now now) override {
    return real_->submit(operation, now);
  }
  std::span<std::byte> input_space() override { return real_->input_space(); }
  void on_input(std::size_t size, Now now) override { real_->on_input(size, now); }
  void on_output(std::size_t size, Now now) override { real_->on_output(size, now); }
  void on_eof(Now now) override { real_->on_eof(now); }
  void on_deadline(Now now) override { real_->on_deadline(now); }
  void start(Now now) override { real_->start(now); }
  void close(Now now) override { real_->close(now); }
  std::span<const Bytes> poll_output() override { return real_->poll_output(); }
  std::optional<Deadline> poll_deadline() const override { return real_->poll_deadline(); }
  std::size_t room() const override { return real_->room(); }
  std::size_t in_flight() const override { return real_->in_flight(); }
  bool ready() const override { return real_->ready(); }
  bool clean() const override { return real_->clean(); }
  bool closed() const override { return real_->closed(); }
  const protocol::CloseReason& close_reason() const override { return real_->close_reason(); }
  const protocol::Counters& counters() const override { return real_->counters(); }

 private:
  std::unique_ptr<protocol::Session> real_;
  Bug bug_;
  struct Kept {
    protocol::Reply reply;
    std::string value;
    std::string version;
  };
  bool timed_out_ = false;
  Kept kept_;
  Kept given_;
};

}  // namespace sheaf::sim
