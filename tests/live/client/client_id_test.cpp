// Client IDs that the rules of a real broker name (client_id_exact).

#ifdef SHEAF_TEST_BROKERS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/watch.h>

#include "base/text.h"
#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/rights_file.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string uri(const BrokerProcess& broker, const std::string& options) {
  return "mqtt://127.0.0.1:" + std::to_string(broker.port()) + "?timeout=20s" + options;
}

// How often the broker has accepted a client with this ID.
unsigned connects(const BrokerProcess& broker, const std::string& id) {
  const std::string log = broker.log();
  const std::string line = " as " + id + " (";
  unsigned count = 0;
  for (std::size_t at = log.find(line); at != log.npos; at = log.find(line, at + 1)) ++count;
  return count;
}

// The value of the next `set` that a watch reports within the wait.
std::optional<std::string> next_set(Watch& watch, std::chrono::milliseconds wait) {
  for (;;) {
    const auto event = watch.next({.wait = wait});
    if (!event || !*event) return std::nullopt;
    if ((*event)->kind == WatchEvent::Kind::set) return (*event)->value;
    EXPECT_NE((*event)->kind, WatchEvent::Kind::failed) << (*event)->error->message();
  }
}

// A watch of the key that knows its present content.
Watch watch(Client& client, std::string_view key) {
  Watch watch = client.watch(std::vector{key}).value();
  EXPECT_EQ(watch.next({.wait = 20s}).value()->kind, WatchEvent::Kind::current);
  return watch;
}

TEST(ClientIdExact, TheBrokersLogHasItForRequestsWatchesAndProbes) {
  Lent<BrokerProcess> broker;
  Client client = open(uri(*broker, "&client_id_exact=press-7&pool_min=2&pool_max=2"));
  ASSERT_TRUE(client.set("key", "1"));
  Watch watched = watch(client, "key");
  wait_for_condition("all connections", [&] {
    return connects(*broker, "press-7") == 1 && connects(*broker, "press-7-2") == 1 &&
           connects(*broker, "press-7-watch") == 1;
  });
  broker.to_break().kill();
  wait_for_condition("the node is down",
                     [&] { return client.stats()[0].health == NodeHealth::down; });
  broker.to_break().restart();
  wait_for_condition("a probe", [&] { return connects(*broker, "press-7-probe") > 0; });
  wait_for_condition("the node is up", [&] { return client.set("key", "2").has_value(); });
}

TEST(ClientIdExact, RightsThatNameItHold) {
  const RightsFile file(R"({"clients": {
      "press-7": {"keys": {"*": ["read", "write"]}},
      "press-7-watch": {"keys": {"*": ["read", "watch"]}}}})");
  const Lent<BrokerProcess> broker(with_rights(file));
  Client client = open(uri(*broker, "&client_id_exact=press-7"));
  ASSERT_TRUE(client.set("key", "1"));
  Watch watched = watch(client, "key");
  ASSERT_TRUE(client.set("key", "2"));
  EXPECT_EQ(next_set(watched, 20s), "2");
  Client other = open(uri(*broker, "&client_id=press-7"));
  EXPECT_EQ(other.get("key").error().reason, Reason::not_authorized);
}

TEST(ClientIdExact, ARuleOfTheAclFileThatNamesItHolds) {
  const std::string store = "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8";
  std::string id;
  hex_append(id, "press-7-watch");
  BrokerOptions options;
  options.plugin_options = {{"notify", "subscribed"}};
  options.acl = "topic write " + store + "/command/invoke\ntopic read clients/" + store + "/" + id +
                "/command/notify/+\n";
  const Lent<BrokerProcess> broker(options);
  Client other = open(uri(*broker, "&client_id_exact=press-8"));
  Watch unseen = watch(other, "key");
  Client client = open(uri(*broker, "&client_id_exact=press-7"));
  Watch watched = watch(client, "key");
  ASSERT_TRUE(client.set("key", "1"));
  EXPECT_EQ(next_set(watched, 20s), "1");
  EXPECT_EQ(next_set(unseen, 0ms), std::nullopt) << "no rule names that ID";
}

// The broker here ends the connection of the first without a word (Mosquitto 2.0.11), or with one.
TEST(ClientIdExact, TwoProcessesWithTheSameIdDoNotFightAndAreToldWhy) {
  const Lent<BrokerProcess> broker;
  const std::string one_id = uri(*broker, "&client_id_exact=press-7");
  struct Process {
    explicit Process(const std::string& its_uri) {
      client.emplace(
          Client::open(its_uri, {.log =
                                     [this](const LogRecord& record) {
                                       if (record.operation == "health" &&
                                           record.text.contains(" the client ID press-7: ")) {
                                         ++reports;
                                       }
                                     }})
              .value());
    }
    std::atomic<unsigned> reports = 0;
    std::optional<Client> client;
  };
  Process first(one_id);
  ASSERT_TRUE(first.client->set("key", "1"));
  Process second(one_id);
  wait_for_condition("one is told", [&] { return first.reports + second.reports > 0; });
  Process& loser = first.reports > 0 ? first : second;
  Process& winner = first.reports > 0 ? second : first;
  const auto refused = loser.client->get("key");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::not_sent);
  EXPECT_THAT(refused.error().text, HasSubstr("use the client ID press-7: "));
  wait_for_condition("the other one works", [&] { return winner.client->get("key").has_value(); });
  EXPECT_LE(connects(*broker, "press-7"), 8u) << "4 unless the machine is slow";
  winner.client.reset();
  wait_for_condition("the other has the ID again",
                     [&] { return loser.client->get("key").has_value(); });
  EXPECT_EQ(loser.reports, loser.client->stats()[0].downs) << "once for each takeover";
}

}  // namespace
}  // namespace sheaf::test

#endif
