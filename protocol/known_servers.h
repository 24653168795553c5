#pragma once

// KnownServers: the IDs of the servers of a known cluster. An address may pass to another server,
// of another cluster too, so a server is who its ID says and not who its address suggests. Sessions
// ask for the ID in their greeting, and servers with an unknown one are strangers: nothing they say
// counts until a known server names them.
//
// No server is a stranger before the first map, or if it does not say its ID.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sheaf::protocol {

class KnownServers {
 public:
  void assign(std::vector<std::string> ids) {
    ids_ = std::move(ids);
    std::ranges::sort(ids_);
  }
  bool empty() const noexcept { return ids_.empty(); }
  bool has(std::string_view id) const noexcept { return std::ranges::binary_search(ids_, id); }
  bool is_stranger(std::string_view id) const noexcept {
    return !empty() && !id.empty() && !has(id);
  }
  bool operator==(const KnownServers&) const = default;

 private:
  std::vector<std::string> ids_;  // sorted
};

}  // namespace sheaf::protocol
