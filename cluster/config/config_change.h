#pragma once

// What may change of a configuration while its client works: the servers, and nothing else.
//
// Thread rule: pure functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

namespace sheaf::cluster {

// What else differs, one sentence that begins with the option; none: only servers do. Passwords are
// not looked at: a client keeps its own to itself.
std::optional<std::string> fixed_difference(const ClusterConfig& now, const ClusterConfig& wanted);

// Identities, each in the order of the configuration that has it.
struct ServerChanges {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> reweighted;
  friend bool operator==(const ServerChanges&, const ServerChanges&) = default;
};
ServerChanges changes_of(const std::vector<NodeConfig>& before,
                         const std::vector<NodeConfig>& after);

}  // namespace sheaf::cluster
