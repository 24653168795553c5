// Only the store sees requests, and only the requester sees answers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/live/plugin/shared_options.h"
#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"

namespace sheaf::test {
namespace {

ConnectOptions named(std::string client_id) {
  ConnectOptions options;
  options.client_id = std::move(client_id);
  return options;
}

TEST(PluginPrivacy, SubscribersToEverythingSeeNothing) {
  const Lent<BrokerProcess> broker;
  MqttClient snooper(broker->port(), named("snooper"));
  EXPECT_EQ(snooper.subscribe("#"), 1);
  EXPECT_EQ(snooper.subscribe("+/#"), 1);
  EXPECT_EQ(snooper.subscribe(store_request), 1);
  EXPECT_EQ(snooper.subscribe("clients/client-id1/#"), 1);
  EXPECT_EQ(snooper.subscribe(notification_topic("client-id1", "key")), 1);

  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "key", "secret"}), "+OK\r\n");
  EXPECT_EQ(store({"GET", "key"}), "$6\r\nsecret\r\n");
  EXPECT_TRUE(store.notification());
  EXPECT_TRUE(snooper.nothing_arrives());
}

TEST(PluginPrivacy, ASubscriberToTheSinkLearnsNothingOfTheContent) {
  const Lent<BrokerProcess> broker;
  MqttClient snooper(broker->port(), named("snooper"));
  EXPECT_EQ(snooper.subscribe("$sheaf/#"), 1);
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"SET", "key", "secret"}), "+OK\r\n");
  const auto seen = snooper.receive();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, "");
  EXPECT_TRUE(seen->user.empty());
  EXPECT_FALSE(seen->correlation);
  EXPECT_TRUE(snooper.nothing_arrives());
}

TEST(PluginPrivacy, ARetainedRequestIsNotRetained) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "secret"}));
  set.retain = true;
  EXPECT_EQ(store.ask(set).payload, "+OK\r\n");
  set.response_topic.reset();
  EXPECT_EQ(store.mqtt().wait_puback(store.mqtt().send(set)), 0);

  MqttClient late(broker->port(), named("late"));
  EXPECT_EQ(late.subscribe("#"), 1);
  EXPECT_EQ(late.subscribe("$sheaf/#"), 1);
  EXPECT_EQ(late.subscribe(store_request), 1);
  EXPECT_TRUE(late.nothing_arrives());
}

TEST(PluginPrivacy, OtherTopicsAreRoutedAndRetainedAsEver) {
  const Lent<BrokerProcess> broker;
  MqttClient writer(broker->port(), named("writer"));
  Outgoing message;
  message.topic = std::string(store_request) + "/not";
  message.payload = "hello";
  message.retain = true;
  EXPECT_EQ(writer.wait_puback(writer.send(message)), 0x10);  // no subscriber
  MqttClient reader(broker->port(), named("reader"));
  EXPECT_EQ(reader.subscribe("#"), 1);
  const auto seen = reader.receive();
  message.payload.clear();  // so that the broker, which is lent again, keeps no message
  EXPECT_EQ(writer.wait_puback(writer.send(message)), 0);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, "hello");
  EXPECT_TRUE(seen->retain);
}

TEST(PluginPrivacy, ForbiddenResponseTopicsEndTheConnectionAndExecuteNothing) {
  const Lent<BrokerProcess> broker;
  const std::string tree(store_tree);
  for (const std::string& topic :
       {std::string(store_request), tree, tree + "/x", tree + "x",
        notification_topic("client-id1", "key"), std::string("clients/+/answer"),
        std::string("clients/#"), std::string("#")}) {
    StoreClient store(broker->port(), "client-id1");
    Outgoing set = store.request(command({"SET", "key", "value"}));
    set.response_topic = topic;
    store.mqtt().send(set);
    EXPECT_EQ(store.mqtt().wait_end(), 0x82) << topic;
  }
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST(PluginPrivacy, EveryOtherResponseTopicIsAccepted) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  const std::string request(store_request);
  for (const std::string& topic :
       {std::string("a"), std::string("/"), std::string("clients/other/answer"),
        request + "/response", "clients/client-id1/" + request, std::string("$SYS/broker/x"),
        std::string("clients/statestore/v1/fa9ae35f-2f64-47cd-9bff-08e2b32a0fe8"),
        std::string("gr\xC3\xBC\xC3\x9F") + "e", std::string(65535, 'l')}) {
    Outgoing get = store.request(command({"GET", "key"}));
    get.response_topic = topic;
    const Message answer = store.ask(get);
    EXPECT_EQ(answer.payload, "$-1\r\n");
    EXPECT_EQ(answer.topic, topic);
  }
}

TEST(PluginPrivacy, OnlyOwnResponseTopicsWithThatOption) {
  const Lent<BrokerProcess> broker(with_many_options());
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
  Outgoing get = store.request(command({"GET", "key"}));
  get.response_topic = "clients/other/answer";
  EXPECT_EQ(store.ask(get).payload, "-ERR not authorized\r\n");
}

TEST(PluginPrivacy, TheAnswerGoesToTheRequesterThoughAnotherSubscribesToItsTopic) {
  const Lent<BrokerProcess> broker;
  MqttClient other(broker->port(), named("other"));
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(other.subscribe(store.response_topic()), 1);
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
  EXPECT_TRUE(other.nothing_arrives());
}

}  // namespace
}  // namespace sheaf::test
