// RecentPeak: how long a number counts.

#include "client/runtime/recent_peak.h"

#include <gtest/gtest.h>

namespace sheaf::client::runtime {
namespace {

using namespace std::chrono_literals;

TEST(RecentPeak, ANumberCountsForTheMemoryAtLeastAndTwiceAsLongAtMost) {
  RecentPeak peak;
  EXPECT_EQ(peak.report(7, 100ms), 7u);
  EXPECT_EQ(peak.report(2, 100ms + RecentPeak::memory - 1ns), 7u);
  EXPECT_EQ(peak.report(2, 100ms + RecentPeak::memory), 7u);
  EXPECT_EQ(peak.report(1, 100ms + 2 * RecentPeak::memory - 1ns), 7u);
  EXPECT_EQ(peak.report(1, 100ms + 2 * RecentPeak::memory), 2u);
}

TEST(RecentPeak, ALargerNumberCountsAtOnce) {
  RecentPeak peak;
  peak.report(1, 100ms);
  EXPECT_EQ(peak.report(3, 101ms), 3u);
  EXPECT_EQ(peak.report(0, 102ms), 3u);
}

TEST(RecentPeak, AfterAPauseNothingOldCounts) {
  RecentPeak peak;
  peak.report(9, 100ms);
  EXPECT_EQ(peak.report(1, 100ms + 2 * RecentPeak::memory), 1u);
}

}  // namespace
}  // namespace sheaf::client::runtime
