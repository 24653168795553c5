#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <sheaf/server_source.h>

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

ServerSource good_source(std::string_view uri) {
  auto source = ServerSource::parse_uri(uri);
  EXPECT_TRUE(source.has_value()) << uri << ": " << source.error().message();
  return source ? std::move(*source) : ServerSource{};
}
std::string refusal_of_source(std::string_view uri) {
  const auto source = ServerSource::parse_uri(uri);
  EXPECT_FALSE(source.has_value()) << uri;
  if (source) return {};
  EXPECT_EQ(source.error().outcome, Outcome::invalid) << uri;
  EXPECT_EQ(source.error().reason, Reason::bad_configuration) << uri;
  return source.error().text;
}

TEST(ServerSource, OfSrvRecordsIsAName) {
  const auto source =
      good_source("Memcached+SRV://_memcached._tcp.cache.example?timeout=250ms&pool_max=2");
  EXPECT_EQ(source.kind, SourceKind::srv);
  EXPECT_EQ(source.host, "_memcached._tcp.cache.example");
  EXPECT_EQ(source.port, 0);
  EXPECT_EQ(source.config.kind, EndpointKind::memcached);
  EXPECT_EQ(source.config.timeout, 250ms);
  EXPECT_EQ(source.config.pool_max, 2u);
  EXPECT_TRUE(source.config.nodes.empty());
  EXPECT_EQ(good_source("mqtts+srv://_secure-mqtt._tcp.plant/").config.kind,
            EndpointKind::state_store);
  EXPECT_TRUE(good_source("rediss+srv://_redis._tcp.a?routing=ring").config.tls);
}

TEST(ServerSource, OfElastiCacheIsAnEndpoint) {
  const auto source =
      good_source("memcached+elasticache://x.cfg.use1.cache.amazonaws.com:11212?ring=libmemcached");
  EXPECT_EQ(source.kind, SourceKind::elasticache);
  EXPECT_EQ(source.host, "x.cfg.use1.cache.amazonaws.com");
  EXPECT_EQ(source.port, 11'212);
  EXPECT_EQ(source.config.ring, RingProfile::libmemcached);
  EXPECT_TRUE(source.config.nodes.empty());
  EXPECT_EQ(good_source("memcacheds+elasticache://[::1]").host, "::1");
  EXPECT_EQ(good_source("memcacheds+elasticache://[::1]").port, 11'211);
  EXPECT_TRUE(good_source("memcacheds+elasticache://a").config.tls);
}

TEST(ServerSource, IsToldFromServersByItsScheme) {
  EXPECT_TRUE(ServerSource::is_source("memcached+srv://a"));
  EXPECT_TRUE(ServerSource::is_source("a+b://"));
  for (const char* uri : {"memcached://a+b", "mqtt://a?password_file=a+b://", "", "+", "a+b"}) {
    EXPECT_FALSE(ServerSource::is_source(uri)) << uri;
  }
  EXPECT_EQ(to_string(SourceKind::srv), "srv");
  EXPECT_EQ(to_string(SourceKind::elasticache), "elasticache");
}

TEST(ServerSource, AUriOfServersDoesNotTakeOne) {
  const auto config = ClusterConfig::parse_uri("memcached+srv://a");
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().text,
            "a scheme with a + says where servers are listed, not which servers: sheaf/discovery.h "
            "looks them up");
}

TEST(ServerSource, WhatIsNoSourceIsRefused) {
  const std::string form = "the URI does not begin with SCHEME+srv:// or SCHEME+elasticache://";
  for (const char* uri : {"", "memcached://a", "memcached+dns://a", "memcached+srv", "+://a"}) {
    EXPECT_EQ(refusal_of_source(uri), form) << uri;
  }
  EXPECT_THAT(refusal_of_source("http+srv://a"), HasSubstr("the scheme is not mqtt"));
  EXPECT_THAT(refusal_of_source("+srv://a"), HasSubstr("the scheme is not mqtt"));
  EXPECT_EQ(refusal_of_source("mqtt+elasticache://a"),
            "mqtt:// does not look up servers by +elasticache");
  EXPECT_EQ(refusal_of_source("embedded+srv://3"), "embedded:// does not look up servers by +srv");
  EXPECT_EQ(refusal_of_source("memcached+srv://a,b"), "a source of servers is one name");
  EXPECT_EQ(refusal_of_source("memcached+srv://a*2"), "a source of servers has no weight");
  EXPECT_EQ(refusal_of_source("memcached+srv://a:1"),
            "the name of SRV records has no port: the records name the ports");
  EXPECT_EQ(refusal_of_source("memcached+srv://a..b"),
            "the name of the SRV records has an empty part");
  EXPECT_EQ(refusal_of_source("memcached+elasticache:///run/a.sock"),
            "a source of servers cannot be a Unix socket");
  EXPECT_EQ(refusal_of_source("memcached+elasticache://a:0"),
            "server 1: the port is not an integer from 1 to 65535");
  EXPECT_EQ(refusal_of_source("memcached+elasticache://a?ring=modula"),
            "option ring=modula places keys by the order of the servers, which a source of servers "
            "does not keep");
  EXPECT_EQ(refusal_of_source("memcached+srv://"), "server 1 is empty");
  EXPECT_EQ(refusal_of_source("memcached+srv://a?colour=red"), "option colour is unknown");
}

TEST(ServerSource, KeepsAPasswordAsAUriOfServersDoes) {
  EXPECT_EQ(good_source("redis+srv://u:p%40ss@a?allow_plain_password=1").config.password, "p@ss");
  EXPECT_EQ(good_source("redis+srv://u:p%40ss@a?allow_plain_password=1").host, "a");
  EXPECT_THAT(refusal_of_source("redis+srv://u:secret@a"), HasSubstr("allow_plain_password"));
  for (const char* uri :
       {"redis+srv://u:se,cret@a", "redis+srv://u:secret@a,b", "redis+srv://u:secret@a:1",
        "redis+x://u:secret@a", "embedded+srv://u:secret@3", "redis+elasticache://u:secret@a"}) {
    EXPECT_THAT(refusal_of_source(uri), Not(HasSubstr("cret"))) << uri;
  }
}

}  // namespace
}  // namespace sheaf
