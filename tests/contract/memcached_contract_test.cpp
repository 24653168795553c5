// The operations that only memcached has, on three real servers in both protocols.

#include <gtest/gtest.h>

#include <algorithm>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

class Memcached : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  void SetUp() override {
    endpoint = GetParam().make();
    client.emplace(test::open(endpoint->uri()));
  }
  std::string stored(std::string_view key) { return client->get(key).value().value().data; }
  void wait_until_gone(std::string_view key) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (client->get(key).value().has_value()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
  }
  std::unique_ptr<test::Endpoint> endpoint;
  std::optional<Client> client;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Memcached);
INSTANTIATE_TEST_SUITE_P(On, Memcached, testing::ValuesIn(test::memcached_factories()),
                         [](const auto& test) { return test.param.name; });

template <class T>
void expect_local(const Result<T>& result, Reason reason, std::string_view words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::invalid) << result.error().message();
  EXPECT_EQ(result.error().reason, reason) << result.error().message();
  EXPECT_NE(result.error().text.find(words), std::string::npos) << result.error().text;
}

TEST_P(Memcached, ReplaceStoresOnlyWhatIsThere) {
  SetOptions options;
  options.condition = SetCondition::if_present;
  EXPECT_FALSE(client->set("key", "new", options).value().stored);
  EXPECT_FALSE(client->get("key").value().has_value());
  client->set("key", "old").value();
  EXPECT_TRUE(client->set("key", "new", options).value().stored);
  EXPECT_EQ(stored("key"), "new");
}

TEST_P(Memcached, CompareAndSwapStoresAtTheSameVersionOnly) {
  client->set("key", "1").value();
  const Version read = client->get("key").value()->version;
  SetOptions options;
  options.condition = SetCondition::if_version;
  options.version = read;
  const auto swapped = client->set("key", "2", options).value();
  EXPECT_TRUE(swapped.stored);
  EXPECT_FALSE(client->set("key", "3", options).value().stored);
  EXPECT_EQ(stored("key"), "2");
  options.version = swapped.version;  // a set returns the version that it made
  EXPECT_TRUE(client->set("key", "4", options).value().stored);
  client->remove("key").value();
  EXPECT_FALSE(client->set("key", "5", options).value().stored);
  EXPECT_FALSE(client->get("key").value().has_value());
  for (const char* wrong : {"", "0", "x", "-1", "99999999999999999999999"}) {
    options.version.text = wrong;
    expect_local(client->set("key", "6", options), Reason::bad_argument, "version");
  }
}

TEST_P(Memcached, AppendAndPrependChangeWhatIsThereAndKeepItsFlags) {
  EXPECT_FALSE(client->append("key", "x").value());
  EXPECT_FALSE(client->prepend("key", "x").value());
  EXPECT_FALSE(client->get("key").value().has_value());
  client->set("key", "b", {.flags = 7}).value();
  EXPECT_TRUE(client->append("key", "c").value());
  EXPECT_TRUE(client->prepend("key", "a").value());
  const Value value = client->get("key").value().value();
  EXPECT_EQ(value.data, "abc");
  EXPECT_EQ(value.flags, 7u);
}

TEST_P(Memcached, NumbersCountFromWhereTheyAre) {
  EXPECT_FALSE(client->increment("n").value().has_value());
  EXPECT_FALSE(client->decrement("n").value().has_value());
  EXPECT_FALSE(client->get("n").value().has_value());
  EXPECT_EQ(client->increment("n", 5, {.initial = 100}).value(), 100u);  // not 105
  EXPECT_EQ(client->increment("n", 5, {.initial = 100}).value(), 105u);
  EXPECT_EQ(client->decrement("n", 100).value(), 5u);
  EXPECT_EQ(client->decrement("n", 100).value(), 0u);
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(client->increment("n", most).value(), most);
  EXPECT_EQ(client->increment("n", 2).value(), 1u);  // modulo 2^64
  client->set("text", "abc").value();
  const auto wrong = client->increment("text");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().outcome, Outcome::refused);
  EXPECT_EQ(wrong.error().reason, Reason::wrong_type);
  EXPECT_EQ(stored("text"), "abc");
}

