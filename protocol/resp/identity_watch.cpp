// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/identity_watch.h"

namespace sheaf::protocol::resp {

// Servers that only know RESP2 do not know HELLO.
bool IdentityWatch::has_role() const noexcept {
  return !server_.cluster && server_.role == Role::primary && server_.protocol == 3;
}

void IdentityWatch::before_request(Now now) {
  if (options_.handshake.readonly || state_ != State::idle || now.mono < ask_at_) return;
  const bool greeted_lately = ask_at_ == Deadline{0};
  ask_at_ = now.mono + options_.identity_interval;
  if (greeted_lately || !(has_id() || has_role())) return;
  queue_.reserve(1);
  const OutputQueue::FrameId frame =
      has_id() ? commands_.write({"CLUSTER", "MYID"}) : commands_.write({"HELLO"});
  Pending& request = queue_.add(false);
  request.question = Question::identity;
  request.frame = frame;
  state_ = State::asked;
}

bool IdentityWatch::on_reply(const Value& reply) {
  const bool fits = has_id() ? reply.is_text() : reply.is(Type::map) || reply.is(Type::array);
  if (!fits && !reply.is_error()) return false;
  state_ = fits ? State::idle : State::off;
  if (!fits) return true;
  const bool other =
      has_id() ? reply.text() != server_.id : ServerFacts::of_hello(reply).role == Role::replica;
  changed_ = changed_ || other;
  return true;
}

}  // namespace sheaf::protocol::resp
