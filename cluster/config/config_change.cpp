// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/config/config_change.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cluster/config/config_options.h"

namespace sheaf::cluster {

namespace {

using Same = bool (*)(const ClusterConfig&, const ClusterConfig&);

template <auto Member>
bool same(const ClusterConfig& left, const ClusterConfig& right) {
  return left.*Member == right.*Member;
}

// The choices that are not options, or that only the engine reads.
constexpr std::pair<std::string_view, Same> other_choices[] = {
    {"the kind of servers", same<&ClusterConfig::kind>},
    {"TLS", same<&ClusterConfig::tls>},
    {"the user", same<&ClusterConfig::user>},
    {"an option of the engines", same<&ClusterConfig::engine_options>},
};

const NodeConfig* find(const std::vector<NodeConfig>& servers, const std::string& identity) {
  const auto found = std::ranges::find(servers, identity, &NodeConfig::identity);
  return found == servers.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> fixed_difference(const ClusterConfig& now, const ClusterConfig& wanted) {
  std::string_view what;
  for (const auto& [name, is_same] : other_choices) {
    if (what.empty() && !is_same(now, wanted)) what = name;
  }
  for (const Option& option : option_table()) {
    if (!what.empty()) break;
    if (option.access.get == nullptr) continue;
    if (option.access.get(now) != option.access.get(wanted)) what = option.name;
  }
  if (what.empty()) return std::nullopt;
  return std::string(what) +
         " differs, but only servers and their weights can change while a client works";
}

ServerChanges changes_of(const std::vector<NodeConfig>& before,
                         const std::vector<NodeConfig>& after) {
  ServerChanges changes;
  for (const NodeConfig& server : before) {
    if (find(after, server.identity()) == nullptr) changes.removed.push_back(server.identity());
  }
  for (const NodeConfig& server : after) {
    const NodeConfig* const old = find(before, server.identity());
    if (old == nullptr) {
      changes.added.push_back(server.identity());
    } else if (old->weight != server.weight) {
      changes.reweighted.push_back(server.identity());
    }
  }
  return changes;
}

}  // namespace sheaf::cluster
