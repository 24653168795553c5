#pragma once

// What may change in a configuration while its client works: only the servers.
//
// Thread rule: pure functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

namespace sheaf::cluster {

// Names what else differs, in one sentence that begins with the option; nothing if only servers
// differ. Passwords are not compared, because a client does not reveal its own.
std::optional<std::string> fixed_difference(const ClusterConfig& now, const ClusterConfig& wanted);

// Identities, each in the order of the configuration that contains it.
struct ServerChanges {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> reweighted;
  friend bool operator==(const ServerChanges&, const ServerChanges&) = default;
};
ServerChanges changes_of(const std::vector<NodeConfig>& before,
                         const std::vector<NodeConfig>& after);

}  // namespace sheaf::cluster
