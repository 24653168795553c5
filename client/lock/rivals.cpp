// Pure: no socket, clock, entropy, thread or callback.

#include "client/lock/rivals.h"

namespace sheaf::client::lock {

Rivals::Item& Rivals::item(std::string_view lock) {
  const auto found = items_.find(lock);
  if (found != items_.end()) return found->second;
  if (items_.size() >= most_locks) items_.erase(items_.begin());
  return items_[std::string(lock)];
}

void Rivals::note(std::string_view lock) { item(lock); }

Deadline Rivals::note(std::string_view lock, std::uint64_t connection, std::string_view version,
                      std::optional<std::chrono::nanoseconds> wait, Now now) {
  Item& seen = item(lock);
  if (seen.connection != connection || seen.version != version) {
    seen = {connection, std::string(version), wait ? now.mono + *wait : never};
  }
  return seen.free_at;
}

void Rivals::forget(std::string_view lock) {
  const auto found = items_.find(lock);
  if (found != items_.end()) items_.erase(found);
}

}  // namespace sheaf::client::lock
