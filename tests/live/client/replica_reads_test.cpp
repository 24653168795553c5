// Reads from live replicas: Redis and Garnet clusters of three primaries with one replica each.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>

#include <sheaf/client.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/contract/endpoints.h"
#include "tests/support/garnet_process.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t primaries = 3;
constexpr unsigned key_count = 600;

class LiveReplicaReads : public testing::TestWithParam<RespSoftware> {
 protected:
  void SetUp() override {
    if (!is_installed(GetParam())) GTEST_SKIP() << not_installed(GetParam());
    RespClusterOptions options;
    options.software = GetParam();
    options.primaries = primaries;
    options.replicas = 1;
    cluster.emplace(options);
    (*cluster)->wait_until_settled();
    writer.emplace(open(uri("")));
    reader.emplace(open(uri("&reads=replicas")));
    for (unsigned i = 0; i < key_count; ++i) names.push_back("read/" + std::to_string(i));
    for (const std::string& name : names) ASSERT_TRUE(writer->set(name, "value of " + name));
  }
  void TearDown() override {
    if (!HasFailure() || !reader) return;
    for (const NodeStats& node : reader->stats()) {
      std::printf("log: %s %s, %u connections, %llu requests, %llu replies, round trip %lld us\n",
                  node.node.c_str(), std::string(to_string(node.health)).c_str(), node.connections,
                  static_cast<unsigned long long>(node.requests),
                  static_cast<unsigned long long>(node.replies),
                  static_cast<long long>(node.round_trip.count() / 1000));
    }
    std::printf("log: %s\n", (*cluster)->text(0, {"CLUSTER", "NODES"}).c_str());
  }
  std::string uri(const std::string& options) {
    return "redis://127.0.0.1:" + std::to_string((*cluster)->server(1).port()) +
           "?connect_timeout=5s&timeout=10s" + options;
  }
  std::string identity(std::size_t server) {
    return "127.0.0.1:" + std::to_string((*cluster)->server(server).port());
  }
  // The number of answers to the reader, by server.
  std::map<std::string, std::uint64_t> replies() const {
    std::map<std::string, std::uint64_t> counts;
    for (const NodeStats& node : reader->stats()) counts[node.node] = node.replies;
    return counts;
  }
  bool every_replica_has_answered() {
    auto counts = replies();
    for (std::size_t i = primaries; i < 2 * primaries; ++i) {
      if (counts[identity(i)] < key_count / 10) return false;
    }
    return true;
  }
  void expect_all_read() {
    const std::vector<std::string_view> keys(names.begin(), names.end());
    const auto all = reader->get_many(keys);
    ASSERT_EQ(all.size(), names.size());
    for (const auto& [key, got] : all) {
      ASSERT_TRUE(got) << got.error().message();
      ASSERT_TRUE(*got) << key << " is absent";
      ASSERT_EQ((*got)->data, "value of " + key);
    }
  }
  std::vector<std::string> keys_of(std::size_t primary) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
      const bool here = (*cluster)->owner(protocol::resp::hash_slot(name)) == primary;
      if (here && found.size() < 20) found.push_back(name);
    }
    return found;
  }

  std::optional<LentCluster> cluster;
  std::optional<Client> writer;
  std::optional<Client> reader;
  std::vector<std::string> names;
};

INSTANTIATE_TEST_SUITE_P(On, LiveReplicaReads,
                         testing::Values(usual_software(), RespSoftware::garnet),
                         [](const auto& each) { return traits_of(each.param).name; });

TEST_P(LiveReplicaReads, SpreadOverAllHoldersAndFindEveryKey) {
  cluster->changes_only_keys();
  wait_for_condition("every replica answers", [&] {
    expect_all_read();
    for (unsigned i = 0; i < 20; ++i) {
      const auto got = reader->get(names[i]);
      EXPECT_TRUE(got && *got && (*got)->data == "value of " + names[i]);
    }
    return HasFailure() || every_replica_has_answered();
  });
}

// A replica lacks keys that never existed and those that were just written.
TEST_P(LiveReplicaReads, AMissIsOneOfTheOwner) {
  cluster->changes_only_keys();
  wait_for_condition("every replica answers", [&] {
    expect_all_read();
    return HasFailure() || every_replica_has_answered();
  });
  for (unsigned i = 0; i < 2'000; ++i) {
    const std::string name = "new/" + std::to_string(i);
    ASSERT_TRUE(writer->set(name, "v"));
    const auto got = reader->get(name);
    ASSERT_TRUE(got && *got) << i << " is absent";
  }
  std::vector<std::string> mixed;
  for (unsigned i = 0; i < 100; ++i) {
    mixed.push_back(names[i]);
    mixed.push_back("never/" + std::to_string(i));
  }
  const std::vector<std::string_view> keys(mixed.begin(), mixed.end());
  const auto all = reader->get_many(keys);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(all[i].result);
    EXPECT_EQ(all[i].result->has_value(), i % 2 == 0) << all[i].key;
  }
}

TEST_P(LiveReplicaReads, GoOnWhileAPrimaryStandsStill) {
  expect_all_read();
  const std::vector<std::string> of_first = keys_of(0);
  (*cluster)->stop(0);
  wait_for_condition("the primary counts as down", [&] {
    static_cast<void>(reader->set(of_first[0], "other", {.timeout = 200ms}));
    const auto stats = reader->stats();
    const auto first = std::ranges::find(stats, identity(0), &NodeStats::node);
    return first != stats.end() && first->health == NodeHealth::down;
  });
  for (const std::string& name : std::span(of_first).subspan(1)) {
    const auto got = reader->get(name);
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_TRUE(*got);
    EXPECT_EQ((*got)->data, "value of " + name);
  }
  const std::vector<std::string_view> keys(of_first.begin(), of_first.end());
  for (const auto& [key, got] : reader->get_many(keys)) EXPECT_TRUE(got && *got) << key;
  (*cluster)->resume(0);
}

TEST_P(LiveReplicaReads, FollowAReplicaThatBecomesThePrimary) {
  expect_all_read();
  const std::vector<std::string> of_first = keys_of(0);
  (*cluster)->fail_over(3, GetParam() == RespSoftware::garnet ? "FORCE" : "");
  wait_for_condition("writes go to the new primary", [&] {
    return std::ranges::all_of(of_first, [&](const std::string& name) {
      return reader->set(name, "new value of " + name, {.timeout = 1s}).has_value();
    });
  });
  wait_for_condition("reads see that", [&] {
    return std::ranges::all_of(of_first, [&](const std::string& name) {
      const auto got = reader->get(name);
      return got && *got && (*got)->data == "new value of " + name;
    });
  });
}

}  // namespace
}  // namespace sheaf::test

#endif
