// Hybrid logical clocks: text, order, and every rule of the update.

#include "protocol/statestore/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"

namespace sheaf::protocol::statestore {
namespace {

using std::chrono::milliseconds;
constexpr auto largest_count = std::numeric_limits<std::uint64_t>::max();

Timestamp at(std::uint64_t wall, std::uint64_t counter, std::string_view node = "remote") {
  return {wall, counter, node};
}

TEST(StateStoreTimestamp, ReadsTheExamplesOfThePageAndOfTheSdks) {
  EXPECT_EQ(parse_timestamp("1696374425000:0:Client1"), at(1696374425000, 0, "Client1"));
  EXPECT_EQ(parse_timestamp("1696374425000:1:StateStore"), at(1696374425000, 1, "StateStore"));
  EXPECT_EQ(parse_timestamp("001795224775781:00000:ce28fe72-9a52-4491-b518-4daeb162f901"),
            at(1795224775781, 0, "ce28fe72-9a52-4491-b518-4daeb162f901"));
  EXPECT_EQ(parse_timestamp("001795223488930:00003:node"), at(1795223488930, 3, "node"));
  EXPECT_EQ(parse_timestamp("001795224776886:00000:StateStore"),
            at(1795224776886, 0, "StateStore"));
}

TEST(StateStoreTimestamp, ReadsNumbersOfAnyWidth) {
  const std::string wide = std::string(300, '0') + "7:" + std::string(300, '0') + "8:n";
  EXPECT_EQ(parse_timestamp(wide), at(7, 8, "n"));
  EXPECT_EQ(parse_timestamp("0:0:id"), at(0, 0, "id"));
  EXPECT_EQ(parse_timestamp("18446744073709551615:18446744073709551615:n"),
            at(largest_count, largest_count, "n"));
}

TEST(StateStoreTimestamp, RefusesANodeThatIsEmptyOrHasAColon) {
  for (const char* text : {"1:2:", "1:2::", "1:2:n:", "1:2::n", "1:2:3:4", "1:2:a:b:c"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

TEST(StateStoreTimestamp, RefusesWhatIsNotTwoNumbersAndANode) {
  for (const char* text : {"",
                           ":",
                           "::",
                           "1",
                           "1:",
                           "1:2",
                           ":2:n",
                           "1::n",
                           "a:2:n",
                           "1:b:n",
                           "-1:2:n",
                           "1:-2:n",
                           "+1:2:n",
                           " 1:2:n",
                           "1 :2:n",
                           "1: 2:n",
                           "1.5:2:n",
                           "0x1:2:n",
                           "18446744073709551616:0:n",
                           "0:18446744073709551616:n",
                           "1;2;n"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
  EXPECT_FALSE(parse_timestamp(std::string_view("1\0:2:n", 6)));
}

TEST(StateStoreTimestamp, BoundsTheNode) {
  const std::string longest(max_node_size, 'n');
  EXPECT_TRUE(parse_timestamp("1:2:" + longest));
  EXPECT_FALSE(parse_timestamp("1:2:" + longest + "n"));
}

TEST(StateStoreTimestamp, PrintsBothForms) {
  const Timestamp golden = at(1696374425000, 1, "StateStore");
  EXPECT_EQ(TimestampText(golden).view(), "001696374425000:00001:StateStore");
  EXPECT_EQ(TimestampText(golden, TimestampForm::unpadded).view(), "1696374425000:1:StateStore");
  EXPECT_EQ(TimestampText(at(0, 0, "")).view(), "000000000000000:00000:");
  EXPECT_EQ(TimestampText(at(0, 0, ""), TimestampForm::unpadded).view(), "0:0:");
  EXPECT_EQ(TimestampText(at(1234567890123456, 123456, "n")).view(), "1234567890123456:123456:n");
  EXPECT_EQ(TimestampText().view(), "");
}

TEST(StateStoreTimestamp, PrintsTheLargestAndCutsALongNode) {
  const std::string node(max_node_size + 10, 'n');
  const std::string longest = node.substr(0, max_node_size);
  EXPECT_EQ(TimestampText(at(largest_count, largest_count, node)).view(),
            "18446744073709551615:18446744073709551615:" + longest);
}

TEST(StateStoreTimestamp, WhatIsPrintedIsReadAgain) {
  for (const auto& timestamp :
       {at(0, 0, "0"), at(1, 99999, "n"), at(largest_count, largest_count, "a-b")}) {
    for (const auto form : {TimestampForm::padded, TimestampForm::unpadded}) {
      EXPECT_EQ(parse_timestamp(TimestampText(timestamp, form).view()), timestamp);
    }
  }
}

TEST(StateStoreTimestamp, OrdersByWallThenCounterThenNodeBytes) {
  const std::vector<Timestamp> ascending{
      at(1, 5, "z"),     at(2, 0, "a"),   at(2, 9, "a"),      at(2, 10, "A"),
      at(2, 10, "a"),    at(2, 10, "ab"), at(2, 10, "b"),     at(2, 10, "\x7f"),
      at(2, 10, "\xff"), at(10, 0, ""),   at(1000000, 0, ""), at(largest_count, 0, "")};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(ascending[i] < ascending[j], i < j) << i << " " << j;
    }
  }
}

TEST(StateStoreTimestamp, MayBeAMinuteAheadAndAnyTimeBehind) {
  const milliseconds wall(1'000'000);
  EXPECT_FALSE(too_far_ahead(at(0, 0), wall));
  EXPECT_FALSE(too_far_ahead(at(1'060'000, largest_count), wall));
  EXPECT_TRUE(too_far_ahead(at(1'060'001, 0), wall));
  EXPECT_TRUE(too_far_ahead(at(largest_count, 0), wall));
  EXPECT_FALSE(too_far_ahead(at(60'000, 0), milliseconds(-5)));
  EXPECT_TRUE(too_far_ahead(at(60'001, 0), milliseconds(-5)));
}

TEST(HybridClock, TakesTheWallClockWhenItIsLater) {
  HybridClock clock("me");
  EXPECT_EQ(clock.tick(milliseconds(1000)), at(1000, 0, "me"));
  EXPECT_EQ(clock.tick(milliseconds(1001)), at(1001, 0, "me"));
  ASSERT_TRUE(clock.observe(at(500, 7), milliseconds(1002)));
  EXPECT_EQ(clock.last(), at(1002, 0, "me"));
}

TEST(HybridClock, CountsWhenTheWallClockStandsOrGoesBack) {
  HybridClock clock("me");
  EXPECT_EQ(clock.tick(milliseconds(1000)), at(1000, 0, "me"));
  EXPECT_EQ(clock.tick(milliseconds(1000)), at(1000, 1, "me"));
  EXPECT_EQ(clock.tick(milliseconds(400)), at(1000, 2, "me"));
}

TEST(HybridClock, ExceedsTheLaterOfItselfAndTheRemote) {
  HybridClock clock("me");
  ASSERT_TRUE(clock.tick(milliseconds(1000)));
  ASSERT_TRUE(clock.observe(at(1000, 5), milliseconds(1000)));  // equal walls: the larger counter
  EXPECT_EQ(clock.last(), at(1000, 6, "me"));
  ASSERT_TRUE(clock.observe(at(1000, 2), milliseconds(1000)));
  EXPECT_EQ(clock.last(), at(1000, 7, "me"));
  ASSERT_TRUE(clock.observe(at(2000, 3), milliseconds(1000)));  // the remote is later
  EXPECT_EQ(clock.last(), at(2000, 4, "me"));
  ASSERT_TRUE(clock.observe(at(1500, 9), milliseconds(1000)));  // this clock is later
  EXPECT_EQ(clock.last(), at(2000, 5, "me"));
}

TEST(HybridClock, GoldenVersionOfThePage) {
  HybridClock clock("StateStore");
  const auto version =
      clock.tick_after(*parse_timestamp("1696374425000:0:CLIENT"), milliseconds(1696374425000));
  ASSERT_TRUE(version);
  EXPECT_EQ(TimestampText(*version).view(), "001696374425000:00001:StateStore");
}

TEST(HybridClock, IsNotMovedByItsOwnNode) {
  HybridClock clock("me");
  ASSERT_TRUE(clock.tick(milliseconds(1000)));
  ASSERT_TRUE(clock.observe(at(largest_count, largest_count, "me"), milliseconds(1000)));
  EXPECT_EQ(clock.last(), at(1000, 0, "me"));
}

TEST(HybridClock, IssuesAGreaterTimestampEvenAfterOneOfItsOwnNode) {
  HybridClock clock("StateStore");
  ASSERT_TRUE(clock.tick(milliseconds(1000)));
  EXPECT_EQ(clock.tick_after(at(3000, 5, "StateStore"), milliseconds(1000)),
            at(3000, 6, "StateStore"));
}

TEST(HybridClock, AWildRemoteTimestampLeavesItAsItWas) {
  HybridClock clock("me");
  ASSERT_TRUE(clock.tick(milliseconds(1000)));
  EXPECT_EQ(clock.observe(at(61'001, 0), milliseconds(1000)).error(),
            HybridClock::Error::too_far_ahead);
  EXPECT_FALSE(clock.observe(at(largest_count, largest_count), milliseconds(1000)));
  EXPECT_FALSE(clock.tick_after(at(largest_count, 0), milliseconds(1000)));
  EXPECT_EQ(clock.last(), at(1000, 0, "me"));
  EXPECT_EQ(clock.tick(milliseconds(1000)), at(1000, 1, "me"));
}

TEST(HybridClock, TakesARemoteTimestampAMinuteAhead) {
  HybridClock clock("me");
  ASSERT_TRUE(clock.observe(at(61'000, 0), milliseconds(1000)));
  EXPECT_EQ(clock.last(), at(61'000, 1, "me"));
}

TEST(HybridClock, RefusesToTickWhileTheWallClockIsFarBehindIt) {
  HybridClock clock("me");
  ASSERT_TRUE(clock.tick(milliseconds(1'000'000)));
  EXPECT_FALSE(clock.tick(milliseconds(939'999)));
  EXPECT_EQ(clock.tick(milliseconds(940'000)), at(1'000'000, 1, "me"));
}

TEST(HybridClock, StartsAnewAfterAReset) {
  HybridClock clock("me");
  ASSERT_TRUE(clock.tick(milliseconds(1'000'000)));
  clock.reset();
  EXPECT_EQ(clock.tick(milliseconds(1000)), at(1000, 0, "me"));
}

TEST(HybridClock, AFullCounterMovesTheWallPartOn) {
  HybridClock clock("me");
  EXPECT_EQ(clock.tick_after(at(2000, max_counter - 1), milliseconds(1000)),
            at(2000, max_counter, "me"));
  EXPECT_EQ(clock.tick(milliseconds(1000)), at(2001, 0, "me"));
  EXPECT_EQ(clock.tick_after(at(2001, largest_count), milliseconds(1000)), at(2002, 0, "me"));
}

TEST(HybridClock, AFullCounterAtTheLimitOfTheDriftIsRefused) {
  HybridClock clock("me");
  EXPECT_FALSE(clock.tick_after(at(61'000, largest_count), milliseconds(1000)));
  EXPECT_EQ(clock.last(), at(0, 0, "me"));
}

TEST(HybridClock, ANodeTooLongIsCut) {
  HybridClock clock(std::string(max_node_size + 1, 'n'));
  EXPECT_EQ(clock.last().node.size(), max_node_size);
}

TEST(HybridClock, NeverGoesBackUnderRandomWallsAndRemotes) {
  Random random(7);
  HybridClock clock("me");
  std::uint64_t wall = 1'000'000;
  Timestamp last;
  for (int i = 0; i < 20'000; ++i) {
    wall += random.below(100);
    wall -= std::min<std::uint64_t>(wall, random.below(120));
    const auto remote = at(wall + random.below(90'000), random.below(5), "other");
    const milliseconds now(static_cast<std::int64_t>(wall));
    const bool taken = clock.observe(remote, now).has_value();
    EXPECT_TRUE(taken || too_far_ahead(remote, now) || too_far_ahead(last, now));
    const auto next = clock.tick(now);
    if (!next) continue;
    EXPECT_LT(last, *next);
    EXPECT_TRUE(!taken || *next > remote);
    EXPECT_FALSE(too_far_ahead(*next, now));
    last = at(next->wall, next->counter, "me");
  }
  EXPECT_GT(last.wall, 0u);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
