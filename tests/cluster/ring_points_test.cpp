#include "cluster/placement/ring_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace sheaf::cluster {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs pairs_of(std::span<const RingPoint> points) {
  Pairs pairs;
  for (const RingPoint& point : points) pairs.emplace_back(point.position, point.node);
  return pairs;
}

std::vector<RingPoint> sorted(std::vector<RingPoint> points) {
  std::ranges::stable_sort(points, {}, &RingPoint::position);
  return points;
}

// Few positions give many equal ones; positions that are close share a bucket.
TEST(PointRing, IsAStableSort) {
  Random random(7);
  for (const std::uint32_t range : {1u, 5u, 1'000u, 0xffff'ffffu}) {
    for (const std::size_t count : {1, 2, 3, 50, 700}) {
      std::vector<RingPoint> drawn;
      for (std::uint32_t node = 0; node < count; ++node) {
        const std::uint32_t position = random.u32() % range;
        drawn.push_back({node % 2 == 0 ? position : ~position, node});
      }
      std::vector<RingPoint> expected = sorted(drawn);
      EXPECT_EQ(pairs_of(PointRing(drawn, PointRing::Same::stay).points()), pairs_of(expected));
      const auto twice = std::ranges::unique(expected, {}, &RingPoint::position);
      expected.erase(twice.begin(), twice.end());
      EXPECT_EQ(pairs_of(PointRing(drawn, PointRing::Same::first_stays).points()),
                pairs_of(expected));
    }
  }
}

TEST(PointRing, FindsThePointThatASearchFinds) {
  Random random(8);
  for (const std::size_t count : {1, 2, 3, 64, 1'000}) {
    std::vector<RingPoint> drawn;
    for (std::uint32_t node = 0; node < count; ++node) drawn.push_back({random.u32(), node});
    drawn.push_back({drawn.front().position, 9'999});
    for (const auto same : {PointRing::Same::stay, PointRing::Same::first_stays}) {
      const PointRing ring(drawn, same);
      const auto check = [&](std::uint32_t position) {
        const auto at = std::ranges::lower_bound(ring.points(), position, {}, &RingPoint::position);
        const auto expected = at == ring.points().end() ? 0 : at - ring.points().begin();
        ASSERT_EQ(ring.first_from(position), static_cast<std::size_t>(expected)) << position;
      };
      for (int i = 0; i < 2'000; ++i) check(random.u32());
      for (const RingPoint& point : ring.points()) {
        for (const std::uint32_t off : {0u, 1u, ~0u}) check(point.position + off);
      }
      check(0);
      check(~0u);
    }
  }
}

}  // namespace
}  // namespace sheaf::cluster
