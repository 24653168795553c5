// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/ring_locator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "base/hash.h"

namespace sheaf::cluster {

// If two nodes draw the same position, the lesser identity keeps it, whatever the order of the
// configuration. So its points come first.
RingLocator::RingLocator(std::span<const NodeConfig> nodes) {
  SHEAF_CHECK(!nodes.empty());
  std::vector<std::pair<std::string, std::uint32_t>> names;
  std::size_t total = 0;
  for (const NodeConfig& node : nodes) {
    names.emplace_back(node.identity(), static_cast<std::uint32_t>(names.size()));
    total += std::size_t{node.weight} * ring_points_per_weight;
  }
  std::ranges::sort(names);
  std::vector<RingPoint> drawn;
  drawn.reserve(total);
  for (const auto& [identity, node] : names) {
    const std::uint32_t count = nodes[node].weight * ring_points_per_weight;
    for (std::uint32_t i = 0; i < count; ++i) drawn.push_back({hash32(identity, i), node});
  }
  ring_ = PointRing(drawn, PointRing::Same::first_stays);
}

Location RingLocator::locate(std::string_view key) const noexcept {
  const RingPoint& point = next_point(hash32(routing_key(key)));
  return {point.node, point.position};
}

std::uint32_t RingLocator::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  return stand_in_from(points(), index_after(hash32(routing_key(key))), filter);
}

double RingLocator::share(std::uint32_t node) const noexcept { return share_of(points(), node); }

}  // namespace sheaf::cluster
