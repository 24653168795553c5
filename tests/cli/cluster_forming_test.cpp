// The commands that make servers a cluster, depending on what the servers report.

#include "cli/dev/cluster_forming.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sheaf::cli {
namespace {

using protocol::resp::Role;
using protocol::resp::TopologyNode;
using protocol::resp::TopologyView;

constexpr std::size_t three_servers = 3;  // two primaries, and a replica of the first

ClusterPlan plan() {
  return {.servers = {{7001, 17001}, {7002, 7002}, {7003, 17003}}, .primaries = 2};
}

// The report of server `index` when it knows `known`, with their roles if `formed`.
TopologyView says(std::size_t index, const std::vector<std::size_t>& known, bool prepared = true,
                  bool formed = false) {
  TopologyView view;
  view.has_epochs = true;
  for (const std::size_t i : known) {
    TopologyNode node;
    node.id = std::string(1, static_cast<char>('a' + i));
    node.epoch = prepared ? i + 1 : 0;
    node.answering = i == index;
    if (formed && i == 2) {
      node.role = Role::replica;
      node.primary = "a";
    }
    if (prepared && i < 2) {
      const auto [first, last] = plan().slots(i);
      view.claims.push_back({static_cast<std::uint32_t>(view.nodes.size()), first, last});
    }
    view.nodes.push_back(node);
  }
  return view;
}

std::vector<std::string> steps(const std::vector<TopologyView>& views) {
  std::vector<std::string> all;
  for (const FormingStep& step : forming_steps(plan(), views)) {
    std::string line = std::to_string(step.server);
    for (const std::string& word : step.command) line += " " + word;
    all.push_back(line);
  }
  return all;
}

using Lines = std::vector<std::string>;

TEST(ClusterForming, ServersThatAreAloneGetEpochsAndSlots) {
  EXPECT_EQ(steps({says(0, {0}, false), says(1, {1}, false), says(2, {2}, false)}),
            (Lines{"0 CLUSTER SET-CONFIG-EPOCH 1", "0 CLUSTER ADDSLOTSRANGE 0 8191",
                   "1 CLUSTER SET-CONFIG-EPOCH 2", "1 CLUSTER ADDSLOTSRANGE 8192 16383",
                   "2 CLUSTER SET-CONFIG-EPOCH 3"}));
}

TEST(ClusterForming, NobodyIsIntroducedBeforeAllArePrepared) {
  EXPECT_EQ(steps({says(0, {0}), says(1, {1}, false), says(2, {2})}),
            (Lines{"1 CLUSTER SET-CONFIG-EPOCH 2", "1 CLUSTER ADDSLOTSRANGE 8192 16383"}));
}

TEST(ClusterForming, EveryServerMeetsThoseItDoesNotKnow) {
  EXPECT_EQ(steps({says(0, {0, 1}), says(1, {0, 1, 2}), says(2, {2, 1})}),
            (Lines{"0 CLUSTER MEET 127.0.0.1 7003 17003", "2 CLUSTER MEET 127.0.0.1 7001 17001"}));
  EXPECT_EQ(steps({says(0, {0, 2}), says(1, {0, 1, 2}), says(2, {0, 1, 2})}),
            (Lines{"0 CLUSTER MEET 127.0.0.1 7002"}))
      << "one port for both";
}

TEST(ClusterForming, AReplicaIsMadeOnceAllKnowAll) {
  const std::vector<TopologyView> views = {says(0, {0, 1, 2}), says(1, {0, 1, 2}),
                                           says(2, {0, 1, 2})};
  EXPECT_EQ(steps(views), (Lines{"2 CLUSTER REPLICATE a"}));
  EXPECT_FALSE(follows(plan(), views));
}

TEST(ClusterForming, ItIsFormedWhenEveryViewSaysSo) {
  std::vector<TopologyView> views;
  for (std::size_t i = 0; i < three_servers; ++i) views.push_back(says(i, {0, 1, 2}, true, true));
  EXPECT_TRUE(follows(plan(), views));
  EXPECT_EQ(steps(views), Lines{});
  views[1].claims.pop_back();
  EXPECT_FALSE(follows(plan(), views)) << "slots are missing";
  views[1] = says(1, {0, 1, 2}, true, false);
  EXPECT_FALSE(follows(plan(), views)) << "it has not heard of the replica";
  EXPECT_EQ(steps(views), Lines{}) << "but it will";
}

TEST(ClusterForming, PrimariesShareAllSlots) {
  for (std::size_t primaries = 1; primaries < 65; ++primaries) {
    const ClusterPlan many{.servers = {}, .primaries = primaries};
    EXPECT_EQ(many.slots(0).first, 0);
    for (std::size_t i = 1; i < primaries; ++i) {
      EXPECT_EQ(many.slots(i).first, many.slots(i - 1).second + 1);
    }
    EXPECT_EQ(many.slots(primaries - 1).second, 16'383);
  }
}

}  // namespace
}  // namespace sheaf::cli
