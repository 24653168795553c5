// Configurations that a program has filled in itself.

#include "cluster/config/config_check.h"

#include <gtest/gtest.h>

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

ClusterConfig three_brokers() {
  ClusterConfig config;
  config.nodes = {{"b1", 1883, 1}, {"b2", 1883, 2}, {"::1", 1884, 65'535}};
  return config;
}

// The sentence about a configuration that `change` has spoiled; empty if it is accepted.
template <class Change>
std::string verdict(Change change) {
  ClusterConfig config = three_brokers();
  change(config);
  const auto bad = check_config(config);
  return bad ? bad->text : "";
}

TEST(ConfigCheck, AcceptsWhatTheParserWouldMake) {
  EXPECT_EQ(verdict([](ClusterConfig&) {}), "");
  EXPECT_EQ(verdict([](ClusterConfig& c) { c.default_ttl = 1ms; }), "");
  EXPECT_FALSE(check_config(*ClusterConfig::parse_uri("embedded://9?name=x&max_keys=1")));
}

TEST(ConfigCheck, ChecksEachServer) {
  EXPECT_EQ(verdict([](auto& c) { c.nodes.clear(); }), "there is no server");
  EXPECT_EQ(verdict([](auto& c) { c.nodes.resize(1'025, {"b", 1, 1}); }),
            "there are more than 1024 servers");
  EXPECT_EQ(verdict([](auto& c) { c.nodes[1].host = ""; }), "server 2: the host is empty");
  EXPECT_EQ(verdict([](auto& c) { c.nodes[1].host = "[::1]"; }),
            "server 2: the host is neither a name nor an address");
  EXPECT_EQ(verdict([](auto& c) { c.nodes[1].port = 0; }),
            "server 2: the port is not an integer from 1 to 65535");
  EXPECT_EQ(verdict([](auto& c) { c.nodes[2].weight = 0; }),
            "server 3: the weight is not an integer from 1 to 65535");
  EXPECT_EQ(verdict([](auto& c) { c.nodes[2].weight = 65'536; }),
            "server 3: the weight is not an integer from 1 to 65535");
  EXPECT_EQ(verdict([](auto& c) { c.nodes[1].host = "B1"; }), "B1:1883 is given twice");
}

TEST(ConfigCheck, ChecksEachOption) {
  EXPECT_EQ(verdict([](auto& c) { c.timeout = 0ms; }),
            "option timeout is \"0ms\", not a duration from 1ms to 24h");
  EXPECT_EQ(verdict([](auto& c) { c.keep_alive = -5s; }),
            "option keep_alive is \"-5s\", not a duration from 1s to 65535s");
  EXPECT_EQ(verdict([](auto& c) { c.slots = 65'537; }),
            "option slots is \"65537\", not a power of two from 1024 to 4194304");
  EXPECT_EQ(
      verdict([](auto& c) { c.value_limit = 0; }),
      "option value_limit is \"0\", not bytes from 1 to 268369920 (KiB, MiB or GiB may follow)");
  EXPECT_EQ(verdict([](auto& c) { c.default_ttl = Ttl(0s); }),
            "option default_ttl is \"0ms\", not a duration from 1ms to 922337203685477ms");
  EXPECT_EQ(
      verdict([](auto& c) { c.client_id = "a b"; }),
      "option client_id is \"a b\", not 1 to 64 characters of A-Z, a-z, 0-9, \"_\", \".\" and "
      "\"-\"");
  EXPECT_NE(verdict([](auto& c) { c.client_id = ""; }), "");
  EXPECT_EQ(verdict([](auto& c) { c.client_id_exact = "press-7"; }), "");
  EXPECT_EQ(verdict([](auto& c) {
              c.client_id = "a";
              c.client_id_exact = "b";
            }),
            "option client_id_exact cannot be combined with client_id");
  EXPECT_EQ(verdict([](auto& c) { c.pool_min = 2; }),
            "option pool_max is 1, below pool_min, which is 2");
}

TEST(ConfigCheck, AnOptionOfAnotherKindIsRefusedByName) {
  EXPECT_EQ(verdict([](auto& c) { c.embedded_name = "x"; }), "option name is for embedded:// only");
  EXPECT_EQ(verdict([](auto& c) {
              c.kind = EndpointKind::memcached;
              c.client_id_exact = "press-7";
            }),
            "option client_id_exact is for mqtt:// only");
  EXPECT_EQ(verdict([](auto& c) { c.engine_options = {{"max_keys", "1"}}; }),
            "options of engines are for embedded:// only");
  EXPECT_EQ(verdict([](auto& c) { c.extra_connections = 3; }),
            "option extra_connections is for memcached:// or redis:// only");
  EXPECT_EQ(verdict([](auto& c) { c.protocol = MemcachedProtocol::meta; }),
            "option protocol is for memcached:// only");
  EXPECT_EQ(verdict([](auto& c) { c.hosts = HostKind::names; }),
            "option hosts is for redis:// only");
}

TEST(ConfigCheck, ANumberThatIsNoChoiceIsRefused) {
  EXPECT_EQ(verdict([](auto& c) { c.failover = FailoverMode{2}; }),
            "option failover is \"2\", not owner or rehash");
  EXPECT_EQ(verdict([](auto& c) { c.ring = RingProfile{7}; }),
            "option ring is \"7\", not libmemcached or libmemcached-weighted or spymemcached or "
            "modula or pymemcache or dalli");
}

TEST(ConfigCheck, BoundsTheMemoryOfARing) {
  EXPECT_EQ(verdict([](auto& c) { c.locator = LocatorKind::ring; }),
            "locator=ring takes weights of at most 16384 in all, and these are 65538");
  EXPECT_EQ(verdict([](auto& c) {
              c.locator = LocatorKind::ring;
              c.nodes[2].weight = 16'381;
            }),
            "");
}

TEST(ConfigCheck, ChecksTheLogin) {
  EXPECT_EQ(verdict([](auto& c) { c.user = "\xff"; }), "the user is not UTF-8 text without NUL");
  EXPECT_EQ(verdict([](auto& c) { c.password = std::string(65'536, 'x'); }),
            "the password has more than 65535 bytes");
  EXPECT_EQ(verdict([](auto& c) { c.password = "p"; }),
            "the password would reach b1:1883 unencrypted, which needs allow_plain_password=1");
  EXPECT_EQ(verdict([](auto& c) {
              c.password = "p";
              c.allow_plain_password = true;
            }),
            "");
  EXPECT_EQ(
      verdict([](auto& c) {
        c.kind = EndpointKind::memcached;
        c.password = "p";
      }),
      "there is a password without a user name, which memcached:// needs: write it before the "
      "hosts, memcached://USER@HOST");
}

TEST(ConfigCheck, KnowsTheNamesOfEmbeddedEngines) {
  ClusterConfig config = *ClusterConfig::parse_uri("embedded://3");
  EXPECT_FALSE(check_config(config));
  config.nodes[2].port = 7;
  EXPECT_EQ(check_config(config)->text, "server 3: an embedded one is embedded:2");
}

TEST(ConfigCheck, RefusesAKindThatIsNone) {
  ClusterConfig config = three_brokers();
  config.kind = EndpointKind{77};
  EXPECT_EQ(check_config(config)->text, "the kind is not a value of EndpointKind");
}

TEST(ConfigCheck, AClusterThatRoutesItselfTakesNoOptionsOfLocators) {
  const auto refusal = [](const std::string& rest) {
    const auto config = ClusterConfig::parse_uri("redis://" + rest);
    return config ? "" : config.error().text;
  };
  EXPECT_EQ(refusal("a,b"), "");
  EXPECT_EQ(refusal("a*2,b?routing=ring&locator=ring&failover=rehash"), "");
  EXPECT_EQ(refusal("a,b?routing=ring&slots=1024"), "");
  EXPECT_EQ(refusal("a?locator=ring"), "option locator needs routing=ring at redis://");
  EXPECT_EQ(refusal("a?slots=1024"), "option slots needs routing=ring at redis://");
  EXPECT_EQ(refusal("a?failover=rehash"), "option failover=rehash needs routing=ring at redis://");
  EXPECT_EQ(refusal("a,b*2"), "the weight of b:6379 needs routing=ring at redis://");
  EXPECT_EQ(refusal("a?reads=replicas&replica_misses=trust"), "");
  EXPECT_EQ(refusal("a?reads=replicas&routing=ring"),
            "option reads needs routing=cluster: standalone servers have no replicas");
  EXPECT_EQ(refusal("a?replica_misses=trust"), "option replica_misses needs reads=replicas");
  EXPECT_EQ(refusal("a?reads=replicas&hedged_reads=true"), "");
  EXPECT_EQ(refusal("a?hedged_reads=true"), "option hedged_reads needs reads=replicas");
  EXPECT_EQ(refusal("a?hosts=names"), "");
  EXPECT_EQ(refusal("a?hosts=names&routing=ring"),
            "option hosts needs routing=cluster: standalone servers name no others");
  EXPECT_EQ(refusal("a?address_map=10.0.0.5:7000=a:17000,[fd00::5]=a"), "");
  EXPECT_EQ(refusal("a?address_map=b=c&routing=ring"),
            "option address_map needs routing=cluster: standalone servers name no others");
  EXPECT_EQ(refusal("a?address_map=b=c,b:x=c"),
            "option address_map must be pairs HOST[:PORT]=HOST[:PORT], with commas between them: "
            "b:x=c is not HOST[:PORT]=HOST[:PORT]");
  const auto elsewhere = ClusterConfig::parse_uri("mqtt://a?routing=ring");
  ASSERT_FALSE(elsewhere);
  EXPECT_NE(elsewhere.error().text.find("for redis:// only"), std::string::npos);
  ClusterConfig config = three_brokers();
  config.routing = RoutingKind::ring;
  EXPECT_EQ(check_config(config)->text, "option routing is for redis:// only");
  config.routing = RoutingKind::cluster;
  config.reads = ReadTarget::replicas;
  EXPECT_EQ(check_config(config)->text, "option reads is for redis:// only");
}

}  // namespace
}  // namespace sheaf::cluster
