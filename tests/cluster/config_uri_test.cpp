#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <sheaf/cluster_config.h>

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

ClusterConfig good_uri(std::string_view uri) {
  auto config = ClusterConfig::parse_uri(uri);
  EXPECT_TRUE(config.has_value()) << uri << ": " << config.error().message();
  return config.has_value() ? *config : ClusterConfig{};
}

// The sentence with which a URI is refused.
std::string refusal_of_uri(std::string_view uri) {
  const auto config = ClusterConfig::parse_uri(uri);
  EXPECT_FALSE(config.has_value()) << uri;
  if (config.has_value()) return {};
  EXPECT_EQ(config.error().reason, Reason::bad_configuration) << uri;
  EXPECT_EQ(config.error().outcome, Outcome::invalid) << uri;
  return config.error().text;
}

std::vector<std::string> identities(const ClusterConfig& config) {
  std::vector<std::string> out;
  for (const NodeConfig& node : config.nodes) out.push_back(node.identity());
  return out;
}

TEST(ConfigUri, FillsInPortAndWeight) {
  const auto config = good_uri("mqtt://b1:1884*2,b2,127.0.0.1:1*65535");
  EXPECT_EQ(config.kind, EndpointKind::state_store);
  EXPECT_EQ(identities(config), (std::vector<std::string>{"b1:1884", "b2:1883", "127.0.0.1:1"}));
  EXPECT_EQ(config.nodes[0].weight, 2u);
  EXPECT_EQ(config.nodes[1].weight, 1u);
  EXPECT_EQ(config.nodes[2].weight, 65'535u);
}

TEST(ConfigUri, TakesIpv6InBracketsOnly) {
  const auto config = good_uri("mqtt://[::1]:1885,[2001:db8::2]*3,[::ffff:1.2.3.4]");
  EXPECT_EQ(identities(config), (std::vector<std::string>{"[::1]:1885", "[2001:db8::2]:1883",
                                                          "[::ffff:1.2.3.4]:1883"}));
  EXPECT_EQ(config.nodes[0].host, "::1");
  EXPECT_EQ(refusal_of_uri("mqtt://::1:1883"), "server 1: an IPv6 address must be in brackets");
  EXPECT_EQ(refusal_of_uri("mqtt://[::1:1883"), "server 1: a bracket is not closed");
  EXPECT_EQ(refusal_of_uri("mqtt://[::1]1883"), "server 1: only a port may follow the bracket");
  EXPECT_EQ(refusal_of_uri("mqtt://[::g]"),
            "server 1: the text in brackets is not an IPv6 address");
  EXPECT_EQ(refusal_of_uri("mqtt://[b1]"), "server 1: the text in brackets is not an IPv6 address");
  EXPECT_EQ(refusal_of_uri("mqtt://[]"), "server 1: the host is empty");
}

// RFC 4007: the address is one on each link, and only the zone says on which.
TEST(ConfigUri, TakesAClientIdOnce) {
  EXPECT_EQ(good_uri("mqtt://b?client_id_exact=press-7").client_id_exact, "press-7");
  EXPECT_EQ(refusal_of_uri("mqtt://b?client_id=sheaf&client_id_exact=press-7"),
            "option client_id_exact cannot be combined with client_id");
  EXPECT_EQ(refusal_of_uri("mqtt://b?client_id_exact=press-7&client_id=sheaf"),
            "option client_id cannot be combined with client_id_exact");
}

TEST(ConfigUri, ALinkLocalAddressHasAZone) {
  const auto config = good_uri("mqtt://[fe80::2%eth0],[fe80::2%25eth1]:1884");
  EXPECT_EQ(identities(config),
            (std::vector<std::string>{"[fe80::2%eth0]:1883", "[fe80::2%eth1]:1884"}));
  EXPECT_EQ(config.nodes[0].host, "fe80::2%eth0");
  EXPECT_EQ(refusal_of_uri("mqtt://[fe80::2]"),
            "server 1: a link-local address needs the interface that it is reached by: "
            "fe80::2%eth0");
  for (const auto* uri : {"mqtt://[::1%eth0]", "mqtt://[fe80::2%]", "mqtt://[fe80::2%a/b]",
                          "mqtt://[fe80::2%a%b]", "mqtt://[fe80::2%abcdefghijklmnop]"}) {
    EXPECT_THAT(refusal_of_uri(uri), testing::AnyOf(HasSubstr("not an IPv6 address"),
                                                    HasSubstr("may not follow the servers")))
        << uri;
  }
}

// As other clients write them.
TEST(ConfigUri, TakesTheSchemesOfOthers) {
  EXPECT_EQ(good_uri("valkey://v1").kind, EndpointKind::redis);
  EXPECT_TRUE(good_uri("valkeys://v1").tls);
  EXPECT_FALSE(good_uri("valkey://v1").tls);
  EXPECT_EQ(good_uri("memcache://c1").kind, EndpointKind::memcached);
  for (const auto* uri : {"redis+sentinel://s1", "redis-sentinel://s1", "sentinel://s1"}) {
    EXPECT_THAT(refusal_of_uri(uri), HasSubstr("Sentinel is not supported")) << uri;
  }
}

TEST(ConfigUri, TakesDatabaseZeroOfRedisAndNoOther) {
  for (const auto* uri : {"redis://r1/0", "redis://u:p@localhost:6380/0?timeout=1s",
                          "redis://r1/?db=0", "redis://r1,r2/0", "rediss://r1?database=0"}) {
    EXPECT_FALSE(good_uri(uri).nodes.empty()) << uri;
  }
  EXPECT_EQ(identities(good_uri("redis://r1,r2:7000/0")),
            (std::vector<std::string>{"r1:6379", "r2:7000"}));
  EXPECT_EQ(identities(good_uri("redis:///run/redis/0?routing=ring")),
            (std::vector<std::string>{"/run/redis/0"}));
  EXPECT_EQ(
      refusal_of_uri("redis://r1/1"),
      "database 1 cannot be selected: a cluster has only database 0, and sheaf uses no other");
  EXPECT_EQ(refusal_of_uri("redis://r1?db=3"),
            "option db must be 0: a cluster has only database 0, and sheaf uses no other");
  EXPECT_THAT(refusal_of_uri("redis://r1/x"), HasSubstr("may not follow the servers"));
  EXPECT_THAT(refusal_of_uri("memcached://c1/0"), HasSubstr("may not follow the servers"));
  EXPECT_EQ(refusal_of_uri("mqtt://b1?db=0"), "option db is unknown");
}

TEST(ConfigUri, SaysHowAWeightIsWritten) {
  EXPECT_EQ(refusal_of_uri("memcached://c0,c1:11211:3"),
            "server 2: a weight is written after a star, HOST:PORT*WEIGHT");
  EXPECT_EQ(refusal_of_uri("memcached://c1:11211/?2"),
            "option 1 is not name=value; a weight is written after a star, HOST:PORT*WEIGHT");
  EXPECT_EQ(refusal_of_uri("memcached://fe80::1:2"),
            "server 1: an IPv6 address must be in brackets");
}

TEST(ConfigUri, NamesTheServerThatIsWrong) {
  EXPECT_EQ(refusal_of_uri("mqtt://"), "server 1 is empty");
  EXPECT_EQ(refusal_of_uri("mqtt://b1,,b2"), "server 2 is empty");
  EXPECT_EQ(refusal_of_uri("mqtt://b1,"), "server 2 is empty");
  EXPECT_EQ(refusal_of_uri("mqtt://:1883"), "server 1: the host is empty");
  EXPECT_EQ(refusal_of_uri("mqtt://b1,*2"), "server 2: the host is empty");
  EXPECT_EQ(refusal_of_uri("mqtt://b1;b2"), "server 1: the host is neither a name nor an address");
  EXPECT_EQ(refusal_of_uri("mqtt://127.0.0.256"),
            "server 1: the host is neither a name nor an address");
  EXPECT_EQ(refusal_of_uri("mqtt://" + std::string(254, 'a')),
            "server 1: the host is neither a name nor an address");
  for (const auto* port : {"0", "65536", "-1", "+1", "1883x", "", "99999999999999999999"}) {
    EXPECT_EQ(refusal_of_uri(std::string("mqtt://ok,b:") + port),
              "server 2: the port is not an integer from 1 to 65535");
  }
  for (const auto* weight : {"0", "65536", "-1", "1.5", "", "2*3", "x"}) {
    EXPECT_EQ(refusal_of_uri(std::string("mqtt://ok,b:1*") + weight),
              "server 2: the weight is not an integer from 1 to 65535");
  }
}

TEST(ConfigUri, RefusesAServerGivenTwice) {
  EXPECT_EQ(refusal_of_uri("mqtt://b1,b2,b1:1883"), "server 3: b1:1883 is given twice");
  EXPECT_EQ(refusal_of_uri("mqtt://b1*2,b1"), "server 2: b1:1883 is given twice");
  EXPECT_EQ(refusal_of_uri("mqtt://Broker,bROKER"), "server 2: bROKER:1883 is given twice");
  EXPECT_EQ(good_uri("mqtt://b1:1,b1:2").nodes.size(), 2u);
}

TEST(ConfigUri, TakesAtMost1024Servers) {
  std::string uri = "mqtt://b0";
  for (int i = 1; i < 1024; ++i) uri += ",b" + std::to_string(i);
  EXPECT_EQ(good_uri(uri).nodes.size(), 1024u);
  EXPECT_EQ(refusal_of_uri(uri + ",one-more"), "server 1025: there are more than 1024 servers");
  EXPECT_EQ(refusal_of_uri("mqtt://" + std::string(1u << 20, 'a')), "the URI is longer than 1 MiB");
}

TEST(ConfigUri, DecodesUserAndPassword) {
  const auto config = good_uri("mqtt://us%65r:p%40s%3As%2C%25%00@localhost");
  EXPECT_EQ(config.user, "user");
  EXPECT_EQ(config.password, std::string("p@s:s,%\0", 8));
  EXPECT_EQ(good_uri("mqtt://u:a:b@localhost").password, "a:b");
  EXPECT_EQ(good_uri("mqtt://u@b1").user, "u");
  EXPECT_EQ(good_uri("mqtt://:only@localhost").password, "only");
  for (const auto* login : {"u%", "u%4", "u%4g", "u:p%", "u:%zz"}) {
    EXPECT_EQ(refusal_of_uri("mqtt://" + std::string(login) + "@localhost"),
              "in user and password a % must be followed by two hexadecimal digits");
  }
  EXPECT_EQ(refusal_of_uri("mqtt://@b1"), "there is no user before the @");
  EXPECT_EQ(refusal_of_uri("mqtt://:@b1"), "there is no user before the @");
  EXPECT_EQ(refusal_of_uri("mqtt://u%00@b1"), "the user is not UTF-8 text without NUL");
  EXPECT_EQ(refusal_of_uri("mqtt://%ff@b1"), "the user is not UTF-8 text without NUL");
  EXPECT_EQ(refusal_of_uri("mqtt://" + std::string(65'536, 'u') + "@b1"),
            "the user has more than 65535 bytes");
  EXPECT_EQ(refusal_of_uri("mqtt://u:" + std::string(65'536, 'p') + "@localhost"),
            "the password has more than 65535 bytes");
}

TEST(ConfigUri, KeepsAPasswordFromLeavingTheMachineUnencrypted) {
  for (const auto* host :
       {"127.0.0.1", "127.255.0.9:1", "[::1]", "localhost", "LocalHost:77", "[0:0:0:0:0:0:0:1]"}) {
    EXPECT_EQ(good_uri("mqtt://u:p@" + std::string(host)).password, "p") << host;
  }
  for (const auto* host :
       {"b1", "128.0.0.1", "10.0.0.1", "[::2]", "localhost.example", "[::ffff:127.0.0.1]"}) {
    EXPECT_THAT(refusal_of_uri("mqtt://u:p@localhost," + std::string(host)),
                HasSubstr("unencrypted, which needs allow_plain_password=1"))
        << host;
  }
  EXPECT_EQ(good_uri("mqtt://u:p@b1?allow_plain_password=1").password, "p");
  EXPECT_EQ(refusal_of_uri("mqtt://u:p@b1:7?allow_plain_password=0"),
            "the password would reach b1:7 unencrypted, which needs allow_plain_password=1");
  EXPECT_EQ(good_uri("mqtt://only-a-user@b1").user, "only-a-user");
}

TEST(ConfigUri, NeverRepeatsAPasswordHoweverItIsMistyped) {
  for (const auto* uri :
       {"mqtt://u:hunter2@b1", "mqtt://u:hun@ter2@b1", "mqtt://u:hunter2?x=1@b1",
        "mqtt://u:hunter2/x@b1", "mqtt://u:hunter2#x@b1", "mqtt://u:hunter2", "mqtt://u:hunter2,b1",
        "mqtt://b1,u:hunter2@b2", "mqtt://u:hunter2%@b1", "mqtt:u:hunter2@b1",
        "mqtt://u:hunter2 @b1", "hunter2://b1", "mqtt://u:h?hunter2@b1", "mqtt://u:[hunter2@b1",
        "mqtt://u:p@[hunter2]", "mqtt://u:p@b1*hunter2", "mqtt://b1?hunter2",
        "mqtt://u:p,hunter2@b1", "mqtt://u:a?hunter2=b@b1"}) {
    const auto config = ClusterConfig::parse_uri(uri);
    ASSERT_FALSE(config.has_value()) << uri;
    EXPECT_THAT(config.error().message(), Not(HasSubstr("hunter2"))) << uri;
  }
}

TEST(ConfigUri, RefusesWhatHasNoPlaceInAUri) {
  for (const auto* uri : {"", "b1:1883"}) {
    EXPECT_EQ(refusal_of_uri(uri),
              "the URI does not begin with mqtt://, memcached://, embedded:// or redis://, or with "
              "TLS mqtts://, memcacheds:// or rediss://");
  }
  const std::string schemes =
      "the scheme is not mqtt, memcached, embedded or redis, or with TLS mqtts, memcacheds or "
      "rediss";
  EXPECT_EQ(refusal_of_uri("http://b1"), schemes);
  EXPECT_EQ(refusal_of_uri("://b1"), schemes);
  EXPECT_EQ(refusal_of_uri("embeddeds://1"), schemes + ". Did you mean embedded?");
  EXPECT_EQ(refusal_of_uri("mqttss://b1"), schemes + ". Did you mean mqtts?");
  EXPECT_THAT(refusal_of_uri("mqtt://b1/x"), HasSubstr("may not follow the servers"));
  EXPECT_THAT(refusal_of_uri("mqtt://b1//"), HasSubstr("may not follow the servers"));
  for (const auto* path : {"mqtt:///", "mqtt:///?timeout=1s"}) {
    EXPECT_EQ(refusal_of_uri(path),
              "server 1: the path of a Unix socket has 2 to 107 bytes without NUL");
  }
  EXPECT_THAT(refusal_of_uri("mqtt://b1#x"), HasSubstr("may not follow the servers"));
  EXPECT_EQ(refusal_of_uri("mqtt://b1, b2"),
            "only a comma may be between two servers, without a blank");
  EXPECT_THAT(refusal_of_uri("mqtt://b1\n"), HasSubstr("blanks"));
  EXPECT_THAT(refusal_of_uri(std::string_view("mqtt://b1\0", 10)), HasSubstr("blanks"));
  EXPECT_THAT(refusal_of_uri("mqtt://b1?timeout=1 s"), HasSubstr("blanks"));
  EXPECT_THAT(refusal_of_uri("mqtt://b\xc3\xa4"), HasSubstr("neither a name nor an address"));
}

TEST(ConfigUri, APathIsAUnixSocket) {
  const ClusterConfig config = good_uri("memcached:///run/a.sock*3,/run/B%2Cb.sock,c1/?timeout=2s");
  EXPECT_EQ(identities(config),
            (std::vector<std::string>{"/run/a.sock", "/run/B,b.sock", "c1:11211"}));
  EXPECT_EQ(config.nodes[0].weight, 3u);
  EXPECT_EQ(config.nodes[0].port, 0);
  // The password does not leave the machine.
  EXPECT_EQ(identities(good_uri("mqtt://u:p@/run/mosquitto.sock")),
            (std::vector<std::string>{"/run/mosquitto.sock"}));
  // Paths are case-sensitive.
  EXPECT_EQ(good_uri("memcached:///run/a,/run/A").nodes.size(), 2u);
}

TEST(ConfigUri, RefusesAUnixSocketWhereOnlyHostsHaveARule) {
  EXPECT_EQ(refusal_of_uri("memcached:///run/a.sock,/run/a.sock"),
            "server 2: /run/a.sock is given twice");
  EXPECT_EQ(refusal_of_uri("memcached:///run/a%2"),
            "server 1: in a path a % must be followed by two hexadecimal digits");
  EXPECT_EQ(refusal_of_uri("memcached:///" + std::string(107, 'x')),
            "server 1: the path of a Unix socket has 2 to 107 bytes without NUL");
  EXPECT_THAT(refusal_of_uri("memcacheds:///run/a.sock"),
              HasSubstr("TLS is for servers with a name or an address, and /run/a.sock is the path "
                        "of a Unix socket"));
  EXPECT_THAT(refusal_of_uri("memcached:///run/a.sock?ring=libmemcached"),
              HasSubstr("option ring is for"));
  EXPECT_THAT(refusal_of_uri("redis:///run/a.sock"), HasSubstr("routing=ring"));
  EXPECT_EQ(good_uri("redis:///run/a.sock?routing=ring").nodes.size(), 1u);
  EXPECT_THAT(refusal_of_uri("mqtt://u:/p@b1"), HasSubstr("may not follow the servers"));
  EXPECT_THAT(refusal_of_uri("mqtt://b1,b2/run/a.sock"), HasSubstr("may not follow the servers"));
}

TEST(ConfigUri, TakesASlashAfterTheServers) {
  EXPECT_EQ(identities(good_uri("mqtt://b1,b2:1884/")),
            (std::vector<std::string>{"b1:1883", "b2:1884"}));
  EXPECT_EQ(good_uri("memcached://c1/?timeout=2s").timeout, 2s);
  EXPECT_EQ(good_uri("embedded://3/").nodes.size(), 3u);
}

TEST(ConfigUri, TakesASchemeInAnyCase) {
  EXPECT_EQ(good_uri("MQTT://b1").kind, EndpointKind::state_store);
  EXPECT_EQ(good_uri("Embedded://1").kind, EndpointKind::embedded);
}

TEST(ConfigUri, APathMayHaveAnyByteInIt) {
  const auto config = good_uri("embedded://1?data=/var/a%20b%26c/%25&durability=100ms");
  EXPECT_EQ(config.engine_options, (std::vector<std::pair<std::string, std::string>>{
                                       {"data", "/var/a b&c/%"}, {"durability", "100ms"}}));
  EXPECT_EQ(refusal_of_uri("embedded://1?data=50%"),
            "option data has a % that is not followed by two hexadecimal digits");
}

TEST(ConfigUri, CountsEmbeddedEngines) {
  const auto config = good_uri("embedded://3?name=shared&max_keys=5&spelling=page");
  EXPECT_EQ(config.kind, EndpointKind::embedded);
  EXPECT_EQ(identities(config),
            (std::vector<std::string>{"embedded:0", "embedded:1", "embedded:2"}));
  EXPECT_EQ(config.embedded_name, "shared");
  EXPECT_EQ(config.engine_options, (std::vector<std::pair<std::string, std::string>>{
                                       {"max_keys", "5"}, {"spelling", "page"}}));
  EXPECT_EQ(good_uri("embedded://1024").nodes.size(), 1024u);
  for (const auto* count : {"", "0", "1025", "-1", "three", "3*2", "3,4", "1.5", "3:1"}) {
    EXPECT_EQ(refusal_of_uri("embedded://" + std::string(count)),
              "embedded:// is followed by the number of engines, an integer from 1 to 1024")
        << count;
  }
  EXPECT_EQ(refusal_of_uri("embedded://u@3"), "embedded:// takes no user and no password");
}

TEST(ConfigUri, TakesMemcachedFleetsAndSharedRings) {
  const auto config =
      good_uri("memcached://c1,c2:11212*3?ring=libmemcached-weighted&protocol=meta");
  EXPECT_EQ(config.kind, EndpointKind::memcached);
  EXPECT_EQ(identities(config), (std::vector<std::string>{"c1:11211", "c2:11212"}));
  EXPECT_EQ(config.locator, LocatorKind::ring);
  EXPECT_EQ(config.ring, RingProfile::libmemcached_weighted);
  EXPECT_EQ(config.protocol, MemcachedProtocol::meta);
  EXPECT_EQ(good_uri("memcached://c1?failover=rehash").failover, FailoverMode::rehash);
  EXPECT_EQ(good_uri("memcached://10.0.0.1,[::1]?ring=spymemcached").ring,
            RingProfile::spymemcached);
  EXPECT_EQ(refusal_of_uri("memcached://c1?ring=spymemcached"),
            "option ring=spymemcached takes numeric addresses only, but c1:11211 is a name");
  EXPECT_EQ(refusal_of_uri("memcached://c1?locator=slots&ring=libmemcached"),
            "option ring implies locator=ring, but locator is slots");
  EXPECT_EQ(refusal_of_uri("memcached://c1?ring=libmemcached&locator=slots"),
            "option ring implies locator=ring, but locator is slots");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?ring=libmemcached"), "option ring is for memcached:// only");
  EXPECT_EQ(good_uri("mqtt://b1?failover=rehash").failover, FailoverMode::rehash);
  EXPECT_EQ(good_uri("embedded://3?failover=rehash").failover, FailoverMode::rehash);
}

TEST(ConfigUri, TakesTheDefaultPlacementsOfOtherClients) {
  const auto ring_of = [](std::string_view ring) {
    return good_uri("memcached://c1,c2:11212?failover=rehash&ring=" + std::string(ring)).ring;
  };
  EXPECT_EQ(ring_of("modula"), RingProfile::modula);
  EXPECT_EQ(ring_of("pymemcache"), RingProfile::pymemcache);
  EXPECT_EQ(ring_of("dalli"), RingProfile::dalli);
  EXPECT_EQ(good_uri("memcached://c1*2,c2?ring=dalli").nodes[0].weight, 2u);
  EXPECT_EQ(refusal_of_uri("memcached://c1,c2*3?ring=modula"),
            "option ring=modula takes no weights: libmemcached ignores them there, but c2:11211 "
            "has the weight 3");
  EXPECT_EQ(refusal_of_uri("memcached://c1*2,c2?ring=pymemcache"),
            "option ring=pymemcache takes no weights: pymemcache has none, but c1:11211 has the "
            "weight 2");
  EXPECT_EQ(refusal_of_uri("memcached:///run/a.sock?ring=modula"),
            "option ring is for servers with a name or an address, and /run/a.sock is the path of "
            "a Unix socket");
}

TEST(ConfigUri, RefusesUnknownRepeatedAndMisplacedOptions) {
  EXPECT_EQ(refusal_of_uri("mqtt://b1?colour=red"), "option colour is unknown");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?Timeout=1s"),
            "option Timeout is unknown. Did you mean timeout?");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?timeout=1s&spin=1&timeout=1s"),
            "option timeout is given twice");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?name=x"), "option name is for embedded:// only");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?max_keys=1"), "option max_keys is for embedded:// only");
  EXPECT_EQ(refusal_of_uri("embedded://1?max_keys=1&max_keys=2"), "option max_keys is given twice");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?password=x"),
            "option password is unknown: user and password are written before the hosts, "
            "mqtt://USER:PASSWORD@HOST");
  EXPECT_EQ(refusal_of_uri("mqtts://b1?ssl=1"),
            "option ssl is unknown: the scheme chooses TLS, mqtts://");
  EXPECT_EQ(refusal_of_uri("memcached://b1?weight=2"),
            "option weight is unknown: a weight is written after a star, HOST:PORT*WEIGHT");
  EXPECT_EQ(refusal_of_uri("embedded://1?tls=1"), "option tls is unknown");
  EXPECT_EQ(refusal_of_uri("embedded://1?user=x"), "option user is unknown");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?"), "option 1 is not name=value");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?spin=1&"), "option 2 is not name=value");
  EXPECT_EQ(refusal_of_uri("mqtt://b1?spin"), "option 1 is not name=value");
  EXPECT_THAT(refusal_of_uri("mqtt://b1?=1"), HasSubstr("the name of an option is not"));
}

TEST(ConfigUri, ChecksWhatNeedsTheWholeUri) {
  EXPECT_EQ(refusal_of_uri("mqtt://b1?pool_min=4"),
            "option pool_max is 1, below pool_min, which is 4");
  EXPECT_EQ(good_uri("mqtt://b1?pool_min=4&pool_max=4").pool_min, 4u);
  EXPECT_EQ(good_uri("mqtt://b1?pool_max=2&pool_min=0").pool_max, 2u);
}

}  // namespace
}  // namespace sheaf
