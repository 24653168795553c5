// Pure: no socket, clock, entropy, thread or callback.

#include "client/lock/release_backoff.h"

namespace sheaf::client::lock {

void ReleaseBackoff::released(std::string_view lock, std::chrono::nanoseconds round_trip,
                              double factor, Now now) {
  std::erase_if(not_before_, [&](const auto& entry) { return entry.second <= now.mono; });
  const auto pause = std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(round_trip.count()) * factor));
  not_before_.insert_or_assign(std::string(lock), now.mono + pause);
}

Deadline ReleaseBackoff::may_ask(std::string_view lock) const {
  const auto found = not_before_.find(lock);
  return found == not_before_.end() ? Deadline{0} : found->second;
}

}  // namespace sheaf::client::lock
