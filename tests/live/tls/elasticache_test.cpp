// A configuration endpoint over TLS: a real memcached that has the list under the older key.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <sheaf/discovery.h>

#include "tests/live/tls/real_servers.h"

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(ElastiCacheOverTls, TheListComesFromAServerThatProvesItsName) {
  const Credentials& all = Credentials::shared();
  const RealServer server = start_memcached({.paths = &all.server()});
  const std::string place = "localhost:" + std::to_string(server.port);
  const std::string options = "?timeout=60s&connect_timeout=60s&" + all.options();
  auto client = Client::open("memcacheds://" + place + options);
  ASSERT_TRUE(client) << client.error().message();
  const auto set = client->set("AmazonElastiCache:cluster", "3\nc1.cache||11211\n");
  ASSERT_TRUE(set) << set.error().message();

  const auto source = ServerSource::parse_uri("memcacheds+elasticache://" + place + options);
  ASSERT_TRUE(source) << source.error().message();
  const auto config = find_servers(*source, {.timeout = 60s});
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_EQ(config->nodes.size(), 1u);
  EXPECT_EQ(config->nodes[0].identity(), "c1.cache:11211");
  EXPECT_TRUE(config->tls);
}

TEST(ElastiCacheOverTls, AServerWithoutAProofIsNotAsked) {
  const Credentials& all = Credentials::shared();
  const RealServer server = start_memcached({.paths = &all.server()});
  const auto source =
      ServerSource::parse_uri("memcacheds+elasticache://127.0.0.1:" + std::to_string(server.port) +
                              "?tls_name=other&" + all.options());
  ASSERT_TRUE(source) << source.error().message();
  const auto config = find_servers(*source, {.timeout = 60s});
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().outcome, Outcome::not_sent);
  EXPECT_EQ(config.error().reason, Reason::authentication);
  EXPECT_THAT(config.error().text, HasSubstr("the server's certificate is not for other"));
}

TEST(ElastiCacheOverTls, AFileThatIsNotThereIsNamed) {
  const auto source =
      ServerSource::parse_uri("memcacheds+elasticache://127.0.0.1?tls_ca=%2Fnot%2Fthere");
  ASSERT_TRUE(source) << source.error().message();
  const auto config = find_servers(*source);
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().outcome, Outcome::invalid);
  EXPECT_THAT(config.error().text, HasSubstr("/not/there"));
}

}  // namespace
}  // namespace sheaf::test
#endif
