#pragma once

// Tracking: makes the keys of a connection watchable. It sends the server CLIENT TRACKING once.
// From then on the server remembers each key that this connection reads, sends one push when the
// key is written, removed, evicted or expired, and forgets it. So a watched key is read after each
// push, which makes the server remember it again.
//
// | state   | input                            | then                         | next    |
// |---------|----------------------------------|------------------------------|---------|
// | unasked | a key is to be watched, in RESP3 | CLIENT TRACKING ON is first  | asked   |
// | unasked | the same in RESP2, which has no  | the answer says: polls       | unasked |
// |         | pushes                           |                              |         |
// | asked   | OK                               |                              | on      |
// | asked   | an error: it is unknown or not   | the same                     | refused |
// |         | allowed                          |                              |         |
//
// If the server does not notify, the watcher reads the key now and then (Reply::polls).
//
// A push names keys, or none, which means all: the server has forgotten what it remembered, or all
// of its keys are gone.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>

#include "protocol/resp/wire/reply_tree.h"
#include "protocol/session.h"

namespace sheaf::protocol::resp {

class Tracking {
 public:
  // A key is to be watched, on a connection that speaks this version of RESP. If true, CLIENT
  // TRACKING ON must be sent first; call on_asked() when it was.
  bool must_ask(std::uint8_t protocol) const noexcept {
    return state_ == State::unasked && protocol == 3;
  }
  void on_asked() noexcept { state_ = State::asked; }
  // Handles the reply to it; false if this is another reply.
  bool on_reply(const Value& reply) noexcept;
  // True if the server sends no notifications; watches answered now report that.
  bool polls() const noexcept { return state_ != State::on; }

  // Handles a push. Returns false if it is not about keys. Else next() returns a notification for
  // each key, whose views live as long as those of `push`.
  bool on_push(const Value& push) noexcept;
  bool next(Notification& notification) noexcept;

 private:
  enum class State : std::uint8_t { unasked, asked, on, refused };

  State state_ = State::unasked;
  bool all_ = false;  // the push is about every key
  Value::Iterator key_{};
  Value::Iterator end_{};  // end of the push's keys
};

}  // namespace sheaf::protocol::resp
