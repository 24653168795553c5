// Real brokers that stop, die and return.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"

#ifdef SHEAF_TEST_BROKERS
#include "tests/live/client/shared_logins.h"
#include "tests/support/broker_process.h"
#include "tests/support/lent.h"
#include "tests/support/sanitized.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// By design 1.2 s; the rest is for a busy machine. Under a sanitizer the machine sets the pace.
constexpr auto recovery_limit = 3s * test::slowness;

class BrokerOutage : public testing::Test {
 protected:
  explicit BrokerOutage(std::string_view options = {}) {
    std::string uri = "mqtt://";
    for (const auto& broker : brokers) {
      if (uri.back() != '/') uri += ',';
      uri += "127.0.0.1:" + std::to_string(broker->port());
    }
    client.emplace(test::open(uri.append(options)));
    for (int i = 0; i < 1000; ++i) names.push_back("outage/" + std::to_string(i));
    keys.assign(names.begin(), names.end());
    std::vector<SetItem> items;
    for (const auto& name : names) items.push_back({name, name});
    for (const auto& stored : client->set_many(items, {.timeout = 20s})) stored.result.value();
  }
  std::string node(unsigned index) const {
    return "127.0.0.1:" + std::to_string(brokers[index]->port());
  }
  // Reads all keys. Those of `dead` must fail and name it; all others must be right.
  void read_all_without(unsigned dead, std::chrono::milliseconds timeout) {
    const auto start = Clock::now();
    const auto got = client->get_many(keys, {.timeout = timeout});
    EXPECT_LT(Clock::now() - start, timeout + recovery_limit);
    ASSERT_EQ(got.size(), names.size());
    unsigned failed = 0;
    for (const auto& [key, result] : got) {
      if (client->locate(key)->node == node(dead)) {
        ASSERT_FALSE(result) << key;
        EXPECT_EQ(result.error().node, node(dead));
        ++failed;
      } else {
        ASSERT_TRUE(result) << result.error().message();
        EXPECT_EQ(result->value().data, key);
      }
    }
    EXPECT_GT(failed, 250u);
  }
  std::string key_on(unsigned index) const {
    for (const auto& name : names) {
      if (client->locate(name)->node == node(index)) return name;
    }
    return {};
  }
  // The time from now until a steady caller succeeds.
  Clock::duration time_to_success(unsigned index) {
    const std::string key = key_on(index);
    const auto start = Clock::now();
    while (Clock::now() - start < 20s) {
      if (client->get(key, {.timeout = 500ms})) return Clock::now() - start;
      std::this_thread::yield();
    }
    return 20s;
  }
  NodeStats stats(unsigned index) const { return client->stats()[index]; }

  std::array<test::Lent<test::BrokerProcess>, 3> brokers;
  std::vector<std::string> names;
  std::vector<std::string_view> keys;
  std::optional<Client> client;
};

TEST_F(BrokerOutage, AStoppedBrokerFailsItsOwnKeysOnlyAndIsBackSoonAfterItGoesOn) {
  brokers[1].to_break().stop();
  read_all_without(1, 3s);  // times out
  read_all_without(1, 3s);  // by now the node is known to be down
  EXPECT_EQ(stats(1).health, NodeHealth::down);
  const std::uint64_t requests = stats(1).requests;
  const std::uint64_t probes = stats(1).probes;
  while (stats(1).probes < probes + 2) std::this_thread::yield();
  EXPECT_EQ(stats(1).requests, requests);  // probes are not user requests
  brokers[1].to_break().resume();
  EXPECT_LT(time_to_success(1), recovery_limit);
}

TEST_F(BrokerOutage, AKilledBrokerFailsItsOwnKeysOnlyAndStartsEmpty) {
  brokers[2].to_break().kill();
  read_all_without(2, 3s);
  brokers[2].to_break().restart();
  EXPECT_LT(time_to_success(2), recovery_limit);
  EXPECT_FALSE(client->get(key_on(2)).value().has_value());
  EXPECT_TRUE(client->get(key_on(0)).value().has_value());
}

