// Payloads and packets that no client sends by accident. The broker must answer or hang up, and
// survive.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"

namespace sheaf::test {
namespace {

using testing::StartsWith;

// A broker that has ended fails the test that has borrowed it. Under a sanitizer a finding appears
// in its exit status, at the latest after the last test.
class PluginHostile : public testing::Test {
 protected:
  const Lent<BrokerProcess> broker_;
};

TEST_F(PluginHostile, PayloadsCutAnywhereAreSyntaxErrors) {
  StoreClient store(broker_->port(), "client-id1");
  const std::string whole = command({"SET", "key", "value", "NEX", "PX", "1000"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(store(whole.substr(0, size)), "-ERR syntax error\r\n") << size;
  }
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST_F(PluginHostile, PayloadsWithAnyByteChangedAreAnswered) {
  StoreClient store(broker_->port(), "client-id1");
  const std::string whole = command({"SET", "key", "value"});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'\0', '9', '-', '\r', '\n', '$', '*', '\xFF'}) {
      std::string changed = whole;
      changed[at] = other;
      const std::string answer = store(changed);
      EXPECT_TRUE(answer.starts_with("+OK") || answer.starts_with("-ERR ")) << at << ' ' << answer;
    }
  }
}

TEST_F(PluginHostile, LengthsThatLieAreErrors) {
  StoreClient store(broker_->port(), "client-id1");
  for (const std::string& payload : std::vector<std::string>{
           "*", "*\r\n", "*0\r\n", "*-1\r\n", "*99999999999999999999\r\n", "*2147483647\r\n",
           "*2\r\n$-1\r\n$3\r\nkey\r\n", "*2\r\n$3\r\nGET\r\n$18446744073709551615\r\nkey\r\n",
           "*2\r\n$3\r\nGET\r\n$4294967299\r\nkey\r\n", "*2\r\n$3\r\nGET\r\n$2\r\nkey\r\n",
           "*2\r\n$3\r\nGET\r\n$4\r\nkey\r\n", "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n\r\n",
           "*2\r\n:3\r\n$3\r\nkey\r\n", std::string(100'000, '*'), std::string(100'000, '\0')}) {
    EXPECT_THAT(store(payload), StartsWith("-ERR ")) << payload.substr(0, 60);
  }
}

TEST_F(PluginHostile, NumbersThatAreNoExpiryAreErrorsAndChangeNothing) {
  StoreClient store(broker_->port(), "client-id1");
  for (const char* const number :
       {"0", "-1", "1.5", "", " 1", "1 ", "+1", "0x10", "ten", "99999999999999999999999"}) {
    EXPECT_THAT(store({"SET", "key", "value", "PX", number}), StartsWith("-ERR ")) << number;
  }
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
  EXPECT_EQ(store({"SET", "key", "value", "PX", "922337203685477"}), "+OK\r\n");
}

TEST_F(PluginHostile, TimestampsFromTheFarFutureAreRefused) {
  StoreClient store(broker_->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.user = {{"__ts", timestamp(120'000)}};
  EXPECT_EQ(
      store.ask(set).payload,
      "-ERR the request timestamp is too far in the future; ensure that the client and broker "
      "system clocks are synchronized\r\n");
  for (const char* const bad : {"", ":", "::", "1", "1:2", "a:0:n", "1:a:n", "-1:0:n",
                                "99999999999999999999999:0:n", "1:2:", "1:2:3:4"}) {
    set = store.request(command({"SET", "key", "value"}));
    set.user = {{"__ts", bad}};
    EXPECT_EQ(store.ask(set).payload, "-ERR malformed timestamp\r\n") << bad;
  }
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST_F(PluginHostile, PropertiesOfTheGreatestLengthAreCarried) {
  StoreClient store(broker_->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.user.emplace_back(std::string(65535, 'n'), std::string(65535, 'v'));
  for (int i = 0; i < 1000; ++i) set.user.emplace_back("name", "value");
  set.user.emplace_back("", "");
  EXPECT_EQ(store.ask(set).payload, "+OK\r\n");
  set = store.request(command({"SET", "key", "value"}));
  set.user = {{"__ts", std::string(65535, '1')}};
  EXPECT_EQ(store.ask(set).payload, "-ERR malformed timestamp\r\n");
}

TEST_F(PluginHostile, PacketsCutAnywhereHurtOnlyTheirSender) {
  StoreClient store(broker_->port(), "client-id1");
  const std::string topic(store_request);
  std::string packet = "\x32";
  std::string body;
  body += static_cast<char>(topic.size() >> 8);
  body += static_cast<char>(topic.size());
  body += topic + std::string("\x00\x01\x00", 3) + "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
  packet += static_cast<char>(body.size());
  packet += body;
  for (std::size_t size = 1; size < packet.size(); ++size) {
    ConnectOptions options;
    options.client_id = "cut";
    MqttClient cut(broker_->port(), options);
    cut.send_raw(packet.substr(0, size));
    cut.drop();
  }
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST_F(PluginHostile, AThousandUnreadAnswersDoNotHarmTheBroker) {
  StoreClient store(broker_->port(), "client-id1");
  EXPECT_EQ(store({"SET", "key", std::string(1000, 'v')}), "+OK\r\n");
  {
    StoreClient flood(broker_->port(), "flood");
    for (int i = 0; i < 1000; ++i) flood.mqtt().send(flood.request(command({"GET", "key"})));
    flood.mqtt().drop();
  }
  EXPECT_EQ(store({"DEL", "key"}), ":1\r\n");
}

}  // namespace
}  // namespace sheaf::test
