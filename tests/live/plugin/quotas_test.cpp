// Limits of users and clients on a real broker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/live/plugin/store_client.h"
#include "tests/support/lent.h"
#include "tests/support/rights_file.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view ok_reply = "+OK\r\n";

ConnectOptions as_client(const std::string& user, std::string client_id) {
  ConnectOptions options;
  options.client_id = std::move(client_id);
  options.user = user;
  options.password = user;
  return options;
}

std::string document(const std::string& limits_of_ann) {
  return R"({"users": {"ann": {"limits": )" + limits_of_ann +
         R"(}}, "everybody": {"keys": {"*": ["read", "write", "watch"]}}})";
}

std::string over(const std::string& what) {
  return "-ERR the quota has been exceeded: at most " + what + "\r\n";
}

TEST(PluginQuotas, AllConnectionsOfAUserShareItsKeysAndBytes) {
  const RightsFile file(document(R"({"keys": 2, "bytes": 20})"));
  Lent<BrokerProcess> broker(with_rights(file));
  StoreClient first(broker->port(), as_client("ann", "first"));
  StoreClient second(broker->port(), as_client("ann", "second"));
  StoreClient bob(broker->port(), as_client("bob", "third"));
  EXPECT_EQ(first({"SET", "a", "1"}), ok_reply);
  EXPECT_EQ(second({"SET", "b", "1"}), ok_reply);
  EXPECT_EQ(second({"SET", "c", "1"}), over("2 keys"));
  EXPECT_EQ(bob({"SET", "c", "1"}), ok_reply);
  EXPECT_EQ(first({"SET", "a", std::string(20, 'v')}), over("20 bytes of keys and values"));
  EXPECT_EQ(first({"DEL", "b"}), ":1\r\n");
  EXPECT_EQ(second({"SET", "d", "1"}), ok_reply);
  EXPECT_THAT(broker.to_break().forget(), HasSubstr("over quota 2)"));
}

TEST(PluginQuotas, WatchesCountUntilTheyStopOrTheirConnectionEnds) {
  const RightsFile file(document(R"({"watches": 2})"));
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient first(broker->port(), as_client("ann", "first"));
  {
    StoreClient second(broker->port(), as_client("ann", "second"));
    EXPECT_EQ(first({"KEYNOTIFY", "a"}), ok_reply);
    EXPECT_EQ(second({"KEYNOTIFY", "a"}), ok_reply);
    EXPECT_EQ(first({"KEYNOTIFY", "b"}), over("2 watches"));
    second.mqtt().disconnect();
  }
  EXPECT_EQ(first({"KEYNOTIFY", "b"}), ok_reply);
  EXPECT_EQ(first({"KEYNOTIFY", "c"}), over("2 watches"));
  EXPECT_EQ(first({"KEYNOTIFY", "a", "STOP"}), ok_reply);
  EXPECT_EQ(first({"KEYNOTIFY", "c"}), ok_reply);
}

// The rate is one request a second, and far more are sent than seconds can pass meanwhile.
TEST(PluginQuotas, MoreRequestsThanTheRateAllowsAreRefused) {
  const RightsFile file(document(R"({"requests_per_second": 1})"));
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as_client("ann", "first"));
  StoreClient bob(broker->port(), as_client("bob", "second"));
  const auto start = std::chrono::steady_clock::now();
  unsigned passed = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string answer = ann({"GET", "key"});
    if (answer == "$-1\r\n") {
      ++passed;
    } else {
      EXPECT_EQ(answer, over("1 requests a second"));
    }
    EXPECT_EQ(bob({"GET", "key"}), "$-1\r\n");
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(passed, 1u);
  EXPECT_LE(passed, 1 + took.count());
  EXPECT_THAT(broker->log(), HasSubstr("sheaf: too many requests a second: user \"ann\", client "
                                       "\"first\", GET of \"key\""));
}

// A client with a watch probes on its own, every two seconds.
TEST(PluginQuotas, AProbeIsAnsweredAndNotCountedWhenTheRateIsUsedUp) {
  const RightsFile file(document(R"({"requests_per_second": 1})"));
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as_client("ann", "first"));
  wait_for_condition("the rate is used up", [&] { return ann({"GET", "key"}) != "$-1\r\n"; });
  for (int i = 0; i < 100; ++i) ASSERT_EQ(ann({"GET", "sheaf/probe"}), "$-1\r\n") << i;
  EXPECT_EQ(broker->log().find("GET of \"sheaf/probe\""), std::string::npos);
}

TEST(PluginQuotas, AReloadChangesLimitsOfClientsThatAreConnected) {
  const RightsFile file(document(R"({"keys": 1})"));
  const Lent<BrokerProcess> broker(with_rights(file));
  StoreClient ann(broker->port(), as_client("ann", "first"));
  EXPECT_EQ(ann({"SET", "a", "1"}), ok_reply);
  EXPECT_EQ(ann({"SET", "b", "1"}), over("1 keys"));
  file.write(document(R"({"keys": 2})"));
  reload(*broker);
  EXPECT_EQ(ann({"SET", "b", "1"}), ok_reply);
  EXPECT_EQ(ann({"SET", "c", "1"}), over("2 keys"));
}

}  // namespace
}  // namespace sheaf::test
