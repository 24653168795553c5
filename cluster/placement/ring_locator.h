#pragma once

// The other locator: every node has weight x 160 points on a ring of 2^32, and a key belongs to the
// first point after its hash. Formula: docs/wire/locators.md, "Ring".
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <span>

#include "cluster/placement/locator.h"
#include "cluster/placement/ring_points.h"

namespace sheaf::cluster {

inline constexpr std::uint32_t ring_points_per_weight = 160;
// The limit for the sum of all weights. It bounds the memory of a ring.
inline constexpr std::uint32_t max_ring_weight = 16'384;

class RingLocator final : public ClientNodeLocator {
 public:
  explicit RingLocator(std::span<const NodeConfig> nodes);

  Location locate(std::string_view key) const noexcept override;
  std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept override;
  double share(std::uint32_t node) const noexcept override;

  // Sorted by position, each position once.
  std::span<const RingPoint> points() const noexcept { return ring_.points(); }
  // The first point after a position; wraps at the end of the ring.
  const RingPoint& next_point(std::uint32_t position) const noexcept {
    return points()[index_after(position)];
  }

 private:
  std::size_t index_after(std::uint32_t position) const noexcept {
    return position == ~std::uint32_t{0} ? 0 : ring_.first_from(position + 1);
  }

  PointRing ring_;
};

}  // namespace sheaf::cluster
