// Connections over TLS to real servers: names, files that are replaced, servers that return.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include <sheaf/client.h>

#include "tests/live/tls/real_servers.h"
#include "tests/support/wait_for_condition.h"
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/resp_cluster.h"
#endif

namespace sheaf::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class TlsConnections : public testing::TestWithParam<RealKind> {
 protected:
  RealServer start() const { return GetParam().start({.paths = &all.server()}); }
  std::string uri(const std::string& host, const RealServer& server) const {
    return GetParam().scheme + "://" + host + ":" + std::to_string(server.port) +
           "?connect_timeout=10s&timeout=30s&" + all.options();
  }
  static Client open(const std::string& uri) {
    auto client = Client::open(uri);
    EXPECT_TRUE(client) << client.error().message();
    return std::move(*client);
  }
  static void expect_use(Client& client) {
    const auto set = client.set("key", "value");
    ASSERT_TRUE(set) << set.error().message();
    EXPECT_EQ(client.get("key").value()->data, "value");
  }
  const Credentials& all = Credentials::shared();
};

INSTANTIATE_TEST_SUITE_P(All, TlsConnections, testing::ValuesIn(real_kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(TlsConnections, NodesSayHowTheyAreEncrypted) {
  const RealServer server = start();
  Client client = open(uri("127.0.0.1", server));
  expect_use(client);
  const auto reports = client.check_nodes();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports[0].error);
  EXPECT_THAT(reports[0].stats.tls, StartsWith("TLSv1."));
}

// memcached 1.6.18 leaves what follows a value in its TLS record unread until more arrives.
TEST_P(TlsConnections, RequestsInOneRecordWithAValueAreAnswered) {
  const RealServer server = start();
  Client client = open(uri("127.0.0.1", server));
  const auto expect_batch = [&](std::size_t count, std::size_t key_size, std::size_t value_size) {
    SCOPED_TRACE(std::to_string(count) + " values of " + std::to_string(value_size));
    std::vector<std::string> keys;
    std::vector<SetItem> items;
    const std::string value(value_size, 'v');
    for (std::size_t i = 0; i < count; ++i) {
      keys.push_back("batch" + std::to_string(i));
      keys.back().append(key_size - keys.back().size(), '.');
    }
    for (const std::string& key : keys) items.push_back({key, value});
    for (const auto& set : client.set_many(items, {.timeout = 8s})) {
      ASSERT_TRUE(set.result) << set.result.error().message();
    }
    const std::vector<std::string_view> names(keys.begin(), keys.end());
    for (const auto& got : client.get_many(names, {.timeout = 8s})) {
      ASSERT_TRUE(got.result) << got.result.error().message();
      ASSERT_TRUE(got.result->has_value() && (*got.result)->data == value) << got.key;
    }
  };
  for (std::size_t count = 90; count < 120; ++count) expect_batch(count, 10, 1'000);
  expect_batch(1'000, 100, 50);
  expect_batch(1'000, 240, 10);
  expect_batch(50, 100, 4'000);
  expect_batch(30, 10, 8'000);
  expect_batch(20, 10, 15'000);
  expect_batch(20, 10, 16'384);
  expect_batch(20, 10, 17'000);
  expect_batch(10, 10, 100'000);
}

TEST_P(TlsConnections, TheNameIsThatOfTheHostOrTheOneThatIsAskedFor) {
  const RealServer server = start();
  Client by_name = open(uri("localhost", server));
  expect_use(by_name);
  Client by_option = open(uri("127.0.0.1", server) + "&tls_name=localhost");
  expect_use(by_option);
  Client wrong = open(uri("127.0.0.1", server) + "&tls_name=other.example");
  const auto refused = wrong.get("key");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("certificate is not for other.example"));
}

TEST_P(TlsConnections, AProtocolMayBeAskedFor) {
  const RealServer server = start();
  Client client = open(uri("127.0.0.1", server) + "&tls_alpn=mqtt");
  expect_use(client);
}

TEST_P(TlsConnections, ManyConnectionsFollowTheFirst) {
  const RealServer server = start();
  Client client = open(uri("127.0.0.1", server) + "&pool_min=4&pool_max=4");
  expect_use(client);
  wait_for_condition("all connections are there",
                     [&] { return client.stats().at(0).connections == 4; });
  EXPECT_EQ(client.stats().at(0).connect_failures, 0u);
  for (int i = 0; i < 3; ++i) {
    Client another = open(uri("127.0.0.1", server));
    expect_use(another);
  }
}

// Kubernetes replaces the folder that a symbolic link leads to.
TEST_P(TlsConnections, ACertificateThatIsReplacedIsShownByTheNextConnection) {
  const RealServer server = start();
  const fs::path root = all.folder() / ("rotation" + GetParam().name);
  const Identity stranger = make_authority_now("another authority");
  const auto write = [&](const char* version, const Identity& issuer) {
    fs::create_directories(root / version);
    const Identity client = make_identity(valid_now("client"), &issuer);
    all.file(root / version / "tls.crt", client.certificate_pem());
    all.file(root / version / "tls.key", client.key_pem());
  };
  write("v1", stranger);
  write("v2", all.authority());
  fs::create_directory_symlink("v1", root / "data");
  const std::string place = (root / "data").string();
  Client client = open(GetParam().scheme + "://" + server.address() + "?tls_ca=" + all.client().ca +
                       "&tls_cert=" + place + "/tls.crt&tls_key=" + place + "/tls.key");
  const auto refused = client.get("key", {.timeout = 60s});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("does not trust the authority of our certificate"));
  fs::create_directory_symlink("v2", root / "next");
  fs::rename(root / "next", root / "data");
  wait_for_condition("the new certificate is taken", [&] { return client.get("key").has_value(); });
}

TEST(TlsFilesOfAClient, AreReadWhenItIsOpened) {
  const auto client = Client::open("rediss://127.0.0.1:1?tls_ca=/nowhere/ca.pem");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().outcome, Outcome::invalid);
  EXPECT_EQ(client.error().reason, Reason::bad_configuration);
  EXPECT_EQ(client.error().text,
            "tls_ca /nowhere/ca.pem cannot be read: No such file or directory");
}

#ifdef SHEAF_TEST_REDIS_SERVERS
TEST(TlsCluster, ServersAreReachedAtTheirPortsForTls) {
  const Credentials& all = Credentials::shared();
  RespClusterOptions options;
  options.tls = redis_tls(all.server());
  options.tls.emplace_back("tls-cluster yes");
  RespCluster cluster(options);
  cluster.wait_until_settled();
  const auto tls_port = [&](std::size_t index) {
    return std::to_string(dynamic_cast<RedisProcess&>(cluster.server(index)).tls_port());
  };
  auto client =
      Client::open("rediss://127.0.0.1:" + tls_port(0) + "?connect_timeout=10s&" + all.options());
  ASSERT_TRUE(client) << client.error().message();
  for (int i = 0; i < 100; ++i) {
    const auto set = client->set("key" + std::to_string(i), "value", {.timeout = 60s});
    ASSERT_TRUE(set) << set.error().message();
  }
  std::vector<std::string> nodes;
  for (const NodeStats& stats : client->stats()) {
    nodes.push_back(stats.node);
    EXPECT_THAT(stats.tls, StartsWith("TLSv1.")) << stats.node;
    EXPECT_GT(stats.replies, 0u) << stats.node;
  }
  EXPECT_THAT(nodes,
              testing::UnorderedElementsAre("127.0.0.1:" + tls_port(0), "127.0.0.1:" + tls_port(1),
                                            "127.0.0.1:" + tls_port(2)));
}
#endif

}  // namespace
}  // namespace sheaf::test
