#pragma once

// A procedure: several operations on the store that make up one thing, as taking a lock or changing
// a list. It is pure: it says which operations it wants and what it waits for, and hears how they
// ended. ProcedureHost carries it out; a test may do so by hand.
//
// Whoever runs one repeats: an input, then poll_command until false; and sets its timer to
// poll_deadline, its watch to watched_key. No member calls back; after an input nothing happens
// until the outputs have been polled.
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

// An operation to be started now. Its views live until its answer has been given. Its deadline is
// the procedure's choice.
struct Command {
  unsigned id = 0;  // the procedure's own name for it; not one that is in flight
  protocol::Operation operation;
  std::string_view route;        // what places it instead of its key; empty = the key
  bool at_owner = true;          // never a stand-in for a node that is down
  std::uint64_t connection = 0;  // only on this one (Completion::connection); 0 = on any
};

class Procedure {
 public:
  virtual ~Procedure() = default;

  // Inputs. Views in `answer` live during the call; its `now` is the present. An answer comes
  // exactly once for each command, also after done().
  virtual void start(Now now) = 0;
  virtual void on_answer(unsigned id, const socket::Completion& answer) = 0;
  virtual void on_deadline(Now now) = 0;
  // The watched key changed, or may have.
  virtual void on_hint(Now) {}
  // A connection that carried an answer has ended; the node may have lost its memory meanwhile.
  virtual void on_connection_ended(std::uint64_t, Now) {}
  // Its caller gave a stop token, which was asked to stop: it is done as soon as that is honest.
  // True: what is in flight ends now, each with its answer (Reason::cancelled), before the outputs
  // are polled again. False: it goes on unheard.
  virtual bool on_cancel(Now) { return true; }
  // The client closes: wants nothing more, and is done as soon as what is in flight is answered.
  virtual void on_shutdown(Now now) = 0;

  // Outputs.
  virtual bool poll_command(Command& command) = 0;
  virtual Deadline poll_deadline() const = 0;                  // `never` = none
  virtual std::string_view watched_key() const { return {}; }  // empty = none
  // Its outcome stands; commands may still be in flight, or wanted, that nobody waits for.
  virtual bool done() const = 0;

  // What an observer gave the call whose requests these are; null: they are of none, or of several.
  void set_parent(std::shared_ptr<void> parent) noexcept { parent_ = std::move(parent); }
  const std::shared_ptr<void>& parent() const noexcept { return parent_; }

 private:
  std::shared_ptr<void> parent_;
};

}  // namespace sheaf::client::calls
