#pragma once

// AllowedHosts: the hosts to which a redirect may lead. A server can name any address, and the host
// at that address would get the password and the values. So only hosts that the configuration or
// the map names as part of the cluster are trusted, whatever the port. Hosts that the map names in
// addition to the owners of slots are known to its source (MapSource::names).
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: immutable once made; any thread.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>

#include "cluster/placement/topology.h"

namespace sheaf::cluster {

class AllowedHosts {
 public:
  AllowedHosts() = default;  // only the members' hosts
  // The hosts of these servers, too.
  explicit AllowedHosts(std::span<const NodeConfig> servers) {
    for (const NodeConfig& server : servers) hosts_.push_back(server.host);
  }

  bool allows(std::string_view host, std::span<const Member> members) const {
    return std::ranges::find(hosts_, host) != hosts_.end() ||
           std::ranges::find(members, host, &Member::host) != members.end();
  }

 private:
  std::vector<std::string> hosts_;
};

}  // namespace sheaf::cluster
