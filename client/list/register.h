#pragma once

// Register: a list's head as a value that can be compared and set, and the segments and items that
// it names. Each kind of endpoint has its own: the state store locks, claims and fences; others
// compare versions.
//
// One attempt:   open -> opened | failed
//                exchange, any number -> done | lost | failed
//                commit -> done (still open, with the new head) | lost | unknown | failed
//                close, at any time
// After lost, unknown and failed the attempt is closed. Every request is answered by exactly one
// event; close() withdraws the request.
//
// It is pure, and runs as a Procedure does: the procedure that holds it passes on its inputs and
// outputs.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <optional>
#include <string>
#include <vector>

#include <sheaf/result.h>

#include "client/calls/procedure.h"
#include "client/list/format.h"

namespace sheaf::client::list {

struct RegisterEvent {
  enum class Kind : std::uint8_t {
    none,
    done,     // the request succeeded; see head() and values()
    lost,     // nothing of this attempt will take effect; try again
    unknown,  // a commit may have taken effect, or may still do so
    failed    // nothing of this attempt will take effect, and trying again is useless
  };
  Kind kind = Kind::none;
  Error error;  // lost, unknown, failed: why
};

struct KeyAndValue {
  std::string key;
  std::string value;
  bool persist = false;
};

class Register {
 public:
  virtual ~Register() = default;

  // Inputs. `until`: when the last waiting edit gives up.
  virtual void open(Deadline until, Now now) = 0;
  // While it opens: an edit with a later deadline has come.
  virtual void prolong(Deadline until) = 0;
  // Reads and writes in parallel, in any number.
  virtual void exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts,
                        Deadline until, Now now) = 0;
  virtual void commit(Head head, Deadline until, Now now) = 0;
  // Lets others change the list; the caller does not wait for it. It is tried until `until`.
  virtual void close(Deadline until, Now now) = 0;

  virtual RegisterEvent poll_event() = 0;

  // Valid while open.
  virtual const Head& head() const = 0;
  // The values of the last exchange, one for each get.
  virtual const std::vector<std::optional<std::string>>& values() const = 0;
  // The head turned out to be old: the next open() reads it.
  virtual void distrust_head() noexcept = 0;
  // Changes when something that was read before may have disappeared.
  virtual std::uint64_t incarnation() const = 0;
  // True while a request that close() sent is in flight.
  virtual bool closing() const = 0;
  // When this attempt should make room for others; `never` if it holds up no one else.
  virtual Deadline good_until() const = 0;

  // As in Procedure.
  virtual void on_answer(unsigned id, const socket::Completion& answer) = 0;
  virtual void on_deadline(Now now) = 0;
  virtual void on_hint(Now now) = 0;
  virtual bool poll_command(calls::Command& command) = 0;
  virtual Deadline poll_deadline() const = 0;
  virtual std::string_view watched_key() const = 0;
};

}  // namespace sheaf::client::list
