// A kind of endpoint that the product does not know: this folder has its sessions and its table
// row, and a client of toy:// is opened and used like any other.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>

#include <sheaf/client.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

#include "tests/toy/toy_server.h"

namespace sheaf::toy {
namespace {

using namespace std::chrono_literals;

class Toy : public testing::Test {
 protected:
  Client open(const std::string& options) {
    std::string uri = "toy://";
    for (const auto& server : servers) uri.append(server->address()).append(",");
    uri.back() = '?';
    return Client::open(uri.append(options)).value();
  }
  ToyServer& server_of(Client& client, std::string_view key) {
    const std::string node = client.locate(key).value().node;
    const auto owner = std::ranges::find_if(
        servers, [&](const auto& server) { return server->address() == node; });
    return *owner->get();
  }
  static std::string stored(Client& client, std::string_view key) {
    return client.get(key).value().value().data;
  }
  template <class Done>
  static void wait_until(const Done& done) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!done()) ASSERT_LT(std::chrono::steady_clock::now(), end);
  }

  std::array<std::unique_ptr<ToyServer>, 3> servers{
      std::make_unique<ToyServer>(), std::make_unique<ToyServer>(), std::make_unique<ToyServer>()};
};

template <class T>
void expect_unsupported(const T& result, std::string_view text) {
  EXPECT_EQ(result.error().outcome, Outcome::unsupported);
  EXPECT_EQ(result.error().text, text);
}

TEST_F(Toy, SetsGetsAndRemoves) {
  Client client = open("timeout=5s");
  EXPECT_FALSE(client.get("key").value().has_value());
  EXPECT_TRUE(client.set("key", "a value").value().stored);
  EXPECT_EQ(stored(client, "key"), "a value");
  EXPECT_EQ(client.remove("key").value().found, RemoveResult::removed);
  EXPECT_EQ(client.remove("key").value().found, RemoveResult::absent);
  const std::string large(100'000, 'x');
  client.set("large", large).value();
  EXPECT_EQ(stored(client, "large"), large);
}

TEST_F(Toy, BatchesGoToAllServers) {
  Client client = open("timeout=5s");
  std::vector<std::string> names;
  for (int i = 0; i < 600; ++i) names.push_back("key" + std::to_string(i));
  std::vector<std::string_view> keys(names.begin(), names.end());
  keys.push_back("absent");
  for (const std::string& name : names) client.set(name, "of " + name).value();
  const auto results = client.get_many(keys);
  ASSERT_EQ(results.size(), keys.size());
  for (const auto& each : results) {
    const GetResult& got = each.result.value();
    EXPECT_EQ(got.has_value(), each.key != "absent");
    EXPECT_EQ(got ? got->data : "of absent", "of " + std::string(each.key));
  }
  for (const NodeStats& node : client.stats()) EXPECT_GT(node.requests, 0u);
}

TEST_F(Toy, RefusesWhatItsRowHasNot) {
  Client client = open("timeout=5s");
  for (const Feature feature : all_features) {
    EXPECT_EQ(client.supports(feature), feature == Feature::rehash) << to_string(feature);
  }
  const std::string others = "mqtt://, memcached://, embedded:// or redis://";
  expect_unsupported(Locker(client).try_lock("lock"),
                     "toy:// does not support locks; only " + others + " does");
  expect_unsupported(List(client, "list").length(),
                     "toy:// does not support lists; only " + others + " does");
  expect_unsupported(client.watch("key"),
                     "toy:// does not support watches; only mqtt://, embedded:// or redis:// does");
  SetOptions fenced;
  fenced.fence = FencingToken{"1"};
  EXPECT_EQ(client.set("key", "value", fenced).error().outcome, Outcome::unsupported);
  EXPECT_EQ(client.append("key", "value").error().outcome, Outcome::unsupported);
}

TEST_F(Toy, KeysOfAServerThatIsDownGoElsewhereUntilItIsBack) {
  Client client = open("timeout=5s&failover=rehash");
  client.set("key", "old").value();
  ToyServer& owner = server_of(client, "key");
  owner.stop();
  wait_until([&] { return client.set("key", "new", {.timeout = 1s}).has_value(); });
  EXPECT_EQ(stored(client, "key"), "new");
  owner.start();
  wait_until([&] { return stored(client, "key") == "old"; });
}

TEST(ToyConfiguration, IsReadLikeThatOfEveryKind) {
  EXPECT_EQ(ClusterConfig::parse_uri("toy://a,b:9").value().nodes[0].identity(), "a:7");
  for (const auto* uri : {"toys://a", "top://a"}) {
    EXPECT_EQ(ClusterConfig::parse_uri(uri).error().text,
              "the scheme is not mqtt, memcached, embedded, redis or toy, or with TLS mqtts, "
              "memcacheds or rediss. Did you mean toy?");
  }
  EXPECT_EQ(ClusterConfig::parse_uri("toy://a?ring=libmemcached").error().text,
            "option ring is for memcached:// only");
  const auto clusters = ClusterConfig::parse_json(
      R"({"clusters":{"c":{"kind":"toy","servers":[{"host":"a"}],"failover":"rehash"}}})");
  EXPECT_EQ(to_string(clusters.value()[0].second.kind), "toy");
}

}  // namespace
}  // namespace sheaf::toy
