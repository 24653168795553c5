// Pure: no socket, clock, entropy, thread or callback.

#include "store/server/outgoing_window.h"

#include <utility>

namespace sheaf::store::server {

std::optional<std::uint16_t> OutgoingWindow::acquire() {
  if (in_flight_ >= receive_maximum_) return std::nullopt;
  if (used_.empty()) used_.resize(65536);
  do {
    ++last_id_;  // wraps; at least one is free, because of the check above
  } while (last_id_ == 0 || used_[last_id_]);
  used_[last_id_] = true;
  ++in_flight_;
  return last_id_;
}

bool OutgoingWindow::release(std::uint16_t id) {
  if (used_.empty() || !used_[id]) return false;
  used_[id] = false;
  --in_flight_;
  return true;
}

bool OutgoingWindow::push(Waiting waiting) {
  if (waiting_.size() >= max_waiting_ || waiting.packet.size() > max_bytes_ - bytes_) return false;
  bytes_ += waiting.packet.size();
  waiting_.push_back(std::move(waiting));
  return true;
}

std::optional<std::string> OutgoingWindow::pop() {
  if (waiting_.empty()) return std::nullopt;
  const std::optional<std::uint16_t> id = acquire();
  if (!id) return std::nullopt;
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  bytes_ -= first.packet.size();
  first.packet[first.id_at] = static_cast<char>(*id >> 8);
  first.packet[first.id_at + 1] = static_cast<char>(*id & 0xFF);
  return std::move(first.packet);
}

}  // namespace sheaf::store::server
