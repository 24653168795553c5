// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/topology.h"

namespace sheaf::cluster {

Topology::Topology(const ClusterConfig& config, std::uint64_t epoch)
    : epoch_(epoch), locator_(make_locator(config)) {
  workers_.reserve(config.nodes.size() + 1);
  workers_.emplace_back();
  for (const NodeConfig& node : config.nodes) {
    workers_.push_back({node.identity(), node.weight, epoch});
  }
}

std::shared_ptr<const Topology> Topology::make(const ClusterConfig& config, std::uint64_t epoch) {
  return std::shared_ptr<const Topology>(new Topology(config, epoch));
}

}  // namespace sheaf::cluster
