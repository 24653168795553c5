#include "cluster/placement/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/random.h"

namespace sheaf::cluster {
namespace {

std::shared_ptr<const Topology> engines(unsigned count) {
  ClusterConfig config;
  config.kind = EndpointKind::embedded;
  config.slots = 1'024;
  for (unsigned i = 0; i < count; ++i) {
    config.nodes.push_back({"embedded", static_cast<std::uint16_t>(i), 1});
  }
  return Topology::make(config);
}

std::vector<std::string> numbered(int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back("key-" + std::to_string(i));
  return keys;
}

std::vector<std::string_view> views(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

constexpr BatchLimits wide{1'000'000, 1u << 30, 0};

// Takes everything that the plan gives for the node now.
std::vector<std::uint32_t> drain(BatchPlan& plan, std::uint32_t node) {
  std::vector<std::uint32_t> taken;
  while (const auto index = plan.next(node)) taken.push_back(*index);
  return taken;
}

TEST(BatchPlan, NothingToDoIsFinished) {
  const auto topology = engines(3);
  BatchPlan plan(*topology, std::span<const std::string_view>{}, wide);
  EXPECT_EQ(plan.size(), 0u);
  EXPECT_EQ(plan.unfinished(), 0u);
  EXPECT_TRUE(plan.nodes().empty());
  EXPECT_FALSE(plan.next(0));
  EXPECT_FALSE(plan.give_up(2));
}

// The given resource provides all memory of a plan.
TEST(BatchPlan, TakesItsMemoryFromTheGivenResource) {
  const auto topology = engines(3);
  const std::vector<std::string> names = numbered(100);
  std::vector<std::byte> room(100 * 200);
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size(),
                                             std::pmr::null_memory_resource());
  const std::vector<std::string_view> keys = views(names);
  const BatchPlan plan(*topology, keys, wide, memory);
  EXPECT_EQ(plan.memory(), &memory);
  EXPECT_EQ(plan.size(), 100u);
  std::pmr::monotonic_buffer_resource none(std::pmr::null_memory_resource());
  EXPECT_THROW(BatchPlan(*topology, keys, wide, none), std::bad_alloc);
}

TEST(BatchPlan, AKeyGivenTwiceIsReadOnceAtItsFirstPlace) {
  const auto topology = engines(3);
  const std::vector<std::string_view> keys{"b", "a", "b", "", "a", "c", "b", ""};
  BatchPlan plan(*topology, keys, wide);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan.item(0).key, "b");
  EXPECT_EQ(plan.item(1).key, "a");
  EXPECT_EQ(plan.item(2).key, "");
  EXPECT_EQ(plan.item(3).key, "c");
  EXPECT_EQ(plan.unfinished(), 4u);
}

TEST(BatchPlan, ASetKeepsTheLastValueAtTheFirstPlace) {
  const auto topology = engines(3);
  const std::vector<SetItem> items{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"c", "4"}, {"a", "5"}};
  BatchPlan plan(*topology, items, wide);
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan.item(0).key, "a");
  EXPECT_EQ(plan.item(0).value, "5");
  EXPECT_EQ(plan.item(1).value, "2");
  EXPECT_EQ(plan.item(2).value, "4");
}

TEST(BatchPlan, KeysThatDifferInABinaryTailAreDistinct) {
  const auto topology = engines(2);
  const std::vector<std::string> keys{std::string("k\0a", 3), std::string("k\0b", 3), "k"};
  BatchPlan plan(*topology, views(keys), wide);
  EXPECT_EQ(plan.size(), 3u);
}

