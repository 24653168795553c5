// What is behind an address: servers that become replicas, addresses that pass to another cluster,
// brokers without a store, and servers of another kind than the URI says.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/client.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/lent.h"
#include "tests/support/wait_for_condition.h"
#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/lent_cluster.h"
#include "tests/support/redis_process.h"
#include "tests/support/relay.h"
#endif

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

std::string address(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

Error error_of(const std::string& uri, const std::string& options) {
  auto client = Client::open(uri + options).value();
  const auto got = client.get("key");
  EXPECT_FALSE(got) << uri;
  return got ? Error{} : got.error();
}

#ifdef SHEAF_TEST_REDIS_SERVERS

// A primary and its replica change places behind an address. The old primary stays connected.
class RedisRoles : public testing::TestWithParam<const char*> {
 protected:
  static std::string say(const RedisProcess& server,
                         std::initializer_list<std::string_view> words) {
    RespConnection connection(server.port());
    RespConnection::Words copied(words.begin(), words.end());
    return protocol::resp::reply_text(connection.ask(copied).root());
  }
  // `old` copies a server that does not exist, so that its values get old.
  void move() {
    ASSERT_EQ(say(*old, {"REPLICAOF", "127.0.0.1", "1"}), "+OK");
    relay.lead_to(next->port());
  }
  void TearDown() override { EXPECT_EQ(say(*old, {"REPLICAOF", "NO", "ONE"}), "+OK"); }
  std::string uri() const {
    return "redis://" + address(relay.port()) + "?timeout=20s" + GetParam();
  }

  const Lent<RedisProcess> old;
  const Lent<RedisProcess> next;
  Relay relay{old->port()};
};

INSTANTIATE_TEST_SUITE_P(By, RedisRoles, testing::Values("", "&routing=ring"),
                         [](const auto& each) { return *each.param == '\0' ? "Slots" : "Ring"; });

TEST_P(RedisRoles, AWriteFindsTheNewPrimary) {
  auto client = Client::open(uri()).value();
  ASSERT_TRUE(client.set("k", "old"));
  move();
  const auto set = client.set("k", "new");
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_EQ(client.get("k").value()->data, "new");
  EXPECT_EQ(say(*next, {"GET", "k"}), "\"new\"");
  EXPECT_EQ(say(*old, {"GET", "k"}), "\"old\"");
}

// Nothing but reads, and no connection ends: the client asks now and then.
TEST_P(RedisRoles, ReadsFindTheNewPrimary) {
  auto client = Client::open(uri()).value();
  ASSERT_TRUE(client.set("k", "old"));
  ASSERT_EQ(say(*next, {"SET", "k", "new"}), "+OK");
  move();
  wait_for_condition("a read finds the new primary", [&] {
    const auto got = client.get("k");
    return got && *got && (*got)->data == "new";
  });
}

TEST_P(RedisRoles, AReplicaIsShownAsOne) {
  auto client = Client::open(uri()).value();
  move();
  auto of_old =
      Client::open("redis://" + address(old->port()) + "?timeout=20s" + GetParam()).value();
  ASSERT_TRUE(of_old.get("k")) << "reads are served";
  EXPECT_EQ(of_old.stats()[0].role, ServerRole::replica);
  EXPECT_TRUE(of_old.stats()[0].server.starts_with("Redis ") ||
              of_old.stats()[0].server.starts_with("Valkey "));
  if (*GetParam() == '\0') {
    EXPECT_TRUE(of_old.cluster_servers().value()[0].replica);
  }
  ASSERT_TRUE(client.set("k", "v"));
  EXPECT_EQ(client.stats()[0].role, ServerRole::primary);
}

// Threads that read the same keys all the time, over extra connections if there are several.
class Readers {
 public:
  Readers(Client& client, const std::vector<std::string>& keys, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this, &client, &keys](const std::stop_token& stop) {
        for (std::size_t n = 0; !stop.stop_requested(); ++n) {
          const auto got = client.get(keys[n % keys.size()]);
          if (got && *got && (*got)->data == "foreign") foreign_ = true;
        }
      });
    }
  }
  bool foreign() const noexcept { return foreign_; }

 private:
  std::atomic<bool> foreign_ = false;
  std::vector<std::jthread> threads_;
};

// The parameter: how many threads read meanwhile.
class RedisForeigners : public testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(NextTo, RedisForeigners, testing::Values(0u, 3u),
                         [](const auto& each) { return std::to_string(each.param) + "Readers"; });

