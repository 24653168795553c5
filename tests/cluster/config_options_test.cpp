#include "cluster/config/config_options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

// The values of all options.
auto all(const ClusterConfig& config) {
  std::vector<std::pair<std::uint64_t, std::string>> values;
  for (const Option& option : option_table()) {
    if (option.judged_by_engine()) continue;
    const OptionValue value = option.access.get(config);
    values.emplace_back(value.number, value.text);
  }
  return std::pair(values, config.engine_options);
}

// The configuration after one option, or the defaults if it is refused.
ClusterConfig with(std::string_view name, std::string_view value, Written written = Written::uri) {
  ClusterConfig config;
  const Option* option = find_option(name);
  EXPECT_NE(option, nullptr) << name;
  if (option != nullptr) {
    const auto set = set_option(config, *option, value, written);
    EXPECT_TRUE(set.has_value()) << name << " " << (set ? "" : set.error());
  }
  return config;
}

std::string refusal_of_option(std::string_view name, std::string_view value,
                              Written written = Written::uri) {
  ClusterConfig config;
  const auto set = set_option(config, *find_option(name), value, written);
  EXPECT_FALSE(set.has_value()) << name << "=" << value;
  EXPECT_EQ(all(config), all(ClusterConfig{}));
  return set ? "" : set.error();
}