TEST_P(Memcached, ANumberThatIsCreatedLivesAsLongAsWasAsked) {
  EXPECT_EQ(client->increment("n", 1, {.initial = 3, .ttl = 1s}).value(), 3u);
  wait_until_gone("n");
}

TEST_P(Memcached, TouchGivesANewTimeToLive) {
  EXPECT_FALSE(client->touch("key", {.ttl = 1h}).value());
  EXPECT_FALSE(client->get_and_touch("key", {.ttl = 1h}).value().has_value());
  client->set("key", "v", {.ttl = 1h, .flags = 9}).value();
  client->set("other", "w", {.ttl = 1h}).value();
  const Value value = client->get_and_touch("key", {.ttl = 1s}).value().value();
  EXPECT_EQ(value.data, "v");
  EXPECT_EQ(value.flags, 9u);
  EXPECT_TRUE(client->touch("other", {.ttl = 1s}).value());
  wait_until_gone("key");
  wait_until_gone("other");
}

TEST_P(Memcached, RemoveIfVersionRemovesThatVersionOnly) {
  client->set("key", "1").value();
  RemoveOptions options;
  options.if_version = client->get("key").value()->version;
  client->set("key", "2").value();
  EXPECT_EQ(client->remove("key", options).value(), RemoveResult::value_differs);
  EXPECT_EQ(stored("key"), "2");
  options.if_version = client->get("key").value()->version;
  EXPECT_EQ(client->remove("key", options).value(), RemoveResult::removed);
  EXPECT_EQ(client->remove("key", options).value(), RemoveResult::absent);
}

TEST_P(Memcached, AllFlagsComeBackAndForeignValuesAreUntouched) {
  for (const std::uint32_t flags : {0u, 1u, 0x0107u, 0x80000000u, 0xffffffffu}) {
    const std::string compressed("\x1f\x8b\x08\0 not for us to unpack", 24);
    client->set("foreign", compressed, {.flags = flags}).value();
    const Value value = client->get("foreign").value().value();
    EXPECT_EQ(value.flags, flags);
    EXPECT_EQ(value.data, compressed);
  }
}

TEST_P(Memcached, AValueAboveTheItemSizeIsRefusedHereAndTheOldOneKept) {
  const std::string key(250, 'k');
  ASSERT_TRUE(client->set(key, std::string(GetParam().limits.value, 'a')).value().stored);
  const std::string larger(GetParam().limits.value + 1, 'b');
  expect_local(client->set(key, larger), Reason::too_large, "1048267");
  EXPECT_EQ(stored(key), std::string(GetParam().limits.value, 'a'));
}

TEST_P(Memcached, KeysAtTheLimitAreKeptApartAndLongerOnesRefused) {
  const test::Limits& limits = GetParam().limits;
  std::string key(limits.key, 'k');
  client->set(key, "one").value();
  key.back() = 'l';
  client->set(key, "other").value();
  EXPECT_EQ(stored(key), "other");
  key.back() = 'k';
  EXPECT_EQ(stored(key), "one");
  expect_local(client->set(key + "k", "x"), Reason::too_large, "250");
  std::string binary(limits.binary_key, '\n');
  client->set(binary, "binary").value();
  EXPECT_EQ(stored(binary), "binary");
  binary.push_back('\n');
  expect_local(client->get(binary), Reason::too_large, std::to_string(limits.binary_key));
}

