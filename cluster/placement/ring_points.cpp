// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/ring_points.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/checks.h"

namespace sheaf::cluster {

PointRing::PointRing(std::span<const RingPoint> drawn, Same same)
    : points_(drawn.size()), shift_(32 - static_cast<unsigned>(std::bit_width(drawn.size()))) {
  SHEAF_CHECK(!drawn.empty() && drawn.size() < (std::size_t{1} << 31));
  buckets_.resize(std::size_t{1} << (32 - shift_));
  scatter(drawn);
  sort(same);
}

// Puts every point into its bucket. Afterwards an entry of the table is the end of its bucket.
void PointRing::scatter(std::span<const RingPoint> drawn) {
  for (const RingPoint& point : drawn) ++buckets_[point.position >> shift_];
  std::uint32_t start = 0;
  for (std::uint32_t& bucket : buckets_) start += std::exchange(bucket, start);
  for (const RingPoint& point : drawn) points_[buckets_[point.position >> shift_]++] = point;
}

// Positions are hashes and there are more buckets than points, so a bucket has few. Insertion keeps
// the order of equal ones.
void PointRing::sort(Same same) {
  std::size_t from = 0;
  std::uint32_t out = 0;
  for (std::uint32_t& bucket : buckets_) {
    const std::size_t end = std::exchange(bucket, out);
    for (; from < end; ++from) {
      const RingPoint point = points_[from];
      std::uint32_t at = out;
      while (at > bucket && points_[at - 1].position > point.position) --at;
      const bool twice = at > bucket && points_[at - 1].position == point.position;
      if (twice && same == Same::first_stays) continue;
      for (std::uint32_t i = out++; i > at; --i) points_[i] = points_[i - 1];
      points_[at] = point;
    }
  }
  points_.resize(out);
}

}  // namespace sheaf::cluster
