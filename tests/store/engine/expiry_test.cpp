// Expiry: on access, on tick, with its notification, and in order.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "store/engine/record_table.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

TEST(EngineExpiry, AKeyIsThereUntilItsTimeAndThenGone) {
  Store store;
  store.ask({"SET", "key", "v", "PX", "1000"});
  store.pass(999ms);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$1\r\nv\r\n");
  store.pass(1ms);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$-1\r\n");
  EXPECT_EQ(store.engine.counters().expired, 1u);
  EXPECT_EQ(store.engine.keys(), 0u);
  EXPECT_EQ(store.engine.bytes(), 0u);
}

TEST(EngineExpiry, EveryVerbSeesAnExpiredKeyAsAbsent) {
  Store store;
  for (const char* key : {"a", "b", "c", "d"}) store.ask({"SET", key, "v", "PX", "10"});
  store.pass(10ms);
  EXPECT_EQ(store.ask({"DEL", "a"}).payload, ":0\r\n");
  EXPECT_EQ(store.ask({"VDEL", "b", "x"}).payload, ":0\r\n");
  EXPECT_EQ(store.ask({"SET", "c", "w", "NX"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "d", "w", "NEX"}).payload, "+OK\r\n");
}

TEST(EngineExpiry, ASetWithoutExpiryEndsAnEarlierOne) {
  Store store;
  store.ask({"SET", "key", "a", "PX", "1000"});
  store.ask({"SET", "key", "b"});
  EXPECT_EQ(store.engine.next_expiry(), std::nullopt);
  store.pass(10s);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$1\r\nb\r\n");
}

TEST(EngineExpiry, ASetWithExpiryReplacesAnEarlierOne) {
  Store store;
  store.ask({"SET", "key", "a", "PX", "1000"});
  store.pass(900ms);
  store.ask({"SET", "key", "a", "PX", "1000", "NEX"});
  store.pass(900ms);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$1\r\na\r\n");
  store.ask({"SET", "key", "a", "PX", "50"});
  store.pass(50ms);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$-1\r\n");
}

TEST(EngineExpiry, AConditionThatDoesNotHoldLeavesTheExpiry) {
  Store store;
  store.ask({"SET", "key", "a", "PX", "1000"});
  store.ask({"SET", "key", "b", "NX", "PX", "90000"});
  store.pass(1s);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$-1\r\n");
}

TEST(EngineExpiry, TheLongestExpiriesNeverEnd) {
  Store store;
  store.ask({"SET", "a", "v", "PX", "922337203685477"});
  store.ask({"SET", "b", "v", "PX", "9223372036854775807"});
  EXPECT_EQ(store.engine.next_expiry(), std::nullopt);
  store.pass(std::chrono::hours(24 * 365 * 100));
  store.engine.tick(store.now);
  EXPECT_EQ(store.engine.keys(), 2u);
}

TEST(EngineExpiry, TickRemovesUnreadKeysAndNotifiesTheirWatchersWithANewVersion) {
  Store store;
  store.ask({"KEYNOTIFY", "key"});
  const Got set = store.ask({"SET", "key", "v", "PX", "1000"});
  store.notifications();
  EXPECT_EQ(store.engine.next_expiry(), store.now.mono + 1s);
  store.pass(1s);
  EXPECT_TRUE(store.notifications().empty());
  store.engine.tick(store.now);
  const auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].payload, "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n");
  EXPECT_EQ(heard[0].timestamp, stamp(golden_wall + 1s, 0, "StateStore"));
  EXPECT_GT(heard[0].timestamp, set.timestamp);
  EXPECT_EQ(store.engine.next_expiry(), std::nullopt);
}

TEST(EngineExpiry, AnAccessReportsTheExpiryBeforeItsOwnChange) {
  Store store;
  store.ask({"KEYNOTIFY", "key"});
  store.ask({"SET", "key", "v", "PX", "1000"});
  store.notifications();
  store.pass(1s);
  const Got set = store.ask({"SET", "key", "w"});
  const auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_NE(heard[0].payload.find("DELETE"), std::string::npos);
  EXPECT_NE(heard[1].payload.find("SET"), std::string::npos);
  EXPECT_LT(heard[0].timestamp, heard[1].timestamp);
  EXPECT_EQ(heard[1].timestamp, set.timestamp);
}

