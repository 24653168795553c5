#include "cluster/moving/map_calm.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

Now at(std::chrono::nanoseconds time) { return {1'000s + time, 0ms}; }
MapCalm calm_of(std::uint64_t seed) { return MapCalm(Random(seed).fork(), at(0s)); }

TEST(MapCalm, WithoutAnOccasionItAsksNowAndThen) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const MapCalm calm = calm_of(seed);
    EXPECT_GE(calm.poll_deadline(), at(30s).mono);
    EXPECT_LE(calm.poll_deadline(), at(60s).mono);
  }
}

TEST(MapCalm, AnOccasionIsSpreadOverATimeThatGrowsWithTheCluster) {
  for (const auto& [servers, most] : {std::pair(3u, 30ms), std::pair(100u, 1'000ms),
                                      std::pair(1'000u, 30'000ms), std::pair(9'000u, 30'000ms)}) {
    std::chrono::nanoseconds latest{0};
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      MapCalm calm(Random(seed).fork(), at(-10s), {.idle = 1h});
      calm.want(servers, at(0s));
      const auto wait = calm.poll_deadline() - at(0s).mono;
      ASSERT_GE(wait, 0s);
      ASSERT_LE(wait, most) << servers;
      latest = std::max(latest, wait);
    }
    EXPECT_GT(latest, most * 3 / 4) << servers;
  }
}

TEST(MapCalm, OneRequestServesAllThatWantIt) {
  MapCalm calm = calm_of(1);
  calm.want(3, at(5s));
  const Deadline first = calm.poll_deadline();
  for (int i = 0; i < 100; ++i) calm.want(3, at(5s));
  EXPECT_EQ(calm.poll_deadline(), first);
  calm.on_asked(at(6s));
  EXPECT_EQ(calm.poll_deadline(), never);
  calm.want(3, at(6s));
  EXPECT_EQ(calm.poll_deadline(), never);
  calm.on_answer(true, at(6s));
  EXPECT_GE(calm.poll_deadline(), at(7s).mono) << "at most one a second";
  EXPECT_LE(calm.poll_deadline(), at(8s).mono) << "for what was wanted meanwhile";
}

TEST(MapCalm, AFailedRequestIsRepeatedASecondLater) {
  MapCalm calm = calm_of(1);
  calm.want(3, at(5s));
  calm.on_asked(at(5s));
  calm.on_answer(false, at(5500ms));
  EXPECT_EQ(calm.poll_deadline(), at(6500ms).mono);
}

// Wants a map all the time, and asks whenever the time has come. Returns how often.
unsigned ask_until(MapCalm& calm, Now& now, std::chrono::nanoseconds end, bool need = false) {
  unsigned asked = 0;
  for (; now.mono < at(end).mono; now.mono += 100ms) {
    calm.want(3, now);
    if (need) calm.need(3, now);
    if (calm.poll_deadline() > now.mono) continue;
    ++asked;
    calm.on_asked(now);
    calm.on_answer(true, now);
  }
  return asked;
}

TEST(MapCalm, TheLastCreditIsForRequestsThatCannotGoOnWithoutTheMap) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MapCalm calm = calm_of(seed);
    Now now = at(1s);
    EXPECT_EQ(ask_until(calm, now, 10s), 3u);
    calm.want(3, now);
    EXPECT_GE(calm.poll_deadline(), at(25s).mono);
    calm.need(3, now);
    EXPECT_LE(calm.poll_deadline() - now.mono, 30ms);
    EXPECT_EQ(ask_until(calm, now, 11s, true), 1u);
    calm.need(3, now);
    EXPECT_GE(calm.poll_deadline(), now.mono + 4s) << "no credit is left";
    ask_until(calm, now, 110s);
    calm.need(3, now);
    EXPECT_LE(calm.poll_deadline() - now.mono, 1s) << "it comes back while the map is wanted";
  }
}

TEST(MapCalm, ANeedDuringARequestIsSeenAfterIt) {
  MapCalm calm = calm_of(1);
  Now now = at(1s);
  ask_until(calm, now, 10s);
  calm.need(3, now);
  calm.on_asked(now);
  calm.want(3, now);
  calm.need(3, now);
  calm.on_answer(true, now);
  EXPECT_EQ(calm.poll_deadline(), now.mono + 5s) << "no credit is left";
}

TEST(MapCalm, WhatIsNeededWaitsForFiveSecondsAtMostThoughNoCreditIsLeft) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MapCalm calm = calm_of(seed);
    Now now = at(1s);
    ask_until(calm, now, 10s, true);  // with all credit that there was
    calm.need(3, now);
    EXPECT_LE(calm.poll_deadline(), now.mono + 5s);
    EXPECT_EQ(ask_until(calm, now, 32s, true), 4u) << "every 5 s";
  }
}

TEST(MapCalm, OverALongTimeItAsksAtMostTwiceAsOftenAsAnIdleClient) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MapCalm calm = calm_of(seed);
    unsigned asked = 0;
    Deadline last = never;
    for (Now now = at(1s); now.mono < at(3'600s).mono; now.mono += 100ms) {
      calm.want(3, now);  // redirected all the time
      if (calm.poll_deadline() > now.mono) continue;
      ASSERT_TRUE(last == never || now.mono - last >= 1s);
      last = now.mono;
      ++asked;
      calm.on_asked(now);
      calm.on_answer(true, now);
    }
    EXPECT_LE(asked, 2u * 3'600 / 45 + 4);
    EXPECT_GE(asked, 3'600u / 60);
  }
}

}  // namespace
}  // namespace sheaf::cluster
