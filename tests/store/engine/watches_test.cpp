// Watches: which clients are notified, in which order, and what a disconnect ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "protocol/statestore/topics.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

using testing::ElementsAre;

constexpr const char* topic_root = "clients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/";

std::vector<ClientHandle> notified(Store& store) {
  std::vector<ClientHandle> clients;
  for (const auto& notification : store.notifications()) clients.push_back(notification.client);
  return clients;
}

TEST(EngineWatches, ASetIsReportedWithItsValueAndVersionTheWriterIncluded) {
  Store store;
  EXPECT_EQ(store.ask({"KEYNOTIFY", "SOMEKEY"}), (Got{Verdict::answer, "+OK\r\n", ""}));
  const Got set = store.ask({"SET", "SOMEKEY", "abc"});
  const auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].client, 1u);
  EXPECT_EQ(heard[0].topic,
            std::string(topic_root) + "636C69656E742D696431/command/notify/534F4D454B4559");
  EXPECT_EQ(heard[0].payload, "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n");
  EXPECT_EQ(heard[0].timestamp, set.timestamp);
}

TEST(EngineWatches, ARemovalIsReportedWithANewVersion) {
  Store store;
  store.ask({"KEYNOTIFY", "key"});
  const Got set = store.ask({"SET", "key", "abc"});
  store.notifications();
  EXPECT_EQ(store.ask({"DEL", "key"}).timestamp, set.timestamp);
  auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].payload, "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n");
  EXPECT_GT(heard[0].timestamp, set.timestamp);
  store.ask({"SET", "key", "abc"});
  store.notifications();
  store.ask({"VDEL", "key", "abc"});
  EXPECT_EQ(store.notifications().size(), 1u);
}

TEST(EngineWatches, ThePageNamesARemovalDelAndDoesNotPad) {
  EngineOptions options;
  options.spelling = Spelling::page;
  Store store(options);
  store.ask({"KEYNOTIFY", "key"});
  store.ask({"SET", "key", "abc"});
  store.ask({"DEL", "key"});
  const auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].payload, "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n");
  EXPECT_EQ(heard[0].timestamp, "1696374425000:1:StateStore");
  EXPECT_EQ(heard[1].payload, "*2\r\n$6\r\nNOTIFY\r\n$3\r\nDEL\r\n");
  EXPECT_EQ(heard[1].timestamp, "1696374425000:2:StateStore");
}

TEST(EngineWatches, WhatChangesNothingNotifiesNobody) {
  Store store;
  store.ask({"SET", "key", "a"});
  store.ask({"KEYNOTIFY", "key"});
  EXPECT_TRUE(store.notifications().empty());  // no snapshot
  store.ask({"SET", "key", "b", "NX"});
  store.ask({"VDEL", "key", "b"});
  store.ask({"DEL", "absent"});
  store.ask({"GET", "key"});
  store.ask({"SET", "key", "b", "PX", "0"});
  store.ask({"SET", "other", "b"});
  EXPECT_TRUE(store.notifications().empty());
}

TEST(EngineWatches, WatchingTwiceIsWatchingOnce) {
  Store store;
  EXPECT_EQ(store.ask({"KEYNOTIFY", "key"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"KEYNOTIFY", "key"}).payload, "+OK\r\n");
  EXPECT_EQ(store.engine.watches(), 1u);
  store.ask({"SET", "key", "a"});
  EXPECT_EQ(store.notifications().size(), 1u);
  EXPECT_EQ(store.ask({"KEYNOTIFY", "key", "STOP"}).payload, "+OK\r\n");
  EXPECT_EQ(store.engine.watches(), 0u);
}

TEST(EngineWatches, StopEndsOneWatchAndSaysWhenThereWasNone) {
  Store store;
  EXPECT_EQ(store.ask({"KEYNOTIFY", "key", "STOP"}), (Got{Verdict::answer, ":0\r\n", ""}));
  store.ask({"KEYNOTIFY", "key"});
  store.ask({"KEYNOTIFY", "other"});
  EXPECT_EQ(store.ask_as(2, {"KEYNOTIFY", "key", "STOP"}).payload, ":0\r\n");
  EXPECT_EQ(store.ask({"KEYNOTIFY", "key", "STOP"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"KEYNOTIFY", "key", "STOP"}).payload, ":0\r\n");
  store.ask({"SET", "key", "a"});
  store.ask({"SET", "other", "a"});
  EXPECT_EQ(store.notifications().size(), 1u);
}

TEST(EngineWatches, EachRoundBeginsWithAnotherWatcher) {
  Store store;
  for (const ClientHandle client : {1u, 2u, 3u}) store.ask_as(client, {"KEYNOTIFY", "key"});
  store.ask({"SET", "key", "a"});
  EXPECT_THAT(notified(store), ElementsAre(1, 2, 3));
  store.ask({"SET", "key", "b"});
  EXPECT_THAT(notified(store), ElementsAre(2, 3, 1));
  store.ask({"DEL", "key"});
  EXPECT_THAT(notified(store), ElementsAre(3, 1, 2));
  store.ask({"SET", "key", "c"});
  EXPECT_THAT(notified(store), ElementsAre(1, 2, 3));
}