TEST(EngineExpiry, ARefusedRequestStillReportsTheExpiry) {
  Store store;
  store.ask({"KEYNOTIFY", "key"});
  store.ask({"SET", "key", "v", "PX", "1000"});
  store.notifications();
  store.pass(1s);
  store.ask({"NONSENSE"});
  EXPECT_EQ(store.notifications().size(), 1u);
}

TEST(EngineExpiry, KeysOfTheSameMomentGoInTheOrderInWhichTheyWereSet) {
  Store store;
  for (const char* key : {"c", "a", "b"}) {
    store.ask({"KEYNOTIFY", key});
    store.ask({"SET", key, "v", "PX", "1000"});
  }
  store.ask({"SET", "c", "w", "PX", "1000"});
  store.notifications();
  store.pass(1s);
  store.engine.tick(store.now);
  std::string order;
  for (const auto& note : store.notifications()) order += note.topic.substr(note.topic.size() - 2);
  EXPECT_EQ(order, "616263");
}

TEST(EngineExpiry, OneTickIsBoundedAndTheNextOnesCatchUp) {
  EngineOptions options;
  Store store(options);
  constexpr std::size_t keys = 2 * max_expiries_per_tick + 5;
  for (std::size_t i = 0; i < keys; ++i) {
    store.ask({"SET", "k" + std::to_string(i), "v", "PX", "1000"});
  }
  store.pass(1s);
  store.engine.tick(store.now);
  EXPECT_EQ(store.engine.keys(), keys - max_expiries_per_tick);
  EXPECT_LE(store.engine.next_expiry(), store.now.mono);
  store.engine.tick(store.now);
  store.engine.tick(store.now);
  EXPECT_EQ(store.engine.keys(), 0u);
  EXPECT_EQ(store.engine.counters().expired, keys);
}

TEST(EngineExpiry, RequestsClearExpiredKeysAwayWithoutATick) {
  Store store;
  for (int i = 0; i < 1000; ++i) store.ask({"SET", "k" + std::to_string(i), "v", "PX", "10"});
  store.pass(10ms);
  for (int i = 0; i < 100; ++i) store.ask({"GET", "other"});
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(RecordTable, GivesTheEarliestExpiryAfterRandomChanges) {
  Random random(3);
  RecordTable table(5);
  std::map<std::string, Deadline> model;
  for (int i = 0; i < 30'000; ++i) {
    const std::string key = std::to_string(random.below(300));
    RecordTable::Entry* const entry = table.find(key);
    ASSERT_EQ(entry != nullptr, model.contains(key));
    if (random.below(3) == 0) {
      if (entry != nullptr) table.erase(*entry);
      model.erase(key);
    } else {
      const Deadline expiry =
          random.below(4) == 0 ? never : Deadline(static_cast<std::int64_t>(random.below(1000)));
      table.put(entry, key, "v", expiry);
      model[key] = expiry;
    }
    const auto earliest =
        std::ranges::min_element(model, {}, [](const auto& item) { return item.second; });
    if (earliest == model.end() || earliest->second == never) {
      ASSERT_EQ(table.next_expiry(), std::nullopt);
    } else {
      ASSERT_EQ(table.next_expiry(), earliest->second);
      ASSERT_EQ(model.at(table.next_to_expire()->first), earliest->second);
    }
    ASSERT_EQ(table.size(), model.size());
  }
}

TEST(RecordTable, ALongValuesMemoryGoesWithIt) {
  RecordTable table(5);
  auto& entry = table.put(nullptr, "key", std::string(1 << 20, 'v'), never);
  table.put(&entry, "key", "short", never);
  EXPECT_LT(entry.second.value.capacity(), 1000u);
  EXPECT_EQ(table.bytes(), 8u);
}

}  // namespace
}  // namespace sheaf::store
