// The plugin's answers on a real broker, byte by byte.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/live/plugin/store_client.h"
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"

namespace sheaf::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

BrokerOptions with(std::string name, std::string value) {
  BrokerOptions options;
  options.plugin_options.emplace_back(std::move(name), std::move(value));
  return options;
}

TEST(PluginReplies, SpellsAnswersAsTheSdksReadThem) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
  EXPECT_EQ(store({"SET", "key", "value"}), "+OK\r\n");
  EXPECT_EQ(store({"SET", "key", "other", "NX"}), ":-1\r\n");
  EXPECT_EQ(store({"SET", "key", "other", "NEX"}), ":-1\r\n");
  EXPECT_EQ(store({"SET", "key", "value", "NEX", "PX", "60000"}), "+OK\r\n");
  EXPECT_EQ(store({"GET", "key"}), "$5\r\nvalue\r\n");
  EXPECT_EQ(store({"VDEL", "key", "other"}), ":-1\r\n");
  EXPECT_EQ(store({"VDEL", "key", "value"}), ":1\r\n");
  EXPECT_EQ(store({"DEL", "key"}), ":0\r\n");
  EXPECT_EQ(store({"SET", "empty", ""}), "+OK\r\n");
  EXPECT_EQ(store({"GET", "empty"}), "$0\r\n\r\n");
  EXPECT_EQ(store({"DEL", "empty"}), ":1\r\n");
  EXPECT_EQ(store({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(store({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(store({"KEYNOTIFY", "key", "STOP"}), "+OK\r\n");
  EXPECT_EQ(store({"KEYNOTIFY", "key", "STOP"}), ":0\r\n");
  EXPECT_EQ(store({"NONSENSE", "key"}), "-ERR unknown command\r\n");
  EXPECT_EQ(store({"SET", "", "value"}), "-ERR the key length is zero\r\n");
  EXPECT_EQ(store("hello"), "-ERR syntax error\r\n");
}

TEST(PluginReplies, SpellsAnswersAsTheProtocolPagePrintsThem) {
  BrokerProcess broker(with("spelling", "page"));
  StoreClient store(broker.port(), "client-id1");
  EXPECT_EQ(store({"set", "key", "value"}), "+OK\r\n");
  EXPECT_EQ(store({"set", "key", "other", "nx"}), "-1\r\n");
  EXPECT_EQ(store({"get", "key"}), "$5\r\nvalue\r\n");
  EXPECT_EQ(store({"vdel", "key", "other"}), "-1\r\n");
  EXPECT_EQ(store({"keynotify", "key"}), "+OK\r\n");
  EXPECT_EQ(store({"del", "key"}), ":1\r\n");
  const auto deleted = store.notification();
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->payload, "*2\r\n$6\r\nNOTIFY\r\n$3\r\nDEL\r\n");
  EXPECT_EQ(store("hello"), "-ERR syntax error\r\n");
  EXPECT_EQ(store({"keynotify", "key", "nonsense"}), "-ERR: syntax error\r\n");
}

TEST(PluginReplies, CarryCorrelationStatusVersionAndContentType) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.correlation = std::string("\x00\xFF\x7F\r\n odd length", 16);
  const Message written = store.ask(set);
  EXPECT_EQ(written.topic, store.response_topic());
  EXPECT_EQ(written.qos, 1);
  EXPECT_FALSE(written.retain);
  EXPECT_EQ(written.correlation, set.correlation);
  EXPECT_EQ(written.content_type, "application/octet-stream");
  EXPECT_EQ(written.user_value("__stat"), "200");
  EXPECT_EQ(written.user_value("__protVer"), "1.0");
  EXPECT_EQ(written.user_value("__srcId"), "StateStore");
  const auto version = written.user_value("__ts");
  ASSERT_TRUE(version);
  EXPECT_THAT(*version, EndsWith(":StateStore"));
  EXPECT_THAT(*version, StartsWith("00"));  // 15 digits

  const Message read = store.ask(store.request(command({"GET", "key"})));
  EXPECT_EQ(read.user_value("__ts"), version);
  const Message error = store.ask(store.request("hello"));
  EXPECT_EQ(error.user_value("__stat"), "200");
}

TEST(PluginReplies, TakeCorrelationDataOfEveryLength) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  for (const std::size_t size : {0u, 1u, 36u, 65535u}) {
    Outgoing get = store.request(command({"GET", "key"}));
    get.correlation = std::string(size, 'c');
    EXPECT_EQ(store.ask(get).payload, "$-1\r\n") << size;
  }
}

TEST(PluginReplies, SyntaxErrorToAnotherQualityOfServiceThanOne) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.qos = 0;
  EXPECT_EQ(store.ask(set).payload, "-ERR syntax error\r\n");
  set.qos = 2;
  store.mqtt().send(set);
  const auto answer = store.mqtt().receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->payload, "-ERR syntax error\r\n");
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST(PluginReplies, SyntaxErrorWithoutCorrelationData) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.correlation.reset();
  EXPECT_EQ(store.ask(set).payload, "-ERR syntax error\r\n");
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST(PluginReplies, NoneAndNoExecutionWithoutResponseTopic) {
  Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.response_topic.reset();
  EXPECT_EQ(store.mqtt().wait_puback(store.mqtt().send(set)), 0);
  EXPECT_TRUE(store.mqtt().nothing_arrives());
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
  EXPECT_THAT(broker.to_break().forget(), HasSubstr("dropped 1,"));
}

TEST(PluginReplies, TheFirstOfSeveralTimestampsCounts) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.user.emplace_back("__ts", "nonsense");
  EXPECT_EQ(store.ask(set).payload, "+OK\r\n");
  set = store.request(command({"SET", "key", "value"}));
  set.user = {{"__ts", "nonsense"}, {"__ts", timestamp()}};
  EXPECT_EQ(store.ask(set).payload, "-ERR malformed timestamp\r\n");
  set.user = {};
  set.correlation = "another";
  EXPECT_EQ(store.ask(set).payload, "-ERR missing timestamp\r\n");
}

