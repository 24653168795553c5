#pragma once

// ConnectionLife: what every session does about its connection, whatever its protocol: input and
// output, the limit of the handshake, keep-alive, and the end with its reason. The parts of a
// session share it; SessionBase (session_base.h) implements the contract of Session with it.
//
// | state    | input                                    | then                     | next     |
// |----------|------------------------------------------|--------------------------|----------|
// | idle     | start()                                  | the session greets       | greeting |
// | greeting | accept(): the server has let us in       |                          | accepted |
// | greeting | become_ready(), if nothing else remains  | event ready              | ready    |
// | accepted | become_ready()                           | event ready              | ready    |
// | greeting, accepted | the limit of the handshake     | end                      | closed   |
// | ready    | silence                                  | the session asks a no-op | ready    |
// | ready    | no answer to that                        | end                      | closed   |
// | any      | end() of any reason, the stream's end    | events failed, closed    | closed   |
//
// Only the first reason to end is reported, once, after every open request has failed with an event
// of its own. After the end nothing more leaves except a farewell, and that only to a server that
// has accepted us and is not in the middle of a frame.
//
// If memory runs out the connection ends; a session throws nothing.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "protocol/input_buffer.h"
#include "protocol/keep_alive.h"
#include "protocol/open_requests.h"
#include "protocol/output_queue.h"
#include "protocol/session.h"

namespace sheaf::protocol {

// The result of one step through the input.
enum class Step : std::uint8_t {
  need_input,   // no whole message is buffered; more input or a cancelled request is needed
  need_output,  // the next event waits until more of the output has left
  again,        // something was done, without an event
  event         // the event is filled in
};

struct LifeOptions {
  std::size_t input_limit = 0;                   // bytes that may wait to be parsed
  std::chrono::milliseconds handshake_limit{0};  // from start() to ready
  std::chrono::milliseconds keep_alive{0};       // longest silence before a no-op; 0 = no limit
  std::chrono::milliseconds answer_limit{0};     // for the answer to the no-op
  KeepAlive::Silence silence = KeepAlive::Silence::of_server;
  bool over_tls = false;
  // Names for error texts: "the server does not answer as PEER"; "the server did not answer
  // GREETING in time", with a hint to append; "the server did not answer NO_OP in time".
  std::string_view peer{};
  std::string_view greeting{};
  std::string_view greeting_hint{};
  std::string_view no_op{};
};

class ConnectionLife {
 public:
  enum class State : std::uint8_t { idle, greeting, accepted, ready, closed };
  // What an idle connection keeps for input, and the same for output.
  static constexpr std::size_t kept_when_idle = 4 * 1024;
  static constexpr std::chrono::seconds idle_limit{10};

  // `requests` outlives it.
  ConnectionLife(const LifeOptions& options, OpenRequests& requests);

  InputBuffer& input() noexcept { return input_; }
  OutputQueue& output() noexcept { return output_; }
  const OutputQueue& output() const noexcept { return output_; }
  KeepAlive& keep_alive() noexcept { return keep_alive_; }
  Counters& counters() noexcept { return counters_; }
  const Counters& counters() const noexcept { return counters_; }

  State state() const noexcept { return state_; }
  bool ready() const noexcept { return state_ == State::ready; }
  bool closed() const noexcept { return state_ == State::closed; }
  const CloseReason& close_reason() const noexcept { return close_reason_; }
  Now last_input() const noexcept { return last_input_; }

  // ---- decisions of the session's parts
  void accept() noexcept { state_ = State::accepted; }
  // The handshake ends by then at the latest, with this text. `text` is a literal.
  void expect_by(Deadline due, std::string_view text) noexcept;
  Step become_ready(Event& event) noexcept;
  // True once the whole frame has left: only then can it have an answer.
  bool has_left(OutputQueue::FrameId frame) const noexcept {
    return output_.progress(frame) == OutputQueue::Progress::written;
  }
  void end(CloseReason reason, std::string_view farewell = {});
  // The same for a parser, which has nothing more to do afterwards.
  Step end_with(Reason reason, std::string text, bool permanent = false);
  // The input contradicts the protocol. If nothing was consumed before, it may be a server of
  // another kind, and the text says which, if the input shows it.
  Step broken(std::string_view what, std::string_view farewell = {});
  // Ends once the event that is being filled in has been polled. Until then nothing is accepted.
  void end_after_event(CloseReason reason) noexcept { end_next_ = std::move(reason); }
  // Runs `action`; if it runs out of memory, the connection ends.
  template <class Action>
  void guarded(const Action& action) {
    try {
      action();
    } catch (const std::bad_alloc&) {
      end_without_memory();
    }
  }

  // ---- calls that a session passes on
  void start(Now now) noexcept;
  std::span<std::byte> input_space();
  void on_input(std::size_t size, Now now) noexcept;
  void on_output(std::size_t size, Now now);
  void on_eof();
  // Nothing, if the state allows a request to be submitted.
  std::optional<Reason> not_ready() const noexcept;
  Sent cancel(Ticket ticket);
  std::optional<Deadline> poll_deadline(Deadline own) const noexcept;
  // True if the handshake is over and the connection continues. The session handles the rest of a
  // deadline: its own chores, then a no-op if ask_no_op() is true.
  bool check_handshake();
  // Also gives memory back if the connection has been idle for `idle_limit`.
  bool ask_no_op(Now now);
  // True if there may be input to parse.
  bool parses() {
    if (end_next_ && !closed()) end(std::move(*end_next_));
    return !closed();
  }
  // After the end: the next open request that fails, then the end itself.
  bool next_failure(Event& event);

 private:
  Sent sent_if_cut(const OpenRequest& request) const noexcept;
  void end_without_memory();

  const LifeOptions options_;
  OpenRequests& requests_;
  State state_ = State::idle;
  CloseReason close_reason_;
  std::optional<CloseReason> end_next_;
  Counters counters_;
  Now last_input_;
  bool heard_ = false;  // there was input
  InputBuffer input_;
  OutputQueue output_;
  KeepAlive keep_alive_;
  Deadline trim_due_ = never;  // never: it holds little
  Deadline handshake_due_{0};
  std::string_view late_;  // what it means if that passes; empty: the greeting is not answered
  std::size_t next_failed_ = 0;  // position among the requests, once closed
  bool end_reported_ = false;
};

}  // namespace sheaf::protocol
