// Notifications: which clients get them, when watches end, and which clients may not send them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/live/plugin/shared_options.h"
#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"

namespace sheaf::test {
namespace {

constexpr std::string_view written_payload =
    "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n";
constexpr std::string_view deleted_payload = "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n";

// The session outlives the test: each test has its own client ID.
ConnectOptions lasting(std::string client_id) {
  ConnectOptions options;
  options.client_id = std::move(client_id);
  options.clean_start = false;
  options.session_expiry = 3600;
  return options;
}

TEST(PluginNotifications, ArePushedThoughNotSubscribed) {
  const Lent<BrokerProcess> broker;
  StoreClient watcher(broker->port(), "client-id1");
  StoreClient writer(broker->port(), "writer");
  EXPECT_EQ(watcher({"KEYNOTIFY", "SOMEKEY"}), "+OK\r\n");
  const Message written = writer.ask(writer.request(command({"SET", "SOMEKEY", "abc"})));
  const auto first = watcher.notification();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->topic,
            "clients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/636C69656E742D696431/"
            "command/notify/534F4D454B4559");
  EXPECT_EQ(first->payload, written_payload);
  EXPECT_EQ(first->qos, 1);
  EXPECT_EQ(first->content_type, "application/octet-stream");
  EXPECT_EQ(first->user_value("__ts"), written.user_value("__ts"));
  EXPECT_EQ(writer({"DEL", "SOMEKEY"}), ":1\r\n");
  const auto second = watcher.notification();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->payload, deleted_payload);
  EXPECT_TRUE(second->user_value("__ts"));
  EXPECT_TRUE(watcher.no_notification());
}

TEST(PluginNotifications, ReachTheWriterOfTheChangeAndStopOnDemand) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "key", "abc"}), "+OK\r\n");
  const auto written = store.notification();
  ASSERT_TRUE(written);
  EXPECT_EQ(written->payload, written_payload);
  EXPECT_EQ(store({"KEYNOTIFY", "key", "STOP"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "key", "abc"}), "+OK\r\n");
  EXPECT_TRUE(store.no_notification());
}

TEST(PluginNotifications, OfExpiryComeWithoutAnyAccess) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "key", "abc", "PX", "300"}), "+OK\r\n");
  const auto written = store.notification();
  ASSERT_TRUE(written);
  const auto expired = store.notification();
  ASSERT_TRUE(expired);
  EXPECT_EQ(expired->payload, deleted_payload);
  EXPECT_NE(expired->user_value("__ts"), written->user_value("__ts"));
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST(PluginNotifications, EndWithTheConnectionThoughTheSessionLives) {
  const Lent<BrokerProcess> broker;
  StoreClient writer(broker->port(), "writer");
  {
    StoreClient watcher(broker->port(), lasting("lives-on"));
    EXPECT_EQ(watcher({"KEYNOTIFY", "key"}), "+OK\r\n");
    watcher.mqtt().disconnect();
  }
  EXPECT_EQ(writer({"SET", "key", "abc"}), "+OK\r\n");
  StoreClient again(broker->port(), lasting("lives-on"));
  EXPECT_TRUE(again.mqtt().session_present());
  EXPECT_EQ(writer({"SET", "key", "abc"}), "+OK\r\n");
  EXPECT_TRUE(again.no_notification());
  EXPECT_EQ(again({"KEYNOTIFY", "key", "STOP"}), ":0\r\n");
}

TEST(PluginNotifications, EndWhenTheConnectionIsTakenOver) {
  const Lent<BrokerProcess> broker;
  StoreClient writer(broker->port(), "writer");
  StoreClient old(broker->port(), lasting("taken-over"));
  EXPECT_EQ(old({"KEYNOTIFY", "key"}), "+OK\r\n");
  StoreClient taker(broker->port(), lasting("taken-over"));
  EXPECT_TRUE(old.mqtt().wait_end());
  EXPECT_EQ(writer({"SET", "key", "abc"}), "+OK\r\n");
  EXPECT_TRUE(taker.no_notification());
  EXPECT_EQ(taker({"KEYNOTIFY", "key", "STOP"}), ":0\r\n");
}

TEST(PluginNotifications, OfAClientThatIsCutOffForAForbiddenTopicEndToo) {
  const Lent<BrokerProcess> broker;
  StoreClient writer(broker->port(), "writer");
  {
    StoreClient watcher(broker->port(), lasting("cut-off"));
    EXPECT_EQ(watcher({"KEYNOTIFY", "key"}), "+OK\r\n");
    Outgoing bad = watcher.request(command({"GET", "key"}));
    bad.response_topic = store_tree;
    watcher.mqtt().send(bad);
    EXPECT_EQ(watcher.mqtt().wait_end(), 0x82);
  }
  EXPECT_EQ(writer({"SET", "key", "abc"}), "+OK\r\n");
  StoreClient again(broker->port(), lasting("cut-off"));
  EXPECT_TRUE(again.no_notification());
  EXPECT_EQ(again({"KEYNOTIFY", "key", "STOP"}), ":0\r\n");
}

TEST(PluginNotifications, ForgedByAClientAreRefused) {
  const Lent<BrokerProcess> broker;
  StoreClient victim(broker->port(), "client-id1");
  EXPECT_EQ(victim.mqtt().subscribe("clients/#"), 1);
  StoreClient forger(broker->port(), "forger");
  Outgoing forged;
  forged.payload = deleted_payload;
  forged.user = {{"__ts", timestamp()}};
  for (const std::string& topic : {notification_topic("client-id1", "key"), std::string(store_tree),
                                   std::string(store_tree) + "/x"}) {
    forged.topic = topic;
    forged.qos = 1;
    EXPECT_EQ(forger.mqtt().wait_puback(forger.mqtt().send(forged)), 0x87) << topic;
    forged.qos = 0;
    forger.mqtt().send(forged);
  }
  EXPECT_TRUE(forger.mqtt().ping());
  EXPECT_TRUE(victim.no_notification());
}

TEST(PluginNotifications, GoToSubscribersOnlyWithThatOption) {
  const Lent<BrokerProcess> broker(with_many_options());
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "key", "abc"}), "+OK\r\n");
  EXPECT_TRUE(store.no_notification());
  EXPECT_EQ(store.mqtt().subscribe(notification_topic("client-id1", "key")), 1);
  EXPECT_EQ(store({"SET", "key", "abc"}), "+OK\r\n");
  const auto written = store.notification();
  ASSERT_TRUE(written);
  EXPECT_EQ(written->payload, written_payload);
}

// Mosquitto does not ask plugins about wills. If clients are not trusted, the broker needs these
// rules (docs/wire/mosquitto.md).
TEST(PluginNotifications, ForgedByAWillAreStoppedByTheDocumentedAccessControl) {
  BrokerOptions options;
  options.acl = "pattern readwrite #\npattern deny " + std::string(store_tree) + "/#\n";
  BrokerProcess broker(options);
  StoreClient victim(broker.port(), "client-id1");
  EXPECT_EQ(victim.mqtt().subscribe("clients/#"), 1);
  ConnectOptions forger;
  forger.client_id = "forger";
  forger.will = Will{notification_topic("client-id1", "key"), std::string(deleted_payload)};
  MqttClient client(broker.port(), forger);
  client.drop();
  EXPECT_EQ(victim({"SET", "key", "abc"}), "+OK\r\n");
  EXPECT_TRUE(victim.no_notification());
}

}  // namespace
}  // namespace sheaf::test
