// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/renewal.h"

#include <utility>

#include "protocol/resp/greeting/handshake.h"

namespace sheaf::protocol::resp {

void Renewal::renew() {
  if (asked_ || login_.present() == nullptr || !login_.stale()) return;
  queue_.reserve(1);
  const OutputQueue::FrameId frame = write_auth(commands_, *login_.take());
  Pending& request = queue_.add(false);
  request.question = Question::login;
  request.frame = frame;
  asked_ = true;
}

std::optional<CloseReason> Renewal::on_reply(const Value& reply) {
  asked_ = false;
  const bool granted = reply.is_status("OK");
  if (!granted && !reply.is_error()) {
    return CloseReason{Reason::protocol_error,
                       "the server broke the protocol: an unexpected reply to AUTH"};
  }
  if (login_.stale() && login_.present() != nullptr) {
    renew();
    return std::nullopt;
  }
  if (granted) return std::nullopt;
  return refusal_of("AUTH", ServerError::parse(reply.text()), login_.get());
}

}  // namespace sheaf::protocol::resp
