#pragma once

// Procedure: several operations on the store that form one action, such as taking a lock or
// changing a list. It is pure: it says which operations it wants and what it waits for, and is
// given the answers. ProcedureHost runs it; a test may do so by hand.
//
// To run one, repeat: give it an input, then call poll_command until it returns false; set the
// timer to poll_deadline and the watch to watched_key. No member calls back; after an input nothing
// happens until the outputs have been polled.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <memory>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "protocol/operation.h"
#include "socket/completion.h"

namespace sheaf::client::calls {

// An operation to start now. Its views live until its answer has been given. The procedure chooses
// the deadline.
struct Command {
  unsigned id = 0;  // chosen by the procedure; not one that is in flight
  protocol::Operation operation;
  std::string_view route;        // decides the node instead of the key; empty = the key
  bool at_owner = true;          // never sent to a substitute for a node that is down
  std::uint64_t connection = 0;  // only on this one (Completion::connection); 0 = any
};

class Procedure {
 public:
  virtual ~Procedure() = default;

  // Inputs. Views in `answer` live during the call; its `now` is the current time. Each command
  // gets exactly one answer, even after done().
  virtual void start(Now now) = 0;
  virtual void on_answer(unsigned id, const socket::Completion& answer) = 0;
  virtual void on_deadline(Now now) = 0;
  // The watched key has changed, or may have.
  virtual void on_hint(Now) {}
  // A connection that carried an answer has ended; the node may have lost its memory meanwhile.
  virtual void on_connection_ended(std::uint64_t, Now) {}
  // The caller's stop token was stopped: the procedure is to be done as soon as it knows its
  // outcome. If this returns true, every operation in flight ends now with an answer
  // (Reason::cancelled), before the outputs are polled again. If false, the procedure continues,
  // but its outcome is not reported.
  virtual bool on_cancel(Now) { return true; }
  // The client closes: the procedure wants nothing more, and is done once everything in flight is
  // answered.
  virtual void on_shutdown(Now now) = 0;

  // Outputs.
  virtual bool poll_command(Command& command) = 0;
  virtual Deadline poll_deadline() const = 0;                  // `never` = none
  virtual std::string_view watched_key() const { return {}; }  // empty = none
  // True once the outcome is final. Commands that no caller waits for may still be wanted or in
  // flight.
  virtual bool done() const = 0;

  // The observer's parent of the call that makes these requests; null if no call does, or several
  // do.
  void set_parent(std::shared_ptr<void> parent) noexcept { parent_ = std::move(parent); }
  const std::shared_ptr<void>& parent() const noexcept { return parent_; }

 private:
  std::shared_ptr<void> parent_;
};

}  // namespace sheaf::client::calls
