// Durations in ranges, each accurate to 1 % whatever the duration.

#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

TEST(Histogram, RangesFollowEachOtherWithoutAGap) {
  std::size_t last = Histogram::index_of(0);
  EXPECT_EQ(last, 0u);
  for (std::uint64_t value = 1; value < 1u << 16; ++value) {
    const std::size_t index = Histogram::index_of(value);
    ASSERT_TRUE(index == last || index == last + 1) << value;
    ASSERT_GE(value, Histogram::lower_of(index));
    ASSERT_LT(value, Histogram::lower_of(index + 1));
    last = index;
  }
}

TEST(Histogram, TheMiddleOfARangeIsWithinOnePercentOfEverythingInIt) {
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = 1 + random.below(std::uint64_t{1} << (1 + random.below(42)));
    const std::size_t index = Histogram::index_of(value);
    const double middle =
        static_cast<double>(Histogram::lower_of(index) + Histogram::lower_of(index + 1)) / 2;
    // Ranges below 128 ns are one nanosecond wide.
    ASSERT_LE(std::abs(middle - static_cast<double>(value)),
              std::max(0.5, 0.01 * static_cast<double>(value)));
  }
}

TEST(Histogram, CountsAndSumsAndCutsWhatIsTooLong) {
  Histogram histogram;
  EXPECT_EQ(histogram.snapshot().quantile(0.5), 0ns);
  for (const auto duration : {10us, 10us, 30us}) histogram.record(duration);
  histogram.record(24h);
  histogram.record(-5ns);
  const LatencyHistogram all = histogram.snapshot();
  EXPECT_EQ(all.count, 5u);
  EXPECT_EQ(all.sum, 24h + 50us - 5ns);
  ASSERT_EQ(all.ranges.size(), 4u);
  EXPECT_EQ(all.ranges[1].count, 2u);
  EXPECT_LE(all.ranges[1].lower, 10us);
  EXPECT_GT(all.ranges[1].upper, 10us);
  EXPECT_GT(all.quantile(1), 1h);
}

TEST(Histogram, ARangeCountsPast32Bits) {
  Histogram histogram;
  for (int i = 0; i < 3; ++i) histogram.record(20us, 0xFFFF'FFFF);
  histogram.record(20us);
  histogram.record(5ms, 7);
  const LatencyHistogram all = histogram.snapshot();
  EXPECT_EQ(all.count, 3 * 0xFFFF'FFFFull + 8);
  ASSERT_EQ(all.ranges.size(), 2u);
  EXPECT_EQ(all.ranges[0].count, 3 * 0xFFFF'FFFFull + 1);
  EXPECT_EQ(all.ranges[1].count, 7u);
}

// Every range, in an order that makes blocks from both ends.
TEST(Histogram, CountsEveryRangeApart) {
  Histogram histogram;
  const std::size_t ranges = Histogram::index_of((std::uint64_t{1} << 42) - 1) + 1;
  const auto record = [&histogram](std::size_t range, std::uint32_t times) {
    const auto lower = static_cast<std::int64_t>(Histogram::lower_of(range));
    histogram.record(std::chrono::nanoseconds(lower), times);
  };
  for (std::size_t i = 0; i < ranges / 2; ++i) {
    record(i, static_cast<std::uint32_t>(i + 1));
    record(ranges - 1 - i, static_cast<std::uint32_t>(ranges - i));
  }
  const LatencyHistogram all = histogram.snapshot();
  ASSERT_EQ(all.ranges.size(), ranges);
  for (std::size_t i = 0; i < ranges; ++i) ASSERT_EQ(all.ranges[i].count, i + 1) << i;
}

TEST(Histogram, QuantilesAreThoseOfTheSortedDurationsWithinOnePercent) {
  Random random(7);
  Histogram histogram;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 10'001; ++i) {
    values.push_back(static_cast<std::int64_t>(1'000 + random.below(50'000'000)));
    histogram.record(std::chrono::nanoseconds(values.back()));
  }
  std::ranges::sort(values);
  const LatencyHistogram all = histogram.snapshot();
  for (const double q : {0.0, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    const auto exact = static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
    EXPECT_NEAR(static_cast<double>(all.quantile(q).count()), exact, 0.01 * exact) << q;
  }
}

// If durations are few, a rank that is one too low is another duration.
TEST(Histogram, QuantilesOfFewDurationsHaveTheirRank) {
  const auto quantile = [](int durations, double q) {
    Histogram histogram;
    for (int i = 1; i <= durations; ++i) histogram.record(std::chrono::nanoseconds(i));
    return histogram.snapshot().quantile(q);  // below 128 ns ranges are one nanosecond wide
  };
  EXPECT_EQ(quantile(1, 0.0), 1ns);
  EXPECT_EQ(quantile(1, 0.5), 1ns);
  EXPECT_EQ(quantile(1, 1.0), 1ns);
  EXPECT_EQ(quantile(2, 0.5), 1ns) << "half of them take no longer";
  EXPECT_EQ(quantile(2, 0.51), 2ns);
  EXPECT_EQ(quantile(2, 0.99), 2ns);
  EXPECT_EQ(quantile(3, 0.5), 2ns);
  EXPECT_EQ(quantile(3, 0.9), 3ns);
  EXPECT_EQ(quantile(4, 0.5), 2ns);
  EXPECT_EQ(quantile(4, 0.75), 3ns);
  EXPECT_EQ(quantile(10, 0.0), 1ns);
  EXPECT_EQ(quantile(10, 0.9), 9ns);
  EXPECT_EQ(quantile(10, 0.99), 10ns);
}

TEST(Histogram, TwoAddUpToOneThatCountedAll) {
  Random random(3);
  Histogram one;
  Histogram other;
  Histogram both;
  for (int i = 0; i < 5'000; ++i) {
    const std::chrono::nanoseconds duration(random.below(1u << 22));
    (i % 3 == 0 ? one : other).record(duration);
    both.record(duration);
  }
  LatencyHistogram sum = one.snapshot();
  sum.add(other.snapshot());
  const LatencyHistogram all = both.snapshot();
  EXPECT_EQ(sum.count, all.count);
  EXPECT_EQ(sum.sum, all.sum);
  ASSERT_EQ(sum.ranges.size(), all.ranges.size());
  for (std::size_t i = 0; i < all.ranges.size(); ++i) {
    EXPECT_EQ(sum.ranges[i].lower, all.ranges[i].lower);
    EXPECT_EQ(sum.ranges[i].count, all.ranges[i].count);
  }
}

}  // namespace
}  // namespace sheaf