TEST(BatchPlan, EveryKeyIsStartedOnceOnTheNodeThatOwnsIt) {
  const auto topology = engines(7);
  const auto keys = numbered(5'000);
  BatchPlan plan(*topology, views(keys), wide);
  std::set<std::uint32_t> seen;
  EXPECT_TRUE(std::ranges::is_sorted(plan.nodes()));
  for (const std::uint32_t node : plan.nodes()) {
    const auto taken = drain(plan, node);
    EXPECT_TRUE(std::ranges::is_sorted(taken)) << "the order of the batch is kept";
    for (const std::uint32_t index : taken) {
      EXPECT_EQ(plan.item(index).node, node);
      EXPECT_EQ(topology->locate(plan.item(index).key).node, node);
      EXPECT_TRUE(seen.insert(index).second);
      plan.done(index);
    }
  }
  EXPECT_EQ(seen.size(), 5'000u);
  EXPECT_EQ(plan.unfinished(), 0u);
}

TEST(BatchPlan, ListsOnlyNodesThatOwnAKey) {
  const auto topology = engines(64);
  const std::vector<std::string_view> keys{"a", "b"};
  BatchPlan plan(*topology, keys, wide);
  ASSERT_LE(plan.nodes().size(), 2u);
  for (const std::uint32_t node : plan.nodes()) EXPECT_TRUE(plan.next(node));
}

TEST(BatchPlan, AFullWindowWaitsForAnEnd) {
  const auto topology = engines(1);
  const auto keys = numbered(10);
  BatchPlan plan(*topology, views(keys), {3, 1u << 20, 0});
  EXPECT_EQ(drain(plan, 0), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(plan.in_flight(0), 3u);
  plan.done(1);
  EXPECT_EQ(drain(plan, 0), (std::vector<std::uint32_t>{3}));
  plan.done(0);
  plan.done(3);
  EXPECT_EQ(drain(plan, 0), (std::vector<std::uint32_t>{4, 5}));
  EXPECT_EQ(plan.unfinished(), 7u);
}

TEST(BatchPlan, RunsGiveEachKeyOnceInItsOrderAndKeepToTheWindow) {
  const auto topology = engines(3);
  const auto keys = numbered(100);
  BatchPlan plan(*topology, views(keys), {10, 1u << 20, 0});
  std::vector<std::uint32_t> seen;
  for (const std::uint32_t node : plan.nodes()) {
    for (;;) {
      const auto run = plan.next_run(node, 7);
      if (run.count == 0) break;
      EXPECT_LE(run.count, 7u);
      const auto rest = plan.next_run(node, 7);
      EXPECT_LE(run.count + rest.count, 10u);
      EXPECT_EQ(plan.in_flight(node), run.count + rest.count);
      for (const auto& some : {run, rest}) {
        for (std::uint32_t place = some.first; place < some.first + some.count; ++place) {
          EXPECT_EQ(plan.item(plan.at(place)).node, node);
          EXPECT_TRUE(seen.empty() || plan.item(seen.back()).node != node ||
                      seen.back() < plan.at(place));
          seen.push_back(plan.at(place));
          plan.done(plan.at(place));
        }
      }
    }
  }
  EXPECT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()).size(), 100u);
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(plan.unfinished(), 0u);
}

TEST(BatchPlan, OneSlowNodeDoesNotHoldUpTheOthers) {
  const auto topology = engines(3);
  const auto keys = numbered(300);
  BatchPlan plan(*topology, views(keys), {4, 1u << 20, 0});
  std::map<std::uint32_t, std::size_t> finished;
  EXPECT_EQ(drain(plan, 0).size(), 4u);  // never answers
  for (const std::uint32_t node : {1u, 2u}) {
    while (const auto index = plan.next(node)) {
      plan.done(*index);
      ++finished[node];
    }
  }
  EXPECT_EQ(plan.unfinished() + finished[1] + finished[2], 300u);
  EXPECT_GT(finished[1], 50u);
  EXPECT_GT(finished[2], 50u);
  EXPECT_FALSE(plan.next(0));
}

TEST(BatchPlan, BytesInFlightAreBoundedAndALargeRequestGoesAlone) {
  const auto topology = engines(1);
  const std::string large(100, 'x');
  const std::string small(4, 'y');
  const std::vector<SetItem> items{{"a", small}, {"b", small}, {"c", large}, {"d", small}};
  BatchPlan plan(*topology, items, {100, 10, 0});  // each small one has 5 bytes
  EXPECT_EQ(drain(plan, 0), (std::vector<std::uint32_t>{0, 1}));
  plan.done(0);
  EXPECT_FALSE(plan.next(0)) << "the large one waits until it is alone";
  plan.done(1);
  EXPECT_EQ(drain(plan, 0), (std::vector<std::uint32_t>{2}));
  plan.done(2);
  EXPECT_EQ(drain(plan, 0), (std::vector<std::uint32_t>{3}));
  plan.done(3);
  EXPECT_EQ(plan.unfinished(), 0u);
}

TEST(BatchPlan, WhatHasNotStartedCanBeGivenUp) {
  const auto topology = engines(1);
  const auto keys = numbered(5);
  BatchPlan plan(*topology, views(keys), {2, 1u << 20, 0});
  EXPECT_EQ(drain(plan, 0).size(), 2u);
  std::vector<std::uint32_t> dropped;
  while (const auto index = plan.give_up(0)) dropped.push_back(*index);
  EXPECT_EQ(dropped, (std::vector<std::uint32_t>{2, 3, 4}));
  EXPECT_EQ(plan.unfinished(), 2u);
  plan.done(1);
  EXPECT_FALSE(plan.next(0));
  plan.done(0);
  EXPECT_EQ(plan.unfinished(), 0u);
}

TEST(BatchPlan, TheSeedOfTheHashChangesNothingButTheHash) {
  const auto topology = engines(4);
  auto keys = numbered(500);
  for (int i = 0; i < 500; i += 3) keys.push_back("key-" + std::to_string(i));
  BatchPlan plain(*topology, views(keys), wide);
  BatchPlan seeded(*topology, views(keys), {wide.window, wide.bytes, 0x1234'5678'9ABC'DEF0});
  ASSERT_EQ(plain.size(), 500u);
  ASSERT_EQ(seeded.size(), 500u);
  for (std::uint32_t i = 0; i < 500; ++i) EXPECT_EQ(plain.item(i).key, seeded.item(i).key);
}

// A thousand random runs: in any order of ends, every index starts and ends once and no bound is
// exceeded.
TEST(BatchPlan, KeepsItsBoundsInAnyOrderOfEnds) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    Random random(seed);
    const auto node_count = static_cast<unsigned>(1 + random.below(5));
    const auto topology = engines(node_count);
    std::vector<std::string> keys;
    for (std::uint64_t i = random.below(60); i > 0; --i) {
      keys.push_back(std::string(1 + random.below(3), static_cast<char>('a' + random.below(9))));
    }
    const BatchLimits limits{static_cast<std::uint32_t>(1 + random.below(4)), 1 + random.below(8),
                             random.u64()};
    BatchPlan plan(*topology, views(keys), limits);
    ASSERT_EQ(plan.size(), std::set<std::string>(keys.begin(), keys.end()).size());
    std::vector<std::uint32_t> flying;
    std::set<std::uint32_t> started;
    while (plan.unfinished() > 0) {
      for (std::uint32_t node = 0; node < node_count; ++node) {
        for (const std::uint32_t index : drain(plan, node)) {
          flying.push_back(index);
          ASSERT_TRUE(started.insert(index).second);
        }
        std::size_t bytes = 0;
        std::size_t count = 0;
        for (const std::uint32_t index : flying) {
          if (plan.item(index).node != node) continue;
          bytes += plan.item(index).key.size();
          ++count;
        }
        ASSERT_EQ(plan.in_flight(node), count);
        ASSERT_LE(count, limits.window);
        ASSERT_TRUE(bytes <= limits.bytes || count == 1);
      }
      ASSERT_FALSE(flying.empty()) << "no progress, seed " << seed;
      const std::size_t victim = random.below(flying.size());
      plan.done(flying[victim]);
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    ASSERT_EQ(started.size(), plan.size());
  }
}

}  // namespace
}  // namespace sheaf::cluster
