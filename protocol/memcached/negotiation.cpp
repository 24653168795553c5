// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/negotiation.h"

#include <utility>

namespace sheaf::protocol::memcached {
namespace {

// True if a connection ended because the server may speak another protocol. A server that has named
// its version has understood us and means its answer, unless it is too old for meta.
bool not_understood(Way way, const CloseReason& reason, const ServerFacts& server) noexcept {
  if (reason.reason == Reason::closed || reason.reason == Reason::timed_out) return false;
  if (reason.permanent && reason.reason == Reason::authentication) return false;
  if (reason.other_kind) return false;
  return !server.version || (way == Way::meta && !server.at_least(meta_since));
}

}  // namespace

void Negotiation::expect_password(bool with_password) noexcept {
  if (std::exchange(with_password_, with_password) == with_password || proven_) return;
  next_ = first();
  other_failed_ = false;
}

Way Negotiation::after(Way way) const noexcept {
  switch (way) {
    case Way::question:
      return Way::question;
    case Way::meta:
      return with_password_ ? Way::question : Way::binary;
    case Way::binary:
      return first();
  }
  return first();
}

void Negotiation::on_answer(Dialect answered) noexcept {
  next_ = answered == Dialect::this_one ? Way::binary : Way::meta;
}

void Negotiation::on_ready(Way way) noexcept {
  next_ = way;
  proven_ = true;
}

Negotiation::End Negotiation::on_end(Way way, const CloseReason& reason,
                                     const ServerFacts& server) {
  if (way == Way::question || !not_understood(way, reason, server)) return End::meant;
  if (way != next_) return End::another_way;
  const bool excused = proven_ || !other_failed_;
  next_ = after(way);
  proven_ = false;
  other_failed_ = !other_failed_;
  if (excused) other_failure_ = reason.text;
  return excused ? End::another_way : End::no_way;
}

}  // namespace sheaf::protocol::memcached
