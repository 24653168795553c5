// Configurations of connections over TLS.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sheaf/cluster_config.h>

#include "cluster/config/config_check.h"
#include "cluster/config/config_options.h"

namespace sheaf {
namespace {

ClusterConfig good_tls(const std::string& uri) {
  auto config = ClusterConfig::parse_uri(uri);
  EXPECT_TRUE(config.has_value()) << uri << ": " << (config ? "" : config.error().text);
  return config ? *config : ClusterConfig{};
}

std::string refusal_of_tls(const std::string& uri) {
  const auto config = ClusterConfig::parse_uri(uri);
  if (config) return "it was taken";
  EXPECT_EQ(config.error().outcome, Outcome::invalid);
  EXPECT_EQ(config.error().reason, Reason::bad_configuration);
  return config.error().text;
}

TEST(ConfigTls, EverySchemeHasItsKindAndItsPort) {
  struct Row {
    const char* uri;
    EndpointKind kind;
    bool tls;
    std::uint16_t port;
  };
  for (const Row& row : {Row{"mqtt://a", EndpointKind::state_store, false, 1883},
                         Row{"mqtts://a", EndpointKind::state_store, true, 8883},
                         Row{"memcached://a", EndpointKind::memcached, false, 11'211},
                         Row{"memcacheds://a", EndpointKind::memcached, true, 11'211},
                         Row{"redis://a", EndpointKind::redis, false, 6'379},
                         Row{"rediss://a", EndpointKind::redis, true, 6'379},
                         Row{"MQTTS://a", EndpointKind::state_store, true, 8883},
                         Row{"embedded://1", EndpointKind::embedded, false, 0}}) {
    const ClusterConfig config = good_tls(row.uri);
    EXPECT_EQ(config.kind, row.kind) << row.uri;
    EXPECT_EQ(config.tls, row.tls) << row.uri;
    EXPECT_EQ(config.nodes.at(0).port, row.port) << row.uri;
  }
}

TEST(ConfigTls, OptionsOfAUriArriveInTheirFields) {
  const auto config = good_tls(
      "mqtts://b1,b2:9999?tls_ca=/etc/tls/ca.pem&tls_cert=own/tls.crt&tls_key=own/tls.key"
      "&tls_key_password_file=own/pass&tls_name=broker.example&tls_alpn=mqtt&timeout=2s");
  EXPECT_EQ(config.tls_ca, "/etc/tls/ca.pem");
  EXPECT_EQ(config.tls_cert, "own/tls.crt");
  EXPECT_EQ(config.tls_key, "own/tls.key");
  EXPECT_EQ(config.tls_key_password_file, "own/pass");
  EXPECT_EQ(config.tls_name, "broker.example");
  EXPECT_EQ(config.tls_alpn, "mqtt");
  EXPECT_EQ(config.nodes.at(1).port, 9999);
}

TEST(ConfigTls, APathInAUriMayHaveAnyCharacter) {
  EXPECT_EQ(good_tls("rediss://r1?tls_ca=/my%20files/a%26b%40c%25").tls_ca, "/my files/a&b@c%");
  for (const auto* path : {"%", "%4", "%zz"}) {
    EXPECT_EQ(refusal_of_tls("rediss://r1?tls_ca=" + std::string(path)),
              "option tls_ca has a % that is not followed by two hexadecimal digits");
  }
  EXPECT_EQ(refusal_of_tls("rediss://r1?tls_ca=a%00b"),
            "option tls_ca is \"a\\x00b\", not the path of a file");
}

TEST(ConfigTls, JsonHasTheSameOptions) {
  const auto clusters = ClusterConfig::parse_json(
      R"({"clusters":{"c":{"kind":"mqtts","servers":[{"host":"b1"},{"host":"b2","port":1}],
      "tls_ca":"/a b/ca.pem","tls_cert":"c%20.pem","tls_key":"k","tls_name":"::1",
      "tls_key_password_file":"w",
      "tls_alpn":"mqtt","password":"secret"},"d":{"servers":"rediss://r1","tls_ca":"x"}}})");
  ASSERT_TRUE(clusters) << clusters.error().text;
  const ClusterConfig& config = clusters->at(0).second;
  EXPECT_TRUE(config.tls);
  EXPECT_EQ(config.nodes.at(0).port, 8883);
  EXPECT_EQ(config.tls_ca, "/a b/ca.pem");
  EXPECT_EQ(config.tls_cert, "c%20.pem") << "nothing is decoded";
  EXPECT_EQ(config.tls_key_password_file, "w");
  EXPECT_EQ(config.tls_name, "::1");
  EXPECT_EQ(clusters->at(1).second.tls_ca, "x");
}

TEST(ConfigTls, NoOptionIsTakenWithoutTls) {
  for (const auto* option : {"tls_ca=x", "tls_cert=x", "tls_key=x", "tls_key_password_file=x",
                             "tls_name=x", "tls_alpn=x"}) {
    for (const auto* server : {"mqtt://a", "memcached://a", "redis://a", "embedded://1"}) {
      const std::string name(option, std::string_view(option).find('='));
      EXPECT_EQ(refusal_of_tls(std::string(server) + "?" + option),
                "option " + name + " is for mqtts://, memcacheds:// or rediss:// only");
    }
  }
  const auto clusters =
      ClusterConfig::parse_json(R"({"clusters":{"c":{"servers":"mqtt://a","tls_name":"x"}}})");
  ASSERT_FALSE(clusters);
  EXPECT_EQ(clusters.error().text,
            "clusters.c.tls_name is for mqtts://, memcacheds:// or rediss:// only");
}

TEST(ConfigTls, TheNameIsOneThatAHostMayHave) {
  for (const auto* name : {"1.2.3", "::g", ":", "1.2.3.256"}) {
    EXPECT_EQ(refusal_of_tls("mqtts://a?tls_name=" + std::string(name)),
              "option tls_name is neither a name nor an address");
  }
  EXPECT_EQ(good_tls("mqtts://a?tls_name=10.0.0.1").tls_name, "10.0.0.1");
}

TEST(ConfigTls, CertificateAndKeyGoTogether) {
  EXPECT_EQ(refusal_of_tls("mqtts://a?tls_cert=x"), "option tls_cert needs tls_key");
  EXPECT_EQ(refusal_of_tls("mqtts://a?tls_key=x"), "option tls_key needs tls_cert");
  EXPECT_EQ(refusal_of_tls("mqtts://a?tls_key_password_file=x"),
            "option tls_key_password_file needs tls_key");
}

TEST(ConfigTls, AConfigurationMadeByHandIsHeldToTheSameRules) {
  ClusterConfig config = good_tls("mqtt://a");
  config.tls_ca = "x";
  EXPECT_EQ(cluster::check_config(config)->text,
            "option tls_ca is for mqtts://, memcacheds:// or rediss:// only");
  config.tls = true;
  EXPECT_FALSE(cluster::check_config(config));
  config.tls_name = "no name";
  EXPECT_EQ(cluster::check_config(config)->text,
            "option tls_name is \"no name\", not a name or an address");
  ClusterConfig engines = good_tls("embedded://1");
  engines.tls = true;
  EXPECT_EQ(cluster::check_config(engines)->text, "embedded:// has no TLS");
}

TEST(ConfigTls, APasswordMayCrossTheNetwork) {
  EXPECT_EQ(good_tls("rediss://u:p@r1.example").password, "p");
}

TEST(ConfigTls, OtherOptionsOfAKindHoldOverTls) {
  EXPECT_EQ(good_tls("memcacheds://a?protocol=meta").protocol, MemcachedProtocol::meta);
  EXPECT_EQ(good_tls("rediss://a?routing=ring").routing, RoutingKind::ring);
  EXPECT_EQ(refusal_of_tls("mqtts://a?ring=libmemcached"), "option ring is for memcached:// only");
}

// An option that weakens security has a name that says so, and only one such option exists.
TEST(ConfigTls, NoOptionTurnsTheVerificationOff) {
  std::vector<std::string_view> of_tls;
  std::vector<std::string_view> permissions;
  for (const cluster::Option& option : cluster::option_table()) {
    for (const std::string_view word : {"insecure", "verify", "skip", "trust", "check"}) {
      EXPECT_EQ(option.name.find(word), option.name.npos) << option.name;
    }
    if (option.name.starts_with("tls_")) of_tls.push_back(option.name);
    if (option.name.find("allow") != option.name.npos) permissions.push_back(option.name);
  }
  EXPECT_THAT(of_tls,
              testing::UnorderedElementsAre("tls_ca", "tls_cert", "tls_key",
                                            "tls_key_password_file", "tls_name", "tls_alpn"));
  EXPECT_THAT(permissions, testing::ElementsAre("allow_plain_password"));
}

}  // namespace
}  // namespace sheaf
