// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/tracking.h"

#include <algorithm>

namespace sheaf::protocol::resp {

bool Tracking::on_reply(const Value& reply) noexcept {
  if (!reply.is_status("OK") && !reply.is_error()) return false;
  state_ = reply.is_error() ? State::refused : State::on;
  return true;
}

bool Tracking::on_push(const Value& push) noexcept {
  key_ = end_ = {};
  const auto kind = push.at(0);
  const auto keys = push.at(1);
  if (state_ != State::on || push.size() != 2 || kind->text() != "invalidate") return false;
  all_ = keys->is_null();
  if (!keys->is(Type::array)) return all_;
  const bool good = std::ranges::all_of(*keys, [](const Value& key) { return key.is(Type::text); });
  if (good) {
    key_ = keys->begin();
    end_ = keys->end();
  }
  return good;
}

bool Tracking::next(Notification& notification) noexcept {
  notification = {};
  notification.kind = Notification::Kind::touched;
  if (all_) {
    all_ = false;
    return true;
  }
  for (; key_ != end_; ++key_) {
    notification.key = (*key_).text();
    if (notification.key.empty()) continue;  // no key that can be watched
    ++key_;
    return true;
  }
  return false;
}

}  // namespace sheaf::protocol::resp
