// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/negotiating_session.h"

#include <utility>

namespace sheaf::protocol::memcached {

bool NegotiatingSession::poll_event(Event& event) {
  if (answered_ && ended_) return false;
  if (!session().poll_event(event)) return false;
  const bool over = event.kind == Event::Kind::closed;
  if (way_ == Way::question) {
    const Dialect dialect = session().server().dialect;
    if (event.kind == Event::Kind::ready || (over && dialect != Dialect::unknown)) {
      on_answer(dialect, event);
    }
    return true;
  }
  if (event.kind == Event::Kind::ready) {
    was_ready_ = true;
    negotiation_.on_ready(way_);
  }
  if (over && !was_ready_) on_end();
  return true;
}

// The session has done its work. We end the connection ourselves.
void NegotiatingSession::on_answer(Dialect answered, Event& event) {
  negotiation_.on_answer(answered);
  answered_ = ended_ = true;
  reason_ = {Reason::connect_failed,
             "the connection only had to find out which log-in the server takes"};
  reason_.renegotiates = true;
  event = Event{};
  event.kind = Event::Kind::closed;
}

void NegotiatingSession::on_end() {
  ended_ = true;
  reason_ = session().close_reason();
  const bool another_way = negotiation_.on_end(way_, reason_, session().server());
  reason_.renegotiates = reason_.renegotiates || another_way;
}

}  // namespace sheaf::protocol::memcached