TEST(ConfigOptions, EachSetsItsOwnField) {
  EXPECT_EQ(with("locator", "ring").locator, LocatorKind::ring);
  EXPECT_EQ(with("slots", "1024").slots, 1024u);
  EXPECT_EQ(with("allow_plain_password", "1").allow_plain_password, true);
  EXPECT_EQ(with("timeout", "250ms").timeout, 250ms);
  EXPECT_EQ(with("connect_timeout", "2s").connect_timeout, 2s);
  EXPECT_EQ(with("default_ttl", "2h").default_ttl->milliseconds(), 2h);
  EXPECT_EQ(with("value_limit", "268369920").value_limit, 268'369'920u);
  EXPECT_EQ(with("value_limit", "64KiB").value_limit, 65'536u);
  EXPECT_EQ(with("pool_min", "0").pool_min, 0u);
  EXPECT_EQ(with("pool_max", "64").pool_max, 64u);
  EXPECT_EQ(with("extra_connections", "0").extra_connections, 0u);
  EXPECT_EQ(with("idle_timeout", "5m").idle_timeout, 5min);
  EXPECT_EQ(with("busy_timeout", "5s").busy_timeout, 5s);
  EXPECT_EQ(with("max_in_flight", "65535").max_in_flight, 65'535u);
  EXPECT_EQ(with("max_bytes_in_flight", "1").max_bytes_in_flight, 1u);
  EXPECT_EQ(with("max_waiting", "0").max_waiting, 0u);
  EXPECT_EQ(with("keep_alive", "65535s").keep_alive, 65'535s);
  EXPECT_EQ(with("spin", "false").spin, false);
  EXPECT_EQ(with("log_keys", "true").log_keys, true);
  EXPECT_EQ(with("client_id", "Line-4_a.b").client_id, "Line-4_a.b");
  EXPECT_EQ(with("client_id_exact", "press-7").client_id_exact, "press-7");
  EXPECT_EQ(with("name", "x").embedded_name, "x");
  EXPECT_EQ(with("tls_ca", "/etc/ca.pem").tls_ca, "/etc/ca.pem");
  EXPECT_EQ(with("tls_cert", "own.pem").tls_cert, "own.pem");
  EXPECT_EQ(with("tls_key", "own key").tls_key, "own key");
  EXPECT_EQ(with("tls_key_password_file", "/run/w").tls_key_password_file, "/run/w");
  EXPECT_EQ(with("tls_name", "fe80::17").tls_name, "fe80::17");
  EXPECT_EQ(with("tls_alpn", "mqtt").tls_alpn, "mqtt");
  EXPECT_EQ(with("password_file", "/run/p").password_file, "/run/p");
  EXPECT_EQ(with("token_file", "/run/t").token_file, "/run/t");
  EXPECT_EQ(with("auth_method", "OAUTH2-JWT").auth_method, "OAUTH2-JWT");
}

TEST(ConfigOptions, DefaultsOfTheTableAreThoseOfTheStruct) {
  for (const Option& option : option_table()) {
    if (option.judged_by_engine() || option.fallback.empty()) continue;
    EXPECT_EQ(all(with(option.name, option.fallback)), all(ClusterConfig{})) << option.name;
  }
}

TEST(ConfigOptions, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const Option& option : option_table()) {
    EXPECT_TRUE(is_name(option.name));
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_EQ(find_option(option.name), &option);
  }
  EXPECT_EQ(find_option("no_such"), nullptr);
  EXPECT_EQ(find_option(""), nullptr);
}

TEST(ConfigOptions, EveryRangeEndsWhereItSays) {
  for (const Option& option : option_table()) {
    if (option.judged_by_engine()) continue;
    const bool time = option.type == OptionType::duration;
    if (!time && option.type != OptionType::integer && option.type != OptionType::size) continue;
    const auto text = [&](std::uint64_t n) { return std::to_string(n) + (time ? "ms" : ""); };
    with(option.name, text(option.low));
    with(option.name, text(option.high));
    const std::string end = ", not " + allowed(option);
    EXPECT_EQ(refusal_of_option(option.name, text(option.high + 1)),
              "is \"" + text(option.high + 1) + "\"" + end);
    if (option.low > 0) refusal_of_option(option.name, text(option.low - 1));
  }
}

TEST(ConfigOptions, RefusalsNameTheLimit) {
  EXPECT_EQ(refusal_of_option("pool_max", "65"), "is \"65\", not an integer from 1 to 64");
  EXPECT_EQ(refusal_of_option("extra_connections", "65"), "is \"65\", not an integer from 0 to 64");
  EXPECT_EQ(refusal_of_option("timeout", "0ms"), "is \"0ms\", not a duration from 1ms to 24h");
  EXPECT_EQ(refusal_of_option("keep_alive", "999ms"),
            "is \"999ms\", not a duration from 1s to 65535s");
  EXPECT_EQ(refusal_of_option("slots", "1000"),
            "is \"1000\", not a power of two from 1024 to 4194304");
  EXPECT_EQ(refusal_of_option("slots", "512"),
            "is \"512\", not a power of two from 1024 to 4194304");
  EXPECT_EQ(refusal_of_option("slots", "8388608"),
            "is \"8388608\", not a power of two from 1024 to 4194304");
  EXPECT_EQ(refusal_of_option("locator", "maglev"), "is \"maglev\", not slots or ring");
  EXPECT_EQ(refusal_of_option("locator", "slots|ring"), "is \"slots|ring\", not slots or ring");
  EXPECT_EQ(refusal_of_option("locator", ""), "is \"\", not slots or ring");
  EXPECT_EQ(refusal_of_option("failover", "gutter"), "is \"gutter\", not owner or rehash");
  EXPECT_EQ(refusal_of_option("ring", "ketama"),
            "is \"ketama\", not libmemcached or libmemcached-weighted or spymemcached or modula or "
            "pymemcache or dalli (ketama is libmemcached-weighted in libmemcached and PHP, and "
            "spymemcached in Java)");
  EXPECT_EQ(refusal_of_option("spin", "yes"), "is \"yes\", not true, false, 1 or 0");
  EXPECT_EQ(refusal_of_option("client_id", "a/b"), "is \"a/b\", not " + std::string(name_rule));
  refusal_of_option("client_id", "");
  EXPECT_EQ(refusal_of_option("client_id_exact", "a#b"),
            "is \"a#b\", not " + std::string(name_rule));
  refusal_of_option("client_id_exact", "");
  refusal_of_option("client_id_exact", std::string(65, 'x'));
  EXPECT_EQ(refusal_of_option("tls_ca", ""), "is \"\", not the path of a file");
  refusal_of_option("tls_ca", std::string("a\0b", 3));
  refusal_of_option("tls_ca", std::string(4'096, 'x'));
  with("tls_ca", std::string(4'095, 'x'));
  EXPECT_EQ(refusal_of_option("tls_name", "a b"), "is \"a b\", not a name or an address");
  refusal_of_option("tls_name", "*.example");
  refusal_of_option("client_id", std::string(65, 'x'));
  with("client_id", std::string(64, 'x'));
}

TEST(ConfigOptions, ADurationWithoutAUnitIsRefused) {
  EXPECT_EQ(refusal_of_option("timeout", "3"),
            "is \"3\", not a duration from 1ms to 24h, such as 250ms, 3s, 5m or 1h");
  EXPECT_EQ(refusal_of_option("timeout", "3", Written::json_number),
            "must be a JSON string: a duration from 1ms to 24h");
}

TEST(ConfigOptions, JsonTypesAreNotMixedUp) {
  EXPECT_EQ(with("pool_max", "2", Written::json_number).pool_max, 2u);
  EXPECT_EQ(with("spin", "false", Written::json_boolean).spin, false);
  EXPECT_EQ(with("timeout", "3s", Written::json_text).timeout, 3s);
  EXPECT_EQ(with("value_limit", "2", Written::json_number).value_limit, 2u);
  EXPECT_EQ(with("value_limit", "2KiB", Written::json_text).value_limit, 2'048u);
  EXPECT_EQ(refusal_of_option("value_limit", "true", Written::json_boolean),
            "must be a JSON number or string: bytes from 1 to 268369920 (KiB, MiB or GiB may "
            "follow)");
  EXPECT_EQ(refusal_of_option("pool_max", "2", Written::json_text),
            "must be a JSON number: an integer from 1 to 64");
  EXPECT_EQ(refusal_of_option("spin", "1", Written::json_number), "must be a JSON boolean");
  EXPECT_EQ(refusal_of_option("locator", "1", Written::json_number),
            "must be a JSON string: slots or ring");
  EXPECT_EQ(refusal_of_option("pool_max", "2.5", Written::json_number),
            "is \"2.5\", not an integer from 1 to 64");
}

TEST(ConfigOptions, ALongOrHostileValueIsShownCutAndEscaped) {
  EXPECT_LT(refusal_of_option("timeout", std::string(100'000, 'x')).size(), 200u);
  EXPECT_EQ(refusal_of_option("locator", "\x1b[2J"), "is \"\\x1B[2J\", not slots or ring");
}

TEST(ConfigOptions, EngineOptionsAreHandedOnUnjudged) {
  const auto config = with("max_keys", "not judged here");
  ASSERT_EQ(config.engine_options.size(), 1u);
  EXPECT_EQ(config.engine_options[0],
            (std::pair<std::string, std::string>("max_keys", "not judged here")));
}

TEST(ConfigOptions, EachChoiceIsTheEnumeratorOfItsName) {
  EXPECT_EQ(with("locator", "slots").locator, LocatorKind::slots);
  EXPECT_EQ(with("locator", "ring").locator, LocatorKind::ring);
  EXPECT_EQ(with("failover", "owner").failover, FailoverMode::owner);
  EXPECT_EQ(with("failover", "rehash").failover, FailoverMode::rehash);
  EXPECT_EQ(with("protocol", "auto").protocol, MemcachedProtocol::automatic);
  EXPECT_EQ(with("protocol", "binary").protocol, MemcachedProtocol::binary);
  EXPECT_EQ(with("protocol", "meta").protocol, MemcachedProtocol::meta);
  EXPECT_EQ(with("routing", "cluster").routing, RoutingKind::cluster);
  EXPECT_EQ(with("routing", "ring").routing, RoutingKind::ring);
  EXPECT_EQ(with("reads", "primary").reads, ReadTarget::primary);
  EXPECT_EQ(with("reads", "replicas").reads, ReadTarget::replicas);
  EXPECT_EQ(with("replica_misses", "confirm").replica_misses, ReplicaMiss::confirm);
  EXPECT_EQ(with("replica_misses", "trust").replica_misses, ReplicaMiss::trust);
  EXPECT_EQ(with("hosts", "addresses").hosts, HostKind::addresses);
  EXPECT_EQ(with("hosts", "names").hosts, HostKind::names);
}

TEST(ConfigOptions, TheDocumentationHasARowForEachOption) {
  const std::filesystem::path docs = SHEAF_TEST_DOCS;
  std::ifstream file(docs / "configuration.md");
  ASSERT_TRUE(file.is_open());
  std::stringstream page;
  page << file.rdbuf();
  for (const Option& option : option_table()) {
    const std::string fallback =
        option.fallback.empty() ? "none" : "`" + std::string(option.fallback) + "`";
    const std::string row = "| `" + std::string(option.name) + "` | " + allowed(option) + " | " +
                            fallback + " | " + std::string(option.help) + " |\n";
    EXPECT_NE(page.str().find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace sheaf::cluster
