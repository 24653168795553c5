// Pure: no socket, clock, entropy, thread or callback.

#include "socket/useless_addresses.h"

namespace sheaf::socket {

void UselessAddresses::note(const std::string& address, Deadline now) {
  std::erase_if(until_, [&](const auto& entry) { return entry.second <= now; });
  until_[address] = now + memory;
}

bool UselessAddresses::contains(const std::string& address, Deadline now) const noexcept {
  const auto at = until_.find(address);
  return at != until_.end() && now < at->second;
}

}  // namespace sheaf::socket