TEST(EngineWatches, ADisconnectForgetsTheClientsWatchesAndWhatWaitsForIt) {
  Store store;
  for (const char* key : {"a", "b", "c"}) {
    for (const ClientHandle client : {1u, 2u, 3u}) store.ask_as(client, {"KEYNOTIFY", key});
  }
  store.ask({"SET", "a", "v"});
  store.engine.disconnect(1);
  EXPECT_THAT(notified(store), ElementsAre(2, 3));
  EXPECT_EQ(store.engine.watches(), 6u);
  store.ask({"SET", "b", "v"});
  EXPECT_THAT(notified(store), testing::UnorderedElementsAre(2, 3));
  store.engine.disconnect(2);
  store.engine.disconnect(3);
  store.engine.disconnect(3);
  store.engine.disconnect(99);
  EXPECT_EQ(store.engine.watches(), 0u);
  store.ask({"SET", "c", "v"});
  EXPECT_TRUE(notified(store).empty());
}

TEST(EngineWatches, AClientThatComesBackUnderItsNameWatchesNothing) {
  Store store;
  store.ask({"KEYNOTIFY", "key"});
  store.engine.disconnect(1);
  Ask again{.payload = payload_of({"SET", "key", "v"}), .client = 7};
  store.send(again);
  EXPECT_TRUE(store.notifications().empty());
}

TEST(EngineWatches, BeyondTheBoundAWatchIsAQuotaError) {
  EngineOptions options;
  options.max_watches = 2;
  Store store(options);
  store.ask({"KEYNOTIFY", "a"});
  store.ask_as(2, {"KEYNOTIFY", "a"});
  EXPECT_EQ(store.ask({"KEYNOTIFY", "b"}).payload, error_line("the quota has been exceeded"));
  EXPECT_EQ(store.ask({"KEYNOTIFY", "a"}).payload, "+OK\r\n");  // already watched
  store.ask_as(2, {"KEYNOTIFY", "a", "STOP"});
  EXPECT_EQ(store.ask({"KEYNOTIFY", "b"}).payload, "+OK\r\n");
}

TEST(EngineWatches, AKeyWhoseTopicWouldBeTooLongCannotBeWatched) {
  Store store;
  const std::size_t longest = protocol::statestore::max_watched_key_size(10);
  const std::string key(longest, 'k');
  EXPECT_EQ(store.ask({"KEYNOTIFY", key + "k"}).payload, error_line("syntax error"));
  EXPECT_EQ(store.ask({"KEYNOTIFY", key}).payload, "+OK\r\n");
  store.ask({"SET", key, "v"});
  const auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_LE(heard[0].topic.size(), protocol::statestore::max_topic_size);
}

TEST(EngineWatches, KeysOfWatchesAreBoundedInBytes) {
  Store store;
  int taken = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string key(32'000, 'k');
    key += std::to_string(i);
    if (store.ask({"KEYNOTIFY", key}).payload == "+OK\r\n") ++taken;
  }
  EXPECT_EQ(taken, (64 << 20) / 32'004);
  EXPECT_EQ(store.ask({"KEYNOTIFY", std::string(32'000, 'x')}).payload,
            error_line("the quota has been exceeded"));
  // The bytes of a watch are returned when it ends.
  store.ask({"KEYNOTIFY", std::string(32'000, 'k') + "0", "STOP"});
  EXPECT_EQ(store.ask({"KEYNOTIFY", std::string(32'000, 'x')}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"KEYNOTIFY", std::string(32'000, 'y')}).payload,
            error_line("the quota has been exceeded"));
}

TEST(EngineWatches, AKeyIsTextOfItsTopicWhateverItsBytes) {
  Store store;
  const std::string key("\0/+#\xff", 5);
  store.ask({"KEYNOTIFY", key});
  store.ask({"SET", key, "v"});
  const auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 1u);
  const auto parsed = protocol::statestore::parse_notification_topic(heard[0].topic);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->key, key);
  EXPECT_EQ(parsed->client_id, "client-id1");
}

TEST(EngineWatches, NotificationsAreCounted) {
  Store store;
  for (const ClientHandle client : {1u, 2u}) store.ask_as(client, {"KEYNOTIFY", "key"});
  store.ask({"SET", "key", "v"});
  store.ask({"DEL", "key"});
  EXPECT_EQ(store.engine.counters().notifications, 4u);
}

TEST(EngineWatches, ManyWatchersComeAndGoInAnyOrder) {
  Store store;
  std::map<std::string, std::set<ClientHandle>> model;
  std::uint64_t state = 12345;
  const auto below = [&](std::uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  for (int i = 0; i < 20'000; ++i) {
    const ClientHandle client = 1 + below(8);
    const std::string key = "k" + std::to_string(below(5));
    const auto action = below(20);
    if (action < 8) {
      store.ask_as(client, {"KEYNOTIFY", key});
      model[key].insert(client);
    } else if (action < 14) {
      const bool was = model[key].erase(client) > 0;
      EXPECT_EQ(store.ask_as(client, {"KEYNOTIFY", key, "STOP"}).payload,
                was ? "+OK\r\n" : ":0\r\n");
    } else if (action == 14) {
      store.engine.disconnect(client);
      for (auto& [name, watchers] : model) watchers.erase(client);
    } else {
      store.ask_as(client, {"SET", key, "v"});
      auto clients = notified(store);
      std::ranges::sort(clients);
      EXPECT_THAT(clients, testing::ElementsAreArray(model[key]));
    }
    std::size_t watches = 0;
    for (const auto& [name, watchers] : model) watches += watchers.size();
    ASSERT_EQ(store.engine.watches(), watches);
  }
}

}  // namespace
}  // namespace sheaf::store