TEST_F(BrokerOutage, RepeatedOutagesEndInRecoveryEveryTime) {
  for (int round = 0; round < 3; ++round) {
    brokers[0].to_break().stop();
    EXPECT_FALSE(client->get(key_on(0), {.timeout = 300ms}));
    // Each outage is longer than the last. The client's health state and probes decide when it
    // ends.
    while (round > 0 && stats(0).health == NodeHealth::up) {
      EXPECT_FALSE(client->get(key_on(0), {.timeout = 100ms}));
    }
    const std::uint64_t probes = stats(0).probes;
    while (round > 1 && stats(0).probes < probes + 2) std::this_thread::yield();
    brokers[0].to_break().resume();
    EXPECT_LT(time_to_success(0), recovery_limit);
    brokers[0].to_break().kill();
    EXPECT_FALSE(client->get(key_on(0), {.timeout = 300ms}));
    brokers[0].to_break().restart();
    EXPECT_LT(time_to_success(0), recovery_limit);
  }
}

class BrokerRehash : public BrokerOutage {
 protected:
  BrokerRehash() : BrokerOutage("?failover=rehash") {}
};

TEST_F(BrokerRehash, KeysOfAKilledBrokerGoToTheOthersAndComeBackToAnEmptyOne) {
  std::vector<SetItem> items;
  for (const auto& name : names) items.push_back({name, name});
  const auto failures = [&] {
    return std::ranges::count_if(client->set_many(items, {.timeout = 1s}),
                                 [](const auto& stored) { return !stored.result; });
  };
  const auto start = Clock::now();
  brokers[1].to_break().kill();
  while (failures() > 0) ASSERT_LT(Clock::now() - start, 20s);
  for (const auto& got : client->get_many(keys)) EXPECT_EQ(got.result.value()->data, got.key);
  brokers[1].to_break().restart();
  const std::string key = key_on(1);
  while (client->get(key).value()) ASSERT_LT(Clock::now() - start, 40s);
}

// A broker that was only stopped has kept its memory: the caveat of failover=rehash.
TEST_F(BrokerRehash, ABrokerThatWasStoppedReturnsWithItsOldValues) {
  const std::string key = key_on(1);
  const auto start = Clock::now();
  brokers[1].to_break().stop();
  // Reads discover that it is down. A set that it received would be executed when it continues.
  while (!client->get(key, {.timeout = 300ms})) ASSERT_LT(Clock::now() - start, 20s);
  ASSERT_TRUE(client->set(key, "new"));
  EXPECT_EQ(client->get(key).value()->data, "new");
  brokers[1].to_break().resume();
  while (client->get(key).value()->data != key) ASSERT_LT(Clock::now() - start, 40s);
}

// Mosquitto's default delays small packets: its reply waits for our acknowledgement of its PUBACK,
// for 40 ms if we delay that.
TEST(BrokerNagle, ABrokerThatDelaysSmallPacketsDoesNotStallAGet) {
  const test::Lent<test::BrokerProcess> broker(test::broker_with_a_login());
  Client client = test::open("mqtt://app:s3cret@127.0.0.1:" + std::to_string(broker->port()));
  client.set("k", "v").value();
  const auto start = Clock::now();
  for (int i = 0; i < 100; ++i) client.get("k").value();
  EXPECT_LT(Clock::now() - start, 2s);  // 4.4 s with the stall
}

TEST(BrokerLogin, AWrongPasswordIsOneClearSentence) {
  const test::Lent<test::BrokerProcess> broker(test::broker_with_a_login());
  const std::string address = "127.0.0.1:" + std::to_string(broker->port());
  Client good = test::open("mqtt://app:s3cret@" + address);
  EXPECT_TRUE(good.set("k", "v").value().stored);
  Client bad = test::open("mqtt://app:blunder@" + address);
  const auto refused = bad.get("k");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::not_sent);
  EXPECT_EQ(refused.error().reason, Reason::authentication);
  EXPECT_EQ(refused.error().node, address);
  EXPECT_EQ(refused.error().message().find("blunder"), std::string::npos);
}

}  // namespace
}  // namespace sheaf
#endif
