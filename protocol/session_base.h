#pragma once

// SessionBase: a session of any protocol, without the protocol. It fulfils the contract of Session
// (session.h) with a ConnectionLife. A protocol adds how it greets, how it writes a request, what
// its input means, and its no-op.
//
// `Requests` is the protocol's table of open requests; it derives from OpenRequests and pairs
// replies.
//
// Input is parsed when events are polled: one message gives at most one event, and views in it stay
// valid until the next input or command.
//
// If memory runs out, a submit is refused, and everything else ends the connection; nothing throws.
//
// Thread rule: one thread at a time; nothing here blocks, calls back or reads a clock.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <expected>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "protocol/connection_life.h"
#include "protocol/refusals.h"
#include "protocol/session.h"

namespace sheaf::protocol {

template <class Requests>
class SessionBase : public Session {
 public:
  // ---- inputs
  void share_input(SharedInput& input) final { life_.input().share(input); }
  std::span<std::byte> input_space() final { return life_.input_space(); }
  void on_input(std::size_t size, Now now) final {
    awaits_input_ = false;
    life_.on_input(size, now);
  }
  void on_output(std::size_t size, Now now) final { life_.on_output(size, now); }
  void on_eof(Now) final { life_.on_eof(); }
  void on_deadline(Now now) final {
    const auto due = poll_deadline();
    if (!due || now.mono < *due) return;
    life_.guarded([&] {
      if (!life_.check_handshake()) return;
      if (now.mono >= own_deadline()) {
        awaits_input_ = false;
        on_own_deadline(now);
      }
      if (life_.ask_no_op(now)) life_.keep_alive().asked(write_no_op(), now.mono);
    });
  }

  // ---- commands
  void start(Now now) final {
    life_.start(now);
    life_.guarded([this] { greet(); });
  }
  std::expected<Ticket, LocalError> submit(const Operation& operation, Now now) final {
    try {
      if (const auto reason = life_.not_ready()) return std::unexpected(not_ready(*reason));
      if (room() == 0) return std::unexpected(no_room());
      return write(operation, now);
    } catch (const std::bad_alloc&) {
      return std::unexpected(no_memory());
    }
  }
  Sent cancel(Ticket ticket, Now) final {
    awaits_input_ = false;
    return life_.cancel(ticket);
  }
  void close(Now) final {
    life_.guarded([this] { life_.end({Reason::closed, "closed by this client"}, farewell()); });
  }

  // ---- outputs
  std::span<const Bytes> poll_output() final {
    if (!life_.closed()) before_output();
    return life_.output().parts();
  }
  bool poll_event(Event& event) final {
    while (life_.parses() && !awaits_input_) {
      Step step = Step::again;
      life_.guarded([&] { step = next_step(event); });
      if (step == Step::event) return true;
      awaits_input_ = step == Step::need_input;
      if (step != Step::again) break;
    }
    if (!life_.input().settle()) life_.end({Reason::out_of_memory, "out of memory"});
    return life_.closed() && life_.next_failure(event);
  }
  std::optional<Deadline> poll_deadline() const final {
    return life_.poll_deadline(own_deadline());
  }

  // ---- queries
  std::size_t room() const final { return life_.not_ready() ? 0 : free_slots(); }
  std::size_t in_flight() const final { return life_.closed() ? 0 : requests_.waiting(); }
  bool ready() const final { return life_.ready(); }
  bool closed() const final { return life_.closed(); }
  const CloseReason& close_reason() const final { return life_.close_reason(); }
  const Counters& counters() const final { return life_.counters(); }

  // Memory held for input and output, for tests of bounds.
  std::size_t input_capacity() noexcept { return life_.input().capacity(); }
  std::size_t output_capacity() const noexcept { return life_.output().capacity(); }

 protected:
  // `arguments` are those of Requests.
  template <class... Arguments>
  explicit SessionBase(const LifeOptions& options, Arguments... arguments)
      : requests_(arguments...), life_(options, requests_) {}

  // ---- what a protocol adds. If memory runs out in write(), it must have changed nothing; in any
  // other function, the connection ends.
  virtual void greet() = 0;
  // Queues the whole of a request, or refuses it.
  virtual std::expected<Ticket, LocalError> write(const Operation& operation, Now now) = 0;
  virtual OutputQueue::FrameId write_no_op() = 0;
  // Handles the next message of the input.
  virtual Step next_step(Event& event) = 0;
  // Number of requests that may be submitted now; called while the connection is ready.
  virtual std::size_t free_slots() const = 0;

  // Only some protocols have these: bytes to end with, work due at a certain time while the
  // connection is ready, and work before the next output.
  virtual std::string farewell() const { return {}; }
  virtual Deadline own_deadline() const { return never; }
  virtual void on_own_deadline(Now /*now*/) {}
  virtual void before_output() {}

  ConnectionLife& life() noexcept { return life_; }
  const ConnectionLife& life() const noexcept { return life_; }
  Requests& requests() noexcept { return requests_; }
  const Requests& requests() const noexcept { return requests_; }

 private:
  Requests requests_;
  ConnectionLife life_;
  bool awaits_input_ = false;  // a step needed more, and neither input nor a deadline came since
};

}  // namespace sheaf::protocol
