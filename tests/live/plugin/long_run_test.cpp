// Many requests: none leaves anything in the broker, and none is seen where it is routed.
// SHEAF_PLUGIN_REQUESTS is their number. Under AddressSanitizer the broker's exit status says if
// memory was leaked or freed twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "base/random.h"
#include "store/plugin/sink.h"
#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"

namespace sheaf::test {
namespace {

using testing::HasSubstr;

int requests() {
  const char* const given = std::getenv("SHEAF_PLUGIN_REQUESTS");
  return given == nullptr ? 2'000 : std::atoi(given);
}

// A request with some of the other properties that clients send.
Outgoing any_request(StoreClient& store, Random& random) {
  const std::string key = "key" + std::to_string(random.below(100));
  Outgoing out = store.request(random.below(2) == 0
                                   ? command({"SET", key, std::string(random.below(300), 'v')})
                                   : command({"GET", key}));
  if (random.below(4) == 0) out.correlation.reset();
  if (random.below(4) == 0) out.user.emplace_back("", "");
  if (random.below(8) == 0) out.user.emplace_back("__ft", random.below(2) == 0 ? "" : timestamp());
  out.retain = random.below(8) == 0;
  return out;
}

TEST(PluginLongRun, RequestsLeaveNothingBehindAndShowNothingToASubscriberOfTheSink) {
  BrokerProcess broker;
  ConnectOptions curious;
  curious.client_id = "curious";
  MqttClient snooper(broker.port(), curious);
  ASSERT_EQ(snooper.subscribe(store::plugin::sink_topic, 0), 0);
  StoreClient store(broker.port(), "client-id1");
  Random random(1);
  const int total = requests();
  for (int done = 0; done < total;) {
    const int window = std::min(100, total - done);
    std::vector<std::uint16_t> ids;
    for (int i = 0; i < window; ++i) ids.push_back(store.mqtt().send(any_request(store, random)));
    for (const std::uint16_t id : ids) ASSERT_EQ(store.mqtt().wait_puback(id), 0);
    for (int i = 0; i < window; ++i) ASSERT_TRUE(store.mqtt().receive());
    for (int i = 0; i < window; ++i) {
      const auto seen = snooper.receive();
      ASSERT_TRUE(seen);
      ASSERT_EQ(seen->payload, "");
      ASSERT_EQ(seen->content_type, "");
      ASSERT_EQ(seen->correlation.value_or(""), "");
      for (const auto& [name, value] : seen->user) ASSERT_EQ(name + value, "");
    }
    done += window;
    ASSERT_TRUE(done % 1'000 != 0 || snooper.ping()) << "or its keepalive ends it";
  }
  EXPECT_EQ(broker.terminate(), 0) << broker.log();
  EXPECT_THAT(broker.log(), HasSubstr("requests " + std::to_string(total) + ","));
}

// Mosquitto 2.1, unless it is built with libwebsockets, sleeps until something is due. So the store
// must have asked for its tick, even after a packet that came between two ticks.
TEST(PluginLongRun, AKeyExpiresInABrokerThatNobodyTalksTo) {
  BrokerOptions options;
  options.extra = "sys_interval 0\n";  // no traffic of its own either
  options.sink = false;
  const BrokerProcess broker(options);
  StoreClient store(broker.port(), "client-id1");
  for (const std::string_view ttl : {"150", "230", "310"}) {
    store.mqtt().send(store.request(command({"SET", ttl, "value", "PX", ttl})));
    store.mqtt().send(store.request(command({"KEYNOTIFY", ttl})));
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(store.mqtt().receive());
    // Without its own tick the broker next wakes for its clients' keepalive, after 5 s.
    ASSERT_TRUE(store.mqtt().receive(std::chrono::seconds(4))) << ttl;
  }
}

}  // namespace
}  // namespace sheaf::test
