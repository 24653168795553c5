#pragma once

// ConnectionLife: what every session does about its connection, whatever its protocol: input and
// output, the limit of the handshake, keep-alive, and the end with its reason. The parts of a
// session share it; SessionBase (session_base.h) makes the contract of Session of it.
//
// | state    | input                                    | then                     | next     |
// |----------|------------------------------------------|--------------------------|----------|
// | idle     | start()                                  | the session greets       | greeting |
// | greeting | accept(): the server has let us in       |                          | accepted |
// | greeting | become_ready(), for there is no more     | event ready              | ready    |
// | accepted | become_ready()                           | event ready              | ready    |
// | greeting, accepted | the limit of the handshake     | end                      | closed   |
// | ready    | silence                                  | the session asks a no-op | ready    |
// | ready    | no answer to that                        | end                      | closed   |
// | any      | end() of any reason, the stream's end    | events failed, closed    | closed   |
//
// The first reason to end is the one that is reported, once, after every open request has failed
// with an event of its own. At the end nothing more leaves but a farewell, and that only to a
// server that has let us in and is not in the middle of a frame.
//
// Without memory the connection ends; nothing is thrown out of a session.
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

// What a step through the input has come to.
enum class Step : std::uint8_t {
  need_input,   // no whole message is buffered: nothing before more input or a cancelled request
  need_output,  // the next event waits until more of the output has left
  again,        // something is done, without an event
  event         // the event is filled in
};

struct LifeOptions {
  std::size_t input_limit = 0;                   // of bytes that wait to be parsed
  std::chrono::milliseconds handshake_limit{0};  // from start() to ready
  std::chrono::milliseconds keep_alive{0};       // longest silence before a no-op; 0 = any
  std::chrono::milliseconds answer_limit{0};     // for its answer
  KeepAlive::Silence silence = KeepAlive::Silence::of_server;
  // How sentences name things: "the server did not answer GREETING in time" and what is to be
  // added; "the server did not answer NO_OP in time".
  std::string_view greeting{};
  std::string_view greeting_hint{};
  std::string_view no_op{};
};

class ConnectionLife {
 public:
  enum class State : std::uint8_t { idle, greeting, accepted, ready, closed };

  // `requests` outlives it.
  ConnectionLife(const LifeOptions& options, OpenRequests& requests);

  InputBuffer& input() noexcept { return input_; }
  const InputBuffer& input() const noexcept { return input_; }
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

  // ---- what the parts of a session decide
  void accept() noexcept { state_ = State::accepted; }
  Step become_ready(Event& event) noexcept;
  // True once the frame has left whole: only then may there be an answer to it.
  bool has_left(OutputQueue::FrameId frame) const noexcept {
    return output_.progress(frame) == OutputQueue::Progress::written;
  }
  void end(CloseReason reason, std::string_view farewell = {});
  // The same for a parser, which has nothing more to do then.
  Step end_with(Reason reason, std::string text, bool permanent = false);
  Step broken(std::string_view what, std::string_view farewell = {});
  // Ends once the event that is being filled in has been polled. Until then nothing is taken.
  void end_after_event(CloseReason reason) noexcept { end_next_ = std::move(reason); }
  // Runs `action`; if memory ends in it, the connection ends.
  template <class Action>
  void guarded(const Action& action) {
    try {
      action();
    } catch (const std::bad_alloc&) {
      end_without_memory();
    }
  }

  // ---- what a session passes on
  void start(Now now) noexcept;
  std::span<std::byte> input_space();
  void on_input(std::size_t size, Now now) noexcept;
  void on_output(std::size_t size, Now now);
  void on_eof();
  // Nothing, if a request may be submitted as far as the state goes.
  std::optional<Reason> not_ready() const noexcept;
  Sent cancel(Ticket ticket);
  std::optional<Deadline> poll_deadline(Deadline own) const noexcept;
  // True if the handshake is over and the connection goes on. The rest of a deadline is the
  // session's: its own chores, then, if ask_no_op() is true, a no-op.
  bool check_handshake();
  bool ask_no_op(Now now);
  // True if there may be input to parse.
  bool parses() {
    if (end_next_ && !closed()) end(std::move(*end_next_));
    return !closed();
  }
  // After the end: an open request that fails, then the end itself.
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
  InputBuffer input_;
  OutputQueue output_;
  KeepAlive keep_alive_;
  Deadline handshake_due_{0};
  std::size_t next_failed_ = 0;  // position among the requests, once closed
  bool end_reported_ = false;
};

}  // namespace sheaf::protocol
