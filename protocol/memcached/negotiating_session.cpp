// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/negotiating_session.h"

#include <string>
#include <utility>

namespace sheaf::protocol::memcached {
namespace {

std::string both_failed(Way last, const std::string& why, const std::string& other) {
  const bool meta = last == Way::meta;
  if (other.empty() || other == why) return why;
  return "the server speaks neither of memcached's protocols; meta: " + (meta ? why : other) +
         "; binary: " + (meta ? other : why);
}

}  // namespace

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
  switch (negotiation_.on_end(way_, reason_, session().server())) {
    case Negotiation::End::meant:
      break;
    case Negotiation::End::another_way:
      reason_.renegotiates = true;
      break;
    case Negotiation::End::no_way:
      reason_.text = both_failed(way_, reason_.text, negotiation_.other_failure());
      break;
  }
}

}  // namespace sheaf::protocol::memcached
