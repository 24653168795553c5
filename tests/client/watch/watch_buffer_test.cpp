#include "client/watch/watch_buffer.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sheaf::client::watch {
namespace {

using namespace std::chrono_literals;
using Kind = WatchEvent::Kind;

WatchBuffer::Time at(int seconds) { return WatchBuffer::Time(std::chrono::seconds(seconds)); }

WatchEvent event(Kind kind, std::string key, std::optional<std::string> value = {}) {
  WatchEvent event;
  event.kind = kind;
  event.key = std::move(key);
  event.value = std::move(value);
  return event;
}
WatchEvent set(std::string key, std::string value) {
  return event(Kind::set, std::move(key), std::move(value));
}

std::string seconds(WatchBuffer::Time time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

// Everything that is held, one word each: "a=1", "a-" (deleted), "a?" (changed), "a[1-9]" (gap),
// "a!".
std::string drain(WatchBuffer& buffer, int now) {
  std::string all;
  while (const auto next = buffer.pop(at(now))) {
    if (!all.empty()) all += ' ';
    all += next->key;
    if (next->kind == Kind::deleted) all += '-';
    if (next->kind == Kind::changed) all += '?';
    if (next->kind == Kind::failed) all += '!';
    if (next->kind == Kind::gap)
      all += "[" + seconds(next->from) + "-" + seconds(next->until) + "]";
    if (next->value) all += "=" + *next->value;
  }
  return all;
}

TEST(WatchBuffer, KeepsTheOrderWithinItsLimit) {
  WatchBuffer buffer(3);
  EXPECT_TRUE(buffer.empty());
  buffer.push(set("a", "1"), at(1));
  buffer.push(set("b", "1"), at(2));
  buffer.push(event(Kind::deleted, "a"), at(3));
  EXPECT_EQ(drain(buffer, 9), "a=1 b=1 a-");
  EXPECT_TRUE(buffer.empty());
}

TEST(WatchBuffer, BeyondItTheNewestOfEachKeyIsKeptAndTheRestIsAGap) {
  WatchBuffer buffer(1);
  buffer.push(set("a", "1"), at(1));
  buffer.push(set("a", "2"), at(2));
  buffer.push(set("b", "1"), at(3));
  buffer.push(set("a", "3"), at(4));
  buffer.push(set("a", "4"), at(5));
  EXPECT_EQ(drain(buffer, 9), "a=1 a[2-9] a=4 b=1");  // nothing of b was left out
}

TEST(WatchBuffer, NothingOvertakesWhatIsKept) {
  WatchBuffer buffer(1);
  buffer.push(set("a", "1"), at(1));
  buffer.push(set("b", "1"), at(2));
  EXPECT_EQ(buffer.pop(at(3))->key, "a");
  buffer.push(set("b", "2"), at(4));
  buffer.push(set("a", "2"), at(5));
  EXPECT_EQ(drain(buffer, 9), "b[2-9] b=2 a=2");
}

TEST(WatchBuffer, GapsAreMergedAndComeFirst) {
  WatchBuffer buffer(1);
  buffer.push(set("x", "1"), at(1));
  WatchEvent gap = event(Kind::gap, "a");
  gap.from = at(5), gap.until = at(6);
  buffer.push(gap, at(6));
  gap.from = at(7), gap.until = at(8);
  buffer.push(gap, at(8));
  buffer.push(set("a", "1"), at(8));
  EXPECT_EQ(drain(buffer, 20), "x=1 a[5-8] a=1");
}

TEST(WatchBuffer, AKeyBeginsWithItsNewestStateIfItsFirstStillWaits) {
  for (const WatchEvent& change : {set("a", "2"), event(Kind::deleted, "a")}) {
    WatchBuffer buffer(1);
    buffer.push(set("x", "1"), at(1));
    buffer.push(event(Kind::current, "a", "1"), at(2));
    WatchEvent gap = event(Kind::gap, "a");
    gap.from = at(3), gap.until = at(4);
    buffer.push(gap, at(4));
    buffer.push(event(Kind::changed, "a"), at(5));
    buffer.push(change, at(6));
    EXPECT_EQ(buffer.pop(at(7))->key, "x");
    const auto first = buffer.pop(at(7));
    EXPECT_EQ(first->kind, Kind::current);
    EXPECT_EQ(first->value, change.value);
    EXPECT_TRUE(buffer.empty()) << "nothing was left out before the beginning";
  }
}

TEST(WatchBuffer, WhatMayBeMissingAfterTheFirstStateIsReportedAfterIt) {
  WatchBuffer buffer(1);
  buffer.push(set("x", "1"), at(1));
  buffer.push(event(Kind::current, "a", "1"), at(2));
  buffer.push(event(Kind::changed, "a"), at(3));
  EXPECT_EQ(drain(buffer, 9), "x=1 a=1 a[3-9]");
}

TEST(WatchBuffer, AnUnreadableChangeDoesNotHideAState) {
  WatchBuffer buffer(1);
  buffer.push(set("x", "1"), at(1));
  buffer.push(set("a", "1"), at(2));
  buffer.push(event(Kind::changed, "a"), at(3));
  buffer.push(event(Kind::changed, "b"), at(4));
  EXPECT_EQ(drain(buffer, 9), "x=1 a[3-9] a=1 b?");
}

TEST(WatchBuffer, AFailureStaysUntilTheKeyIsHeardOfAgain) {
  WatchBuffer buffer(1);
  buffer.push(set("x", "1"), at(1));
  buffer.push(set("a", "1"), at(2));
  buffer.push(event(Kind::failed, "a"), at(3));
  buffer.push(event(Kind::failed, "b"), at(4));
  buffer.push(event(Kind::current, "b", "2"), at(5));
  EXPECT_EQ(drain(buffer, 9), "x=1 a=1 a! b=2");
}

TEST(WatchBuffer, MemoryIsBoundedByLimitAndKeysAndEachKeyEndsOnItsNewest) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const std::size_t limit = 1 + random.below(20);
    const std::uint64_t keys = 1 + random.below(10);
    WatchBuffer buffer(limit);
    std::map<std::string, std::string> written;
    std::map<std::string, std::string> seen;
    const auto take = [&] {
      const auto next = buffer.pop(at(1));
      if (next && next->value) seen[next->key] = *next->value;
      return next.has_value();
    };
    for (int i = 0; i < 500; ++i) {
      const std::string key = "k" + std::to_string(random.below(keys));
      written[key] = std::to_string(i);
      buffer.push(set(key, written[key]), at(1));
      ASSERT_LE(buffer.size(), limit + 3 * keys);
      while (random.below(3) == 0 && take()) {
      }
    }
    while (take()) {
    }
    ASSERT_EQ(seen, written);
  }
}

}  // namespace
}  // namespace sheaf::client::watch