TEST(PluginReplies, FencingTokensReachTheEngine) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  const std::string token = timestamp();
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.user.emplace_back("__ft", token);
  EXPECT_EQ(store.ask(set).payload, "+OK\r\n");
  EXPECT_EQ(store({"SET", "key", "other"}),
            "-ERR a fencing token is required for this request\r\n");
  Outgoing stale = store.request(command({"SET", "key", "other"}));
  stale.user.emplace_back("__ft", timestamp(-10'000));
  EXPECT_EQ(store.ask(stale).payload,
            "-ERR the request fencing token is a lower version than the fencing token protecting "
            "the resource\r\n");
}

TEST(PluginReplies, BinaryKeysAndTenMebibyteValuesComeBackByteForByte) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  std::string key;
  for (int c = 0; c < 256; ++c) key += static_cast<char>(c);
  std::string value(10u << 20, '\0');
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 31 >> 3);
  EXPECT_EQ(store({"SET", key, value}), "+OK\r\n");
  const std::string read = store({"GET", key});
  EXPECT_TRUE(read == "$10485760\r\n" + value + "\r\n") << read.size();
  EXPECT_EQ(store({"DEL", key}), ":1\r\n");
}

TEST(PluginReplies, ARequestSentAgainIsExecutedOnce) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  const Outgoing set = store.request(command({"SET", "key", "value", "NX"}));
  const Message first = store.ask(set);
  Outgoing again = set;
  again.dup = true;
  const Message second = store.ask(again);
  EXPECT_EQ(first.payload, "+OK\r\n");
  EXPECT_EQ(second.payload, "+OK\r\n");
  EXPECT_EQ(second.user_value("__ts"), first.user_value("__ts"));
}

TEST(PluginReplies, ARequestSentAgainOverANewConnectionIsExecutedOnce) {
  Lent<BrokerProcess> broker;
  ConnectOptions session;
  session.client_id = "again";  // of this test alone: the session outlives it
  session.clean_start = false;
  session.session_expiry = 3600;
  Outgoing set;
  {
    StoreClient store(broker->port(), session);
    set = store.request(command({"SET", "key", "value", "NX"}));
    EXPECT_EQ(store.ask(set).payload, "+OK\r\n");
    store.mqtt().drop();
  }
  StoreClient store(broker->port(), session);
  EXPECT_TRUE(store.mqtt().session_present());
  EXPECT_EQ(store.ask(set).payload, "+OK\r\n");
  EXPECT_THAT(broker.to_break().forget(), HasSubstr("writes 1, duplicates 1,"));
}

