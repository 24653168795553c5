// The plugin in brokers that differ in what they free, in how they store properties, and in what
// they offer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "protocol/statestore/topics.h"
#include "store/plugin/sink.h"
#include "tests/store/plugin/model_broker.h"
#include "tests/support/temporary_folder.h"

// CMake sets SHEAF_TEST_PLUGIN, and SHEAF_TEST_PLANTED_PLUGIN, which has a planted bug.

namespace sheaf::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

namespace statestore = protocol::statestore;

const Property response_topic{MQTT_PROP_RESPONSE_TOPIC, "clients/client-id1/answer", ""};
const Property correlation{MQTT_PROP_CORRELATION_DATA, std::string("\0one\xFF", 5), ""};
const Property content_type{MQTT_PROP_CONTENT_TYPE, "application/octet-stream", ""};
const Property format{MQTT_PROP_PAYLOAD_FORMAT_INDICATOR, "1", ""};
Property user(std::string name, std::string value) {
  return {MQTT_PROP_USER_PROPERTY, std::move(value), std::move(name)};
}

// From a client whose clock is slow. A SET must have one.
Property timestamp() { return user("__ts", "001700000000000:00000:tester"); }

ModelMessage request(std::string payload,
                     std::vector<Property> properties = {correlation, response_topic}) {
  return {std::string(statestore::request_topic), std::move(payload), std::move(properties)};
}
ModelMessage set() {
  return request("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nvalue\r\n",
                 {correlation, response_topic, timestamp()});
}
ModelMessage get() { return request("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"); }

void load(ModelBroker& broker, const std::string& module = SHEAF_TEST_PLUGIN) {
  const auto started = broker.load(module);
  ASSERT_EQ(started.version, 5);
  ASSERT_EQ(started.code, MOSQ_ERR_SUCCESS) << testing::PrintToString(broker.log());
}

// Properties in every order, requests that are answered, dropped and refused, and other messages.
std::vector<ModelMessage> messages_of_all_kinds() {
  const std::vector<std::vector<Property>> lists = {
      {correlation, response_topic},
      {response_topic, correlation},
      {timestamp(), response_topic, correlation},
      {timestamp(), user("other", "text"), user("__ft", ""), response_topic},
      {response_topic, user("other", ""), timestamp()},
      {format, content_type, response_topic, correlation, timestamp()},
      {content_type, response_topic},
      {response_topic},
      {correlation},  // no response topic: dropped
      {},
      {{MQTT_PROP_RESPONSE_TOPIC, "clients/#", ""}, correlation},  // ends the connection
  };
  std::vector<ModelMessage> all;
  for (const auto& list : lists) {
    for (ModelMessage message : {set(), get(), request("hello"), request("")}) {
      message.properties = list;
      all.push_back(message);
      message.retain = true;
      message.qos = 0;
      all.push_back(message);
    }
    all.push_back({"another/topic", "payload", list});
    all.push_back({std::string(statestore::notification_root) + "/x", "forged", list});
  }
  return all;
}

class PluginOwnership : public testing::TestWithParam<Replaced> {};

TEST_P(PluginOwnership, NothingIsFreedTwiceAndNothingStays) {
  ModelBroker broker({.replaced = GetParam()});
  load(broker);
  const std::size_t before = broker.live();
  std::size_t answered = 0;
  for (int round = 0; round < 100; ++round) {
    for (const ModelMessage& message : messages_of_all_kinds()) {
      broker.publish(message);
      answered += broker.answers().size();
      ASSERT_THAT(broker.faults(), IsEmpty());
      ASSERT_EQ(broker.live(), before);
    }
  }
  EXPECT_GT(answered, 1000u);
  broker.unload();
  EXPECT_EQ(broker.live(), 0u);
}

TEST_P(PluginOwnership, WhatIsRoutedOfARequestHasNoContent) {
  ModelBroker broker({.replaced = GetParam()});
  load(broker);
  for (const ModelMessage& message : messages_of_all_kinds()) {
    const auto routed = broker.publish(message);
    if (message.topic != statestore::request_topic || !routed) continue;
    EXPECT_EQ(routed->topic, store::plugin::sink_topic);
    EXPECT_EQ(routed->payload, "");
    EXPECT_FALSE(routed->retain);
    for (const Property& property : routed->properties) {
      EXPECT_EQ(property.name, "");
      EXPECT_THAT(property.value, testing::AnyOf("", "1"));  // "1": the payload is text
    }
  }
}

TEST_P(PluginOwnership, OtherMessagesStayAsTheyAre) {
  ModelBroker broker({.replaced = GetParam()});
  load(broker);
  const ModelMessage message{
      "another/topic", "payload", {correlation, user("__ft", "1:2:3")}, 1, true};
  const auto routed = broker.publish(message);
  ASSERT_TRUE(routed);
  EXPECT_EQ(routed->topic, message.topic);
  EXPECT_EQ(routed->payload, message.payload);
  EXPECT_EQ(routed->properties, message.properties);
  EXPECT_TRUE(routed->retain);
}

// Tests the test: a free of what the broker frees is detected, and only in that release.
TEST_P(PluginOwnership, APlantedFreeOfTheTopicIsFoundWhereTheBrokerFreesIt) {
  ModelBroker broker({.replaced = GetParam()});
  load(broker, SHEAF_TEST_PLANTED_PLUGIN);
  broker.publish(set());
  EXPECT_EQ(broker.faults().empty(), GetParam() == Replaced::left_alone);
}

