#pragma once

// Register: a list's head as something that can be compared and set, with the segments and items
// around it. Each kind of endpoint has its own way: the state store locks, claims and fences;
// others compare versions.
//
// One attempt:   open -> opened | failed
//                exchange, any number -> done | lost | failed
//                commit -> done (the attempt goes on, with the new head) | lost | unknown | failed
//                close, at any time
// After lost, unknown and failed it is closed. What was asked for is answered by exactly one event;
// close() takes back the question.
//
// It is pure, and is carried out as a Procedure is: its inputs and outputs are passed on by the
// procedure that holds it.
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
    done,     // what was asked for; see head() and values()
    lost,     // nothing of this attempt takes effect any more; try again
    unknown,  // of a commit: it may have taken effect, or may yet
    failed    // nothing of this attempt takes effect, and trying again is of no use
  };
  Kind kind = Kind::none;
  Error error;  // lost, unknown, failed: why
};

struct KeyAndValue {
  std::string key;
  std::string value;
};

class Register {
 public:
  virtual ~Register() = default;

  // Inputs. `until`: when the last of those who wait gives up.
  virtual void open(Deadline until, Now now) = 0;
  // While it opens: somebody who waits longer has come.
  virtual void prolong(Deadline until) = 0;
  // Reads and writes side by side, whatever their number.
  virtual void exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts,
                        Deadline until, Now now) = 0;
  virtual void commit(Head head, Deadline until, Now now) = 0;
  // Lets others change the list; not waited for. `until`: not tried any longer.
  virtual void close(Deadline until, Now now) = 0;

  virtual RegisterEvent poll_event() = 0;

  // While open.
  virtual const Head& head() const = 0;
  // Of the last exchange, one for each get.
  virtual const std::vector<std::optional<std::string>>& values() const = 0;
  // It is an old one: the next open() reads it.
  virtual void distrust_head() noexcept = 0;
  // Changes when what was read before may not be there any more.
  virtual std::uint64_t incarnation() const = 0;
  // What close() began is in flight.
  virtual bool closing() const = 0;
  // When this attempt should make room for others; `never` if it is in nobody's way.
  virtual Deadline good_until() const = 0;

  // As of Procedure.
  virtual void on_answer(unsigned id, const socket::Completion& answer) = 0;
  virtual void on_deadline(Now now) = 0;
  virtual void on_hint(Now now) = 0;
  virtual bool poll_command(calls::Command& command) = 0;
  virtual Deadline poll_deadline() const = 0;
  virtual std::string_view watched_key() const = 0;
};

}  // namespace sheaf::client::list