// A server of another cluster gets the address of one of ours: another ID, all slots, a higher
// epoch, and foreign values.
TEST_P(RedisForeigners, AnAddressThatPassesToAnotherClusterIsLeftUntilItComesBack) {
  const LentCluster lent;
  RespCluster& cluster = *lent;
  auto client = Client::open("redis://" + address(cluster.port(0)) +
                             "?timeout=300ms&connect_timeout=10s&spin=false")
                    .value();
  std::vector<std::string> keys;
  for (unsigned i = 0; keys.size() < 5; ++i) {
    std::string key = "key" + std::to_string(i);
    if (cluster.owner(protocol::resp::hash_slot(key)) != 2) continue;
    wait_for_condition("the key is stored", [&] { return client.set(key, "ours").has_value(); });
    keys.push_back(std::move(key));
  }
  const Readers readers(client, keys, GetParam());
  if (GetParam() > 1) {
    wait_for_condition("extra connections are open", [&] {
      for (const NodeStats& node : client.stats()) {
        if (node.node == address(cluster.port(2))) return node.connections > 1;
      }
      return false;
    });
  }
  RespProcess& server = cluster.server(2);
  const std::filesystem::path nodes = server.folder() / "nodes.conf";
  const std::filesystem::path kept = server.folder() / "kept.conf";
  cluster.kill(2);
  std::filesystem::rename(nodes, kept);
  server.restart();
  {
    RespConnection foreign(server.port());
    EXPECT_EQ(foreign.text({"CLUSTER", "SET-CONFIG-EPOCH", "50"}), "+OK");
    EXPECT_EQ(foreign.text({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"}), "+OK");
    wait_for_condition("the foreign cluster serves",
                       [&] { return foreign.text({"SET", keys[0], "foreign"}) == "+OK"; });
    for (const std::string& key : keys) EXPECT_EQ(foreign.text({"SET", key, "foreign"}), "+OK");
  }
  // True if the stranger was refused.
  const auto reads_nothing_foreign = [&] {
    bool refused = false;
    for (const std::string& key : keys) {
      const auto got = client.get(key);
      EXPECT_FALSE(got && *got && (*got)->data == "foreign");
      refused = refused || (!got && got.error().reason == Reason::foreign_server);
    }
    return refused;
  };
  wait_for_condition("the stranger is refused",
                     [&] { return reads_nothing_foreign() || testing::Test::HasFailure(); });
  for (int round = 0; round < 10; ++round) reads_nothing_foreign();
  for (const NodeStats& node : client.stats()) {
    EXPECT_EQ(node.health == NodeHealth::down, node.node == address(server.port())) << node.node;
  }
  server.kill();
  std::filesystem::rename(kept, nodes);
  server.restart();
  wait_for_condition("the server is back", [&] { return client.set(keys[0], "ours").has_value(); });
  EXPECT_EQ(client.stats().size(), 3u) << "no server of another cluster was added";
  EXPECT_FALSE(readers.foreign());
}

// Proxies for a fleet and some hosted servers have no CLUSTER.
TEST(RedisWithoutCluster, IsSaidAtOnceWithWhatHelps) {
  RedisOptions options;
  options.lines = {"rename-command CLUSTER \"\""};
  const RedisProcess server(options);
  const std::string uri = "redis://" + address(server.port());
  const Error error = error_of(uri, "?timeout=60s");
  EXPECT_NE(error.reason, Reason::timed_out);
  EXPECT_NE(error.message().find("routing=ring"), std::string::npos) << error.message();
  EXPECT_TRUE(Client::open(uri + "?routing=ring").value().set("k", "v"));
}

#endif

#ifdef SHEAF_TEST_BROKERS

// A broker that has no store, for all tests of the suite.
class OtherKinds : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    BrokerOptions stock;
    stock.plugin = false;
    broker.emplace(stock);
  }
  static void TearDownTestSuite() { broker.reset(); }

  static inline std::optional<BrokerProcess> broker;
};

TEST_F(OtherKinds, ABrokerWithoutAStoreIsNotUpAndRequestsAreNotSent) {
  auto client = Client::open("mqtt://" + address(broker->port()) + "?timeout=20s").value();
  const auto got = client.get("key");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().outcome, Outcome::not_sent) << got.error().message();
  EXPECT_NE(got.error().message().find("no state store answers at this broker"), std::string::npos)
      << got.error().message();
  EXPECT_EQ(client.stats()[0].health, NodeHealth::down);
}

#else

class OtherKinds : public testing::Test {};

#endif

// Every pair of kinds: the sentence names what the URI expects, long before the deadline. Redis
// takes the beginning of MQTT for that of a long command, and waits for the rest.
TEST_F(OtherKinds, AreNotTakenForTheOneOfTheUri) {
  std::vector<std::pair<std::string, std::uint16_t>> servers;
#ifdef SHEAF_TEST_REDIS_SERVERS
  const Lent<RedisProcess> redis;
  servers.emplace_back("redis", redis->port());
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
  const Lent<MemcachedProcess> memcached;
  servers.emplace_back("memcached", memcached->port());
#endif
#ifdef SHEAF_TEST_BROKERS
  servers.emplace_back("mqtt", broker->port());
#endif
  for (const auto& [kind, port] : servers) {
    for (const std::string scheme : {"redis", "memcached", "mqtt"}) {
      if (scheme == kind) continue;
      const bool hangs = scheme == "mqtt" && kind == "redis";
      // The call ends by its own deadline, and so well before the connection is given up.
      const Error error = error_of(scheme + "://" + address(port),
                                   hangs ? "?timeout=3s&connect_timeout=20s" : "?timeout=60s");
      const std::string said = error.message();
      EXPECT_EQ(error.outcome, Outcome::not_sent) << said;
      EXPECT_EQ(error.reason == Reason::timed_out, hangs) << said;
      const bool names_it = said.find("has not answered the greeting") != said.npos ||
                            said.find("does not answer as") != said.npos ||
                            said.find("it may expect TLS, or speak another protocol") != said.npos;
      EXPECT_TRUE(names_it) << scheme << " at " << kind << ": " << said;
      RecordProperty(scheme + "_at_" + kind, said);
    }
  }
}

}  // namespace
}  // namespace sheaf::test
