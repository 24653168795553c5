// The table of slots, which is computed as it is used and taken over from one set of nodes to the
// next, against owners computed from the formula.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "cluster/placement/slot_locator.h"

namespace sheaf::cluster {
namespace {

constexpr std::uint32_t slot_count = 1'024;

std::vector<NodeConfig> fleet_of(unsigned count) {
  std::vector<NodeConfig> nodes;
  for (unsigned i = 0; i < count; ++i) nodes.push_back({"node-" + std::to_string(i), 11'211, 1});
  return nodes;
}

// The formula of docs/wire/locators.md, without a table.
std::uint32_t first_owner(const std::vector<NodeConfig>& nodes, std::uint32_t slot) {
  return SlotLocator(nodes, slot_count).owner_order(slot).front();
}

std::vector<std::string> owners_in(const ClientNodeLocator& locator,
                                   const std::vector<NodeConfig>& nodes) {
  std::vector<std::string> owners;
  for (const std::uint16_t worker : locator.slots()) owners.push_back(nodes[worker - 1].identity());
  return owners;
}

SlotLocator::Entries entries_of(const ClientNodeLocator& locator) {
  return dynamic_cast<const SlotLocator&>(locator).entries();
}

void use(const ClientNodeLocator& locator, Random& random, unsigned keys) {
  for (unsigned i = 0; i < keys; ++i) locator.locate(std::to_string(random.below(100'000)));
}

TEST(SlotTable, IsEmptyUntilAKeyIsLocated) {
  const SlotLocator locator(fleet_of(1'000), 65'536);
  EXPECT_EQ(locator.entries().unknown, 65'536u);
  const Location found = locator.locate("key");
  EXPECT_EQ(locator.locate("key"), found);
  EXPECT_EQ(locator.locate("{key}.other"), found);
  EXPECT_EQ(locator.entries().known, 1u);
  EXPECT_EQ(locator.entries().unknown, 65'535u);
}

TEST(SlotTable, ATopologyOfManyNodesComputesNoSlot) {
  ClusterConfig config;
  config.nodes = fleet_of(1'000);
  const auto locator = make_locator(config);
  EXPECT_EQ(entries_of(*locator).unknown, 65'536u);
}

TEST(SlotTable, OneNodeOwnsEverySlotAtOnce) {
  const SlotLocator locator(fleet_of(1), slot_count);
  EXPECT_EQ(locator.entries().known, slot_count);
  EXPECT_EQ(locator.locate("key").node, 0u);
}

TEST(SlotTable, ANodeThatLeavesCostsOnlyItsOwnSlots) {
  auto nodes = fleet_of(20);
  const SlotLocator locator(nodes, slot_count);
  const auto owned = static_cast<std::size_t>(std::ranges::count(locator.slots(), 8));
  ASSERT_GT(owned, 0u);
  nodes.erase(nodes.begin() + 7);
  const auto fewer = locator.for_nodes(nodes);
  EXPECT_EQ(entries_of(*fewer).unknown, owned);
  EXPECT_EQ(entries_of(*fewer).known, slot_count - owned);
  EXPECT_EQ(owners_in(*fewer, nodes), owners_in(SlotLocator(nodes, slot_count), nodes));
}

TEST(SlotTable, ANewcomerIsComparedWithTheOwnerOfASlotOnlyWhenTheSlotIsUsed) {
  auto nodes = fleet_of(20);
  const SlotLocator locator(nodes, slot_count);
  static_cast<void>(locator.slots());
  nodes.insert(nodes.begin(), {"newcomer", 11'211, 40});
  const auto more = locator.for_nodes(nodes);
  EXPECT_EQ(entries_of(*more).provisional, slot_count);
  more->locate("key");
  EXPECT_EQ(entries_of(*more).known, 1u);
  EXPECT_EQ(owners_in(*more, nodes), owners_in(SlotLocator(nodes, slot_count), nodes));
  EXPECT_EQ(entries_of(*more).known, slot_count);
}

TEST(SlotTable, NothingIsTakenOverIfManyNodesAreNew) {
  const SlotLocator locator(fleet_of(20), slot_count);
  static_cast<void>(locator.slots());
  const auto nodes = fleet_of(40);
  const auto more = locator.for_nodes(nodes);
  EXPECT_EQ(entries_of(*more).unknown, slot_count);
  EXPECT_EQ(owners_in(*more, nodes), owners_in(SlotLocator(nodes, slot_count), nodes));
}

// An entry has 4, 8 or 16 bits. Every number of bits is taken over into every other one.
TEST(SlotTable, OwnersAreTheSameWhateverTheNumberOfNodes) {
  Random random(5);
  for (const unsigned before : {1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u}) {
    for (const unsigned after : {1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u}) {
      const auto nodes = fleet_of(after);
      const SlotLocator locator(fleet_of(before), slot_count);
      use(locator, random, 1'000);
      const auto changed = locator.for_nodes(nodes);
      use(*changed, random, 1'000);
      ASSERT_EQ(owners_in(*changed, nodes), owners_in(SlotLocator(nodes, slot_count), nodes))
          << before << " nodes, then " << after;
    }
  }
}

// One random change of the nodes: some leave, join, return, get another weight or change places.
std::vector<NodeConfig> changed(std::vector<NodeConfig> nodes, Random& random, unsigned& made) {
  for (std::uint64_t steps = 1 + random.below(3); steps > 0; --steps) {
    const std::size_t at = random.below(nodes.size());
    switch (random.below(4)) {
      case 0:
        if (nodes.size() > 1) nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
      case 2:
        nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at),
                     {"joined-" + std::to_string(made++), 11'211,
                      static_cast<std::uint32_t>(1 + random.below(3))});
        break;
      default:
        nodes[at].weight = static_cast<std::uint32_t>(1 + random.below(3));
        std::swap(nodes[at], nodes[random.below(nodes.size())]);
    }
  }
  return nodes;
}

TEST(SlotTable, AfterAnyChangesEveryOwnerIsThatOfANewTable) {
  for (std::uint64_t run = 0; run < 30; ++run) {
    Random random(run);
    unsigned made = 0;
    std::vector<NodeConfig> nodes = fleet_of(1 + static_cast<unsigned>(random.below(40)));
    std::unique_ptr<const ClientNodeLocator> locator =
        std::make_unique<SlotLocator>(nodes, slot_count);
    for (int change = 0; change < 20; ++change) {
      use(*locator, random, static_cast<unsigned>(random.below(2'000)));
      nodes = changed(std::move(nodes), random, made);
      locator = locator->for_nodes(nodes);
      ASSERT_NE(locator, nullptr);
      const SlotLocator anew(nodes, slot_count);
      for (int i = 0; i < 100; ++i) {
        const std::string key = std::to_string(random.below(100'000));
        ASSERT_EQ(locator->locate(key), anew.locate(key)) << "run " << run << ", " << key;
        ASSERT_EQ(anew.locate(key).node, first_owner(nodes, anew.slot_of(key)));
      }
    }
    ASSERT_EQ(owners_in(*locator, nodes), owners_in(SlotLocator(nodes, slot_count), nodes))
        << "run " << run;
  }
}

TEST(SlotTable, ManyThreadsFindTheSameOwnersWhileTheTableFills) {
  auto nodes = fleet_of(50);
  const SlotLocator before(nodes, slot_count);
  nodes.push_back({"newcomer", 11'211, 2});
  const SlotLocator anew(nodes, slot_count);
  std::vector<std::thread> threads;
  const auto more = before.for_nodes(nodes);
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (unsigned i = 0; i < 2'000; ++i) {
        const std::string key = std::to_string(thread % 2 == 0 ? i : 2'000 - i);
        EXPECT_EQ(more->locate(key), anew.locate(key));
        if (i == 1'000 && thread > 1) {
          EXPECT_EQ(owners_in(*more, nodes), owners_in(anew, nodes));
        }
        if (i % 500 == 0) {
          EXPECT_NE(more->for_nodes(nodes), nullptr);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sheaf::cluster