// The same request except for its timestamp (and its fencing token, if given).
Outgoing stamped(Outgoing request, const std::string& timestamp, const std::string& token = {}) {
  request.user = {{"__ts", timestamp}};
  if (!token.empty()) request.user.emplace_back("__ft", token);
  return request;
}

TEST(PluginReplies, ALockRenewedUnderTheSameCorrelationIsExecuted) {
  Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  const Outgoing lock = store.request(command({"SET", "lock", "me", "NEX", "PX", "60000"}));
  const Message first = store.ask(stamped(lock, timestamp(-2)));
  const Message second = store.ask(stamped(lock, timestamp(-1)));
  EXPECT_EQ(first.payload, "+OK\r\n");
  EXPECT_EQ(second.payload, "+OK\r\n");
  EXPECT_GT(second.user_value("__ts"), first.user_value("__ts"));
  EXPECT_THAT(broker.to_break().forget(), HasSubstr("writes 2, duplicates 0,"));
}

TEST(PluginReplies, RemovingAgainUnderTheSameCorrelationRemoves) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  EXPECT_EQ(store({"SET", "key", "value"}), "+OK\r\n");
  const Outgoing remove = store.request(command({"DEL", "key"}));
  Outgoing set = store.request(command({"SET", "key", "value"}));
  set.correlation = remove.correlation;
  EXPECT_EQ(store.ask(stamped(remove, timestamp(-3))).payload, ":1\r\n");
  EXPECT_EQ(store.ask(stamped(set, timestamp(-2))).payload, "+OK\r\n");
  EXPECT_EQ(store.ask(stamped(remove, timestamp(-1))).payload, ":1\r\n");
  EXPECT_EQ(store({"GET", "key"}), "$-1\r\n");
}

TEST(PluginReplies, ACorrectedClockIsNotRefusedAgain) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  const Outgoing set = store.request(command({"SET", "key", "value"}));
  EXPECT_THAT(store.ask(stamped(set, timestamp(600'000))).payload,
              StartsWith("-ERR the request timestamp is too far in the future"));
  EXPECT_EQ(store.ask(stamped(set, timestamp())).payload, "+OK\r\n");
}

TEST(PluginReplies, AnotherFencingTokenUnderTheSameCorrelationIsAnotherRequest) {
  const Lent<BrokerProcess> broker;
  StoreClient store(broker->port(), "client-id1");
  const Outgoing set = store.request(command({"SET", "key", "value"}));
  const std::string sent = timestamp();
  EXPECT_EQ(store.ask(stamped(set, sent, timestamp(-10))).payload, "+OK\r\n");
  EXPECT_THAT(store.ask(stamped(set, sent, timestamp(-10'000))).payload, StartsWith("-ERR "));
}

TEST(PluginReplies, MosquittosOwnRequestToolGetsAnAnswer) {
  const Lent<BrokerProcess> broker;
  const std::filesystem::path answer = broker->folder() / "answer";
  // In 2.0.11 its -f sends nothing, so the payload is on the command line.
  std::string request = SHEAF_TEST_MOSQUITTO_RR " -V 5 -q 1 -W 20 -h 127.0.0.1 -p ";
  request.append(std::to_string(broker->port())).append(" -t ").append(store_request);
  request += " -e clients/rr/answer -D PUBLISH correlation-data 0123456789abcdef";
  request.append(" -D PUBLISH user-property __ts ").append(timestamp());
  request.append(" -m '").append(command({"SET", "key", "value"})).append("'");
  request.append(" -F '%t %D %P %p' > '").append(answer.string()).append("'");
  ASSERT_EQ(std::system(request.c_str()), 0) << request;
  std::ifstream in(answer);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_THAT(text, StartsWith("clients/rr/answer 0123456789abcdef "));
  EXPECT_THAT(text, HasSubstr("__stat:200"));
  EXPECT_THAT(text, HasSubstr(":StateStore"));
  EXPECT_THAT(text, HasSubstr("+OK\r\n"));
}

}  // namespace
}  // namespace sheaf::test
