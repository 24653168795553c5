#pragma once

// Shared by all rings of points.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <span>

#include "cluster/placement/locator.h"

namespace sheaf::cluster {

struct RingPoint {
  std::uint32_t position;
  std::uint32_t node;
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
