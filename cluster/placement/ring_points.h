#pragma once

// PointRing: points on a ring of 2^32 positions, which all rings share. A table of buckets, by the
// leading bits of a position, finds a point without a search, and sorts points when it is made.
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/placement/locator.h"

namespace sheaf::cluster {

struct RingPoint {
  std::uint32_t position;
  std::uint32_t node;
};

class PointRing {
 public:
  // What becomes of points at one position.
  enum class Same : std::uint8_t { stay, first_stays };

  PointRing() = default;
  // At least one point. Those at one position keep their order.
  PointRing(std::span<const RingPoint> drawn, Same same);

  // Sorted by position.
  std::span<const RingPoint> points() const noexcept { return points_; }
  // The index of the first point that is not before a position; wraps at the end of the ring.
  std::size_t first_from(std::uint32_t position) const noexcept {
    std::size_t at = buckets_[position >> shift_];
    while (at < points_.size() && points_[at].position < position) ++at;
    return at < points_.size() ? at : 0;
  }

 private:
  void scatter(std::span<const RingPoint> drawn);
  void sort(Same same);

  std::vector<RingPoint> points_;
  std::vector<std::uint32_t> buckets_;  // the first point that is not before the bucket
  unsigned shift_ = 31;
};

// The node of the first point from `at` on, with wrap-around, that takes requests; the node of `at`
// if none does.
inline std::uint32_t stand_in_from(std::span<const RingPoint> points, std::size_t at,
                                   const NodeFilter& filter) noexcept {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint32_t node = points[(at + i) % points.size()].node;
    if (filter.takes(node)) return node;
  }
  return points[at].node;
}

// A point owns the positions from the point before it up to itself; the later of two points at one
// position owns none. `points` are sorted by position.
inline double share_of(std::span<const RingPoint> points, std::uint32_t node) noexcept {
  std::uint64_t own = 0;
  std::uint32_t before = points.back().position;
  for (const RingPoint& point : points) {
    const std::uint32_t arc = point.position - before;  // modulo 2^32
    if (point.node == node) own += points.size() == 1 ? std::uint64_t{1} << 32 : arc;
    before = point.position;
  }
  return static_cast<double>(own) / 4'294'967'296.0;
}

}  // namespace sheaf::cluster
