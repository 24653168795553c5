#include "cluster/placement/assigned_slots.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster/placement/batch_plan.h"
#include "cluster/placement/node_table.h"
#include "cluster/placement/topology.h"

namespace sheaf::cluster {
namespace {

// Not the hash of a real cluster: the number in the key.
std::uint16_t slot_of(std::string_view key) noexcept {
  return static_cast<std::uint16_t>(std::stoul(std::string(key)) % AssignedSlots::slot_count);
}

// Servers 0 and 1 have alternate slots; the first ten have no owner.
std::vector<std::uint16_t> owners() {
  std::vector<std::uint16_t> owners(AssignedSlots::slot_count);
  for (std::size_t slot = 0; slot < owners.size(); ++slot) {
    owners[slot] = slot < 10 ? AssignedSlots::unassigned : static_cast<std::uint16_t>(slot % 2);
  }
  return owners;
}

std::shared_ptr<const Topology> topology(NodeTable& table) {
  const std::vector<NodeConfig> servers = {{"a", 1, 1}, {"b", 1, 1}};
  return Topology::make({servers}, std::make_unique<AssignedSlots>(owners(), slot_of), table, 1);
}

TEST(AssignedSlots, AKeyBelongsToTheServerOfItsSlot) {
  const AssignedSlots slots(owners(), slot_of);
  EXPECT_EQ(slots.locate("10"), (Location{0, 10}));
  EXPECT_EQ(slots.locate("11"), (Location{1, 11}));
  EXPECT_EQ(slots.locate("16383"), (Location{1, 16'383}));
  EXPECT_EQ(slots.locate("3"), (Location{nobody, 3}));
  EXPECT_NEAR(slots.share(0), 0.5, 0.001);
}

TEST(AssignedSlots, ATopologyNamesTheNodesByTheirIndices) {
  NodeTable table;
  const auto first = table.entry("z:1");
  const auto snapshot = topology(table);
  EXPECT_EQ(snapshot->owner("10"), 1u);
  EXPECT_EQ(snapshot->owner("11"), 2u);
  EXPECT_EQ(snapshot->owner("3"), nobody);
  EXPECT_EQ(snapshot->locate("3"), (Location{nobody, 3}));
  const std::vector<std::string_view> keys = {"3", "10", "11"};
  std::vector<std::uint32_t> nodes(3);
  snapshot->owners(keys, nodes);
  EXPECT_EQ(nodes, (std::vector<std::uint32_t>{nobody, 1, 2}));
}

TEST(AssignedSlots, OneServerThatOwnsAllIsAskedForAllWithoutAHash) {
  NodeTable table;
  const std::vector<NodeConfig> servers = {{"a", 1, 1}};
  const auto never_called = [](std::string_view) noexcept -> std::uint16_t { std::abort(); };
  std::vector<std::uint16_t> all(AssignedSlots::slot_count);
  EXPECT_EQ(Topology::make({servers}, std::make_unique<AssignedSlots>(all, never_called), table, 1)
                ->owner("x"),
            0u);
  all[5] = AssignedSlots::unassigned;
  EXPECT_EQ(Topology::make({servers}, std::make_unique<AssignedSlots>(all, slot_of), table, 2)
                ->owner("5"),
            nobody);
}

TEST(AssignedSlots, ACopyHasOtherOwnersOfSomeSlots) {
  const AssignedSlots slots(owners(), slot_of);
  const std::vector<SlotChange> changes = {{3, 1}, {10, 1}, {16'383, 2}};
  const auto copy = slots.changed(changes);
  EXPECT_EQ(copy->locate("3").node, 1u);
  EXPECT_EQ(copy->locate("10").node, 1u);
  EXPECT_EQ(copy->locate("16383").node, 2u);
  EXPECT_EQ(copy->locate("11").node, 1u);
  EXPECT_EQ(copy->locate("4").node, nobody);
  EXPECT_EQ(slots.locate("10").node, 0u) << "the first one is as it was";
}

TEST(AssignedSlots, ATopologyGetsAnotherInWhichSlotsHaveMovedAndServersJoined) {
  NodeTable table;
  const auto before = topology(table);
  const std::vector<NodeConfig> joining = {{"c", 7, 1}};
  const std::vector<SlotMove> moving = {{10, "c:7"}, {11, "a:1"}};
  const auto after = before->changed({joining}, moving, table, 5);
  EXPECT_EQ(after->epoch(), 5u);
  ASSERT_EQ(after->members().size(), 3u);
  EXPECT_EQ(after->owner_of_slot(10), "c:7");
  EXPECT_EQ(after->owner_of_slot(11), "a:1");
  EXPECT_EQ(after->owner_of_slot(12), "a:1");
  EXPECT_EQ(after->owner_of_slot(3), "");
  EXPECT_EQ(after->owner("10"), after->find("c:7")->index());
  EXPECT_EQ(after->find("b:1")->index(), before->find("b:1")->index());
  EXPECT_EQ(before->find("c:7"), nullptr);
  EXPECT_EQ(before->owner_of_slot(10), "a:1");
}

TEST(AssignedSlots, OnlySlotsThatWereAssignedGetOtherOwners) {
  NodeTable table;
  EXPECT_TRUE(topology(table)->assigned());
  ClusterConfig config;
  config.nodes = {{"a", 1, 1}};
  EXPECT_FALSE(Topology::make(config)->assigned());
}

TEST(AssignedSlots, ABatchPlansTheKeysOfNobodyTogether) {
  NodeTable table;
  const std::vector<std::string_view> keys = {"3", "10", "4", "11", "12"};
  BatchPlan plan(*topology(table), keys, {.window = 8, .bytes = 1'000});
  EXPECT_EQ(std::vector(plan.nodes().begin(), plan.nodes().end()),
            (std::vector<std::uint32_t>{0, 1, nobody}));
  const auto run = plan.next_run(nobody, 8);
  ASSERT_EQ(run.count, 2u);
  EXPECT_EQ(plan.item(plan.at(run.first)).key, "3");
  EXPECT_EQ(plan.item(plan.at(run.first + 1)).key, "4");
  EXPECT_EQ(plan.in_flight(nobody), 2u);
  plan.done(plan.at(run.first));
  plan.done(plan.at(run.first + 1));
  EXPECT_EQ(plan.unfinished(), 3u);
  EXPECT_EQ(plan.in_flight(nobody), 0u);
}

}  // namespace
}  // namespace sheaf::cluster
