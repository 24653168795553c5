// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/config/config_change.h"

#include <string>
#include <string_view>
#include <unordered_map>
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

// The servers' weights, by identity.
std::unordered_map<std::string, std::uint32_t> weights_of(const std::vector<NodeConfig>& servers) {
  std::unordered_map<std::string, std::uint32_t> weights;
  for (const NodeConfig& server : servers) weights.emplace(server.identity(), server.weight);
  return weights;
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
  const auto old = weights_of(before);
  const auto present = weights_of(after);
  for (const NodeConfig& server : before) {
    std::string identity = server.identity();
    if (!present.contains(identity)) changes.removed.push_back(std::move(identity));
  }
  for (const NodeConfig& server : after) {
    std::string identity = server.identity();
    const auto found = old.find(identity);
    if (found == old.end()) {
      changes.added.push_back(std::move(identity));
    } else if (found->second != server.weight) {
      changes.reweighted.push_back(std::move(identity));
    }
  }
  return changes;
}

}  // namespace sheaf::cluster