TEST_P(Memcached, ABatchWithOneKeyThatIsTooLongSpoilsThatKeyOnly) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("b" + std::to_string(i));
  names[500] = std::string(251, 'x');
  std::vector<SetItem> items;
  for (const std::string& name : names) items.push_back({name, name});
  const auto set = client->set_many(items, {.timeout = 10s});
  EXPECT_EQ(std::ranges::count_if(set, [](const auto& each) { return !each.result; }), 1);
  expect_local(set[500].result, Reason::too_large, "250");
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const auto got = client->get_many(keys, {10s});
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (i != 500) {
      ASSERT_EQ((*got[i].result).value().data, names[i]);
    }
  }
}

TEST_P(Memcached, EveryServerReportsItsVersionAndStatistics) {
  const auto versions = client->server_versions({.timeout = 5s});
  ASSERT_EQ(versions.size(), 3u);
  for (const NodeText& version : versions) EXPECT_NE(version.text.value().find('.'), 0u);
  client->set("key", "v").value();
  for (const NodeText& stats : client->server_stats({}, {.timeout = 5s})) {
    EXPECT_NE(stats.text.value().find("curr_items "), std::string::npos) << stats.node;
  }
  for (const NodeText& stats : client->server_stats("settings", {.timeout = 5s})) {
    EXPECT_NE(stats.text.value().find("item_size_max "), std::string::npos) << stats.node;
  }
  for (const NodeText& stats : client->server_stats("nonsense", {.timeout = 5s})) {
    expect_local(stats.text, Reason::bad_argument, "groups");
  }
}

// Opens a client with the endpoint's configuration, but with another protocol.
Client open_with(const test::Endpoint& endpoint, MemcachedProtocol protocol) {
  ClusterConfig config = ClusterConfig::parse_uri(endpoint.uri()).value();
  config.protocol = protocol;
  return Client::open(std::move(config)).value();
}

// Other programs read a lease of the meta protocol as an empty value, hence lease_beside.
TEST_P(Memcached, WithTheLeaseBesideItAKeyThatIsBeingComputedIsAbsentForEverybody) {
  Client binary = open_with(*endpoint, MemcachedProtocol::binary);
  const auto got = client->get_or_compute("{key}", {.lease_beside = true, .timeout = 10s}, [&] {
    EXPECT_FALSE(binary.get("{key}").value().has_value());
    EXPECT_TRUE(binary.get("{key}:sheaf-lease").value().has_value());
    return std::string("made");
  });
  EXPECT_EQ(got.value().data, "made");
  EXPECT_EQ(binary.get("{key}").value()->data, "made");
  EXPECT_FALSE(binary.get("{key}:sheaf-lease").value().has_value());
}

TEST_P(Memcached, OnARingThatIsSharedTheWholeKeyPlacesItAndItsLease) {
  const std::string uri = endpoint->uri();
  Client shared = test::open(uri + "&ring=libmemcached-weighted");
  const std::string key = "{tag}/key";
  EXPECT_EQ(shared.locate(key)->routing_key, key);
  EXPECT_EQ(client->locate(key)->routing_key, "tag");
  const auto got = shared.get_or_compute(key, {.lease_beside = true, .timeout = 10s}, [&] {
    const std::string node = shared.locate(key)->node;
    ClusterConfig config = ClusterConfig::parse_uri(uri).value();
    std::erase_if(config.nodes, [&](const NodeConfig& each) { return each.identity() != node; });
    Client owner = Client::open(std::move(config)).value();
    EXPECT_TRUE(owner.get(key + ":sheaf-lease").value().has_value());
    return std::string("made");
  });
  EXPECT_EQ(got.value().data, "made");
}

TEST_P(Memcached, AutomaticallyChosenAndFixedProtocolsShareEverything) {
  Client other = open_with(*endpoint, MemcachedProtocol::automatic);
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key" + std::to_string(i);
    client->set(key, key, {.flags = 3}).value();
    const Value value = other.get(key).value().value();
    EXPECT_EQ(value.data, key);
    EXPECT_EQ(value.flags, 3u);
    EXPECT_EQ(value.version, client->get(key).value()->version);
  }
}

}  // namespace
}  // namespace sheaf
