#pragma once

// Tracking: what a connection does so that its keys can be watched. It asks the server once for
// CLIENT TRACKING: from then on the server remembers each key that this connection reads, sends one
// push when the key is written, removed or evicted or its life is over, and forgets it. So a
// watched key is read after each push, which makes the server remember it again.
//
// | state   | input                            | then                         | next    |
// |---------|----------------------------------|------------------------------|---------|
// | unasked | a key is to be watched, in RESP3 | CLIENT TRACKING ON is first  | asked   |
// | unasked | the same in RESP2, which has no  | the answer says: polls       | unasked |
// |         | pushes                           |                              |         |
// | asked   | OK                               |                              | on      |
// | asked   | an error: it is not known or not | the same                     | refused |
// |         | allowed                          |                              |         |
//
// Where the server does not notify, whoever watches reads the key now and then (Reply::polls).
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
  // A key is to be watched, on a connection that speaks this version of RESP. True: CLIENT TRACKING
  // ON has to be sent before it; on_asked() says that it was.
  bool must_ask(std::uint8_t protocol) const noexcept {
    return state_ == State::unasked && protocol == 3;
  }
  void on_asked() noexcept { state_ = State::asked; }
  // The reply to that; false if it is none.
  bool on_reply(const Value& reply) noexcept;
  // Answers to watches that come now: the server sends no notifications.
  bool polls() const noexcept { return state_ != State::on; }

  // A push. False: it says nothing about keys. Else next() has a notification for each, whose views
  // live as long as those of `push`.
  bool on_push(const Value& push) noexcept;
  bool next(Notification& notification) noexcept;

 private:
  enum class State : std::uint8_t { unasked, asked, on, refused };

  State state_ = State::unasked;
  bool all_ = false;  // the push is about every key
  Value::Iterator key_{};
  Value::Iterator end_{};  // of the keys of the push
};

}  // namespace sheaf::protocol::resp