INSTANTIATE_TEST_SUITE_P(UpTo2014, PluginOwnership, testing::Values(Replaced::left_alone));
INSTANTIATE_TEST_SUITE_P(From2015, PluginOwnership, testing::Values(Replaced::freed_by_broker));

class PluginEmptyTexts : public testing::TestWithParam<bool> {};

TEST_P(PluginEmptyTexts, AnEmptyFencingTokenIsWrongAndNotAbsent) {
  ModelBroker broker({.null_if_empty = GetParam()});
  load(broker);
  ModelMessage fenced = set();
  fenced.properties.push_back(user("__ft", ""));
  ASSERT_TRUE(broker.publish(fenced));
  const auto answers = broker.answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_THAT(answers[0].payload, testing::StartsWith("-ERR "));
  broker.publish(get());
  EXPECT_THAT(broker.answers(), ElementsAre(Field(&ModelMessage::payload, "$-1\r\n")));
}

TEST_P(PluginEmptyTexts, AnEmptyResponseTopicEndsTheConnection) {
  ModelBroker broker({.null_if_empty = GetParam()});
  load(broker);
  EXPECT_FALSE(broker.publish(request(set().payload, {{MQTT_PROP_RESPONSE_TOPIC, "", ""}})));
  EXPECT_THAT(broker.answers(), IsEmpty());
}

TEST_P(PluginEmptyTexts, EmptyCorrelationDataAndNamesAreTaken) {
  ModelBroker broker({.null_if_empty = GetParam()});
  load(broker);
  ASSERT_TRUE(broker.publish(
      request(set().payload,
              {{MQTT_PROP_CORRELATION_DATA, "", ""}, user("", ""), timestamp(), response_topic})));
  EXPECT_THAT(broker.answers(), ElementsAre(Field(&ModelMessage::payload, "+OK\r\n")));
  EXPECT_THAT(broker.faults(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(WithMemory, PluginEmptyTexts, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Null, PluginEmptyTexts, testing::Values(true));

TEST(PluginStart, AnAnswerCarriesTheRequestsCorrelationData) {
  ModelBroker broker({});
  load(broker);
  ASSERT_TRUE(broker.publish(set()));
  const auto answers = broker.answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].topic, response_topic.value);
  EXPECT_THAT(answers[0].properties, Contains(correlation));
}

TEST(PluginStart, ABrokerWhosePropertiesHaveAnotherFormIsRefusedInOneLine) {
  ModelBroker broker({.other_form = true});
  const auto started = broker.load(SHEAF_TEST_PLUGIN);
  EXPECT_EQ(started.version, 5);
  EXPECT_NE(started.code, MOSQ_ERR_SUCCESS);
  EXPECT_THAT(broker.log(), ElementsAre(HasSubstr("needs Mosquitto 2.0.11 to 2.1")));
  EXPECT_THAT(broker.faults(), IsEmpty());
  EXPECT_EQ(broker.live(), 0u);
}

TEST(PluginStart, ABrokerWithoutItsInterfaceIsRefusedInOneLine) {
  for (const std::vector<int>& versions : {std::vector<int>{4, 3, 2}, {6}, {}}) {
    ModelBroker broker({});
    EXPECT_EQ(broker.load(SHEAF_TEST_PLUGIN, versions).version, -1);
    EXPECT_THAT(broker.log(), ElementsAre(HasSubstr("needs Mosquitto 2.0.11 to 2.1")));
  }
}

// tests/live/plugin/rights_test.cpp shows that a real broker then does not start.
TEST(PluginStart, AnOptionThatItDoesNotTakeIsRefusedInOneLine) {
  const TemporaryFolder folder;
  const std::string rights = folder.file("rights.json");
  std::ofstream(rights) << "{}";
  std::filesystem::permissions(rights, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const std::vector<std::array<std::string, 3>> wrong = {
      {"max_kies", "7", "max_kies"},
      {"spelling", "maroon", "spelling"},
      {"rights", "", "rights must be the path of a file"},
      {"rights", rights, rights + " is writable by every user"}};
  for (const auto& [name, value, part] : wrong) {
    ModelBroker broker({.plugin_options = {{name, value}}});
    const auto started = broker.load(SHEAF_TEST_PLUGIN);
    EXPECT_EQ(started.version, 5);
    EXPECT_NE(started.code, MOSQ_ERR_SUCCESS) << part;
    EXPECT_THAT(broker.log(), ElementsAre(AllOf(HasSubstr("sheaf: "), HasSubstr(part))));
    EXPECT_THAT(broker.faults(), IsEmpty());
    EXPECT_EQ(broker.live(), 0u);
  }
}

TEST(PluginStart, TheEndOfAConnectionWhoseSessionLivesOnEndsItsWatchesIn21) {
  ModelBroker broker({.offline_event = true});
  load(broker);
  broker.publish(request("*2\r\n$9\r\nKEYNOTIFY\r\n$1\r\nk\r\n"));
  ModelMessage change = set();
  broker.publish(change);
  EXPECT_EQ(broker.answers().size(), 3u);  // two answers and a notification
  broker.end_connection(store::plugin::event_client_offline);
  change.properties[0].value = "another";  // so it is not a repeated request
  broker.publish(change);
  EXPECT_EQ(broker.answers().size(), 1u);
}

}  // namespace
}  // namespace sheaf::test
