// Start, options, several listeners, reload, kill: the plugin as part of a broker's life.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "store/plugin/broker_check.h"
#include "tests/live/plugin/shared_options.h"
#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"

namespace sheaf::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PluginLifecycle, OptionsReachTheEngine) {
  const Lent<BrokerProcess> broker(with_many_options());
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"SET", "a", "1"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "b", "2"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "c", "3"}), "-ERR the quota has been exceeded\r\n");
}

TEST(PluginLifecycle, AReloadKeepsTheStore) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"SET", "key", "value"}), "+OK\r\n");
  broker->reload("Reloading config.");
  EXPECT_EQ(store({"GET", "key"}), "$5\r\nvalue\r\n");
  StoreClient after(broker->port(), "client-id2");
  EXPECT_EQ(after({"GET", "key"}), "$5\r\nvalue\r\n");
}

TEST(PluginLifecycle, AKilledBrokerComesBackEmptyOnTheSamePort) {
  Lent<BrokerProcess> broker;
  const std::uint16_t port = broker->port();
  {
    StoreClient store(port, "client-id1");
    EXPECT_EQ(store({"SET", "key", "value"}), "+OK\r\n");
    broker.to_break().kill();
    EXPECT_EQ(store.mqtt().wait_end(), 0);
  }
  broker.to_break().restart();
  EXPECT_EQ(broker->port(), port);
  StoreClient store(port, "client-id1");
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST(PluginLifecycle, AStoppedBrokerAnswersWhenItGoesOn) {
  Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  broker.to_break().stop();
  const Outgoing set = store.request(command({"SET", "key", "value"}));
  const std::uint16_t id = store.mqtt().send(set);
  EXPECT_FALSE(store.mqtt().receive(std::chrono::milliseconds(50)));
  broker.to_break().resume();
  EXPECT_EQ(store.mqtt().wait_puback(id), 0);
  const auto answer = store.mqtt().receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->payload, "+OK\r\n");
}

TEST(PluginLifecycle, TheEndIsLoggedWithCounters) {
  Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"SET", "key", "value"}), "+OK\r\n");
  EXPECT_EQ(store({"GET", "key"}), "$5\r\nvalue\r\n");
  EXPECT_EQ(store("hello"), "-ERR syntax error\r\n");
  const std::string log = broker.to_break().forget();
  EXPECT_THAT(log, HasSubstr("state store ends with 1 keys in 8 bytes; requests 3, writes "
                             "1, duplicates 0, errors 1 (not authorized 0, over quota "
                             "0), dropped 0"));
  EXPECT_THAT(log, Not(HasSubstr("0x10")));
}

TEST(PluginLifecycle, WithoutTheSinkBridgeOneWarningComesWithTheFirstRequest) {
  BrokerOptions options;
  options.sink = false;
  BrokerProcess broker(options);
  EXPECT_THAT(broker.log(), Not(HasSubstr("0x10")));
  StoreClient store(broker.port(), "client-id1");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(store.mqtt().wait_puback(store.mqtt().send(store.request("hello"))), 0x10);
  }
  EXPECT_EQ(broker.terminate(), 0) << broker.log();
  const std::string log = broker.log();
  const std::size_t first = log.find("0x10");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("0x10", first + 1), std::string::npos) << log;
}

TEST(PluginLifecycle, PasswordsAndAccessControlOfTheBrokerHold) {
  const Lent<BrokerProcess> broker(with_access_control());
  ConnectOptions wrong;
  wrong.client_id = "client-id1";
  wrong.user = "alice";
  wrong.password = "guess";
  EXPECT_EQ(MqttClient(broker->port(), wrong).connack_reason(), 0x87);
  ConnectOptions right = wrong;
  right.password = "secret";
  StoreClient store(broker->port(), right);
  // The answer needs no read right, because it is published to the client, not to the topic.
  EXPECT_EQ(store({"SET", "key", "value"}), "+OK\r\n");
}

TEST(PluginLifecycle, ABrokerThatLacksAFunctionIsToldWhich) {
  const int version = 5;
  // This program exports none of the functions that plugins call.
  EXPECT_THAT(store::plugin::interface_fault(1, &version).value_or(""),
              HasSubstr("does not export mosquitto_broker_publish; the state store needs"));
}

TEST(PluginLifecycle, TheModuleExportsItsThreeFunctionsOnly) {
  // Any other exported symbol could clash with one of the broker or of another plugin.
  FILE* const pipe = ::popen(SHEAF_TEST_NM " -D --defined-only " SHEAF_TEST_PLUGIN, "r");
  ASSERT_NE(pipe, nullptr);
  std::vector<std::string> names;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    std::string name(line);
    name.pop_back();
    names.push_back(name.substr(name.rfind(' ') + 1));
  }
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("mosquitto_plugin_version", "mosquitto_plugin_init",
                                            "mosquitto_plugin_cleanup"));
}

}  // namespace
}  // namespace sheaf::test
