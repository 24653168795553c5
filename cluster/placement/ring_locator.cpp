// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/ring_locator.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/checks.h"
#include "base/hash.h"

namespace sheaf::cluster {

RingLocator::RingLocator(std::span<const NodeConfig> nodes) {
  SHEAF_CHECK(!nodes.empty());
  place(nodes);
  fill_buckets();
}

// If two nodes draw the same position, the lesser identity keeps it, whatever the order of the
// configuration.
void RingLocator::place(std::span<const NodeConfig> nodes) {
  std::vector<std::string> identities;
  std::size_t total = 0;
  for (const NodeConfig& node : nodes) {
    identities.push_back(node.identity());
    total += std::size_t{node.weight} * ring_points_per_weight;
  }
  points_.reserve(total);
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    const std::uint32_t count = nodes[node].weight * ring_points_per_weight;
    for (std::uint32_t i = 0; i < count; ++i) {
      points_.push_back({hash32(identities[node], i), node});
    }
  }
  std::ranges::sort(points_, [&](const RingPoint& a, const RingPoint& b) {
    if (a.position != b.position) return a.position < b.position;
    return identities[a.node] < identities[b.node];
  });
  const auto twice = std::ranges::unique(points_, {}, &RingPoint::position);
  points_.erase(twice.begin(), twice.end());
}

void RingLocator::fill_buckets() {
  const auto bits = std::max<unsigned>(1, static_cast<unsigned>(std::bit_width(points_.size())));
  shift_ = 32 - bits;
  buckets_.resize(std::size_t{1} << bits);
  std::uint32_t at = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    const std::uint64_t start = static_cast<std::uint64_t>(bucket) << shift_;
    while (at < points_.size() && points_[at].position < start) ++at;
    buckets_[bucket] = at;
  }
}

const RingPoint& RingLocator::next_point(std::uint32_t position) const noexcept {
  std::uint32_t at = buckets_[position >> shift_];
  while (at < points_.size() && points_[at].position <= position) ++at;
  return points_[at == points_.size() ? 0 : at];
}

Location RingLocator::locate(std::string_view key) const noexcept {
  const RingPoint& point = next_point(hash32(routing_key(key)));
  return {point.node, point.position};
}

std::uint32_t RingLocator::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  const RingPoint& owner = next_point(hash32(routing_key(key)));
  return stand_in_from(points_, static_cast<std::size_t>(&owner - points_.data()), filter);
}

double RingLocator::share(std::uint32_t node) const noexcept { return share_of(points_, node); }

}  // namespace sheaf::cluster
