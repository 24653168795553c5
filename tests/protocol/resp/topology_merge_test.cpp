#include "protocol/resp/cluster/topology_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace sheaf::protocol::resp {
namespace {

struct Line {
  std::string id;
  std::uint64_t epoch = 0;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> slots{};
  Role role = Role::primary;
  std::uint16_t port = 0;  // 0: derived from the id
};

std::uint16_t port_of(const std::string& id) {
  return static_cast<std::uint16_t>(7000 + static_cast<unsigned char>(id[0]));
}

// The report of the server `answering`; if that is empty, no line is the server's own.
TopologyView view(const std::string& answering, const std::vector<Line>& lines,
                  std::uint64_t asked = 1) {
  TopologyView view;
  view.has_epochs = true;
  view.asked = asked;
  for (const Line& line : lines) {
    TopologyNode node;
    node.id = line.id;
    node.host = "10.0.0.1";
    node.port = line.port != 0 ? line.port : port_of(line.id);
    node.role = line.role;
    node.epoch = line.epoch;
    node.answering = line.id == answering;
    for (const auto& [first, last] : line.slots) {
      view.claims.push_back({static_cast<std::uint32_t>(view.nodes.size()), first, last});
    }
    view.nodes.push_back(node);
  }
  return view;
}

std::string owner(const SlotMap& map, std::uint16_t slot) {
  const std::uint16_t index = map.owner(slot);
  if (index == SlotMap::nobody) return "nobody";
  const TopologyNode& node = map.nodes()[index];
  return node.id.empty() ? node.host + ":" + std::to_string(node.port) : node.id;
}

std::string owner(const std::vector<TopologyView>& views, std::uint16_t slot = 5) {
  return owner(SlotMap::merge(views, {}), slot);
}

// Everything in the map, as text.
std::string text(const SlotMap& map) {
  std::string out = std::to_string(map.asked());
  for (const TopologyNode& node : map.nodes()) {
    out += "|" + node.id + " " + node.host + ":" + std::to_string(node.port) + " " +
           std::to_string(static_cast<int>(node.role)) + " " + std::to_string(node.epoch) +
           (node.answering ? "!" : "") + node.primary;
  }
  for (std::uint16_t slot = 0; slot < 32; ++slot) out += " " + owner(map, slot);
  return out;
}

// ---- who owns a slot

TEST(TopologyMerge, NothingSaidLeavesThePreviousMap) {
  const SlotMap map = SlotMap::merge(std::vector{view("a", {{"a", 1, {{0, 16383}}}})}, {});
  EXPECT_EQ(owner(map, 16383), "a");
  EXPECT_EQ(text(SlotMap::merge({}, map)), text(map));
  EXPECT_EQ(owner(SlotMap(), 0), "nobody");
}

TEST(TopologyMerge, TheHigherEpochWins) {
  EXPECT_EQ(
      owner({view("a", {{"a", 1, {{0, 9}}}, {"b", 2}}), view("b", {{"a", 1}, {"b", 2, {{5, 5}}}})}),
      "b");
  EXPECT_EQ(owner({view("x", {{"a", 1, {{0, 9}}}, {"x", 3}}),
                   view("y", {{"a", 1}, {"b", 2, {{5, 5}}}, {"y", 3}})}),
            "b")
      << "nobody speaks for itself";
}

TEST(TopologyMerge, AMajorityOfOldViewsLoses) {
  std::vector<TopologyView> views;
  for (const std::string id : {"c", "d", "e", "f", "g"}) {
    views.push_back(view(id, {{"a", 1, {{0, 9}}}, {"b", 2}, {id, 3}}));
  }
  views.push_back(view("b", {{"a", 1, {{0, 4}, {6, 9}}}, {"b", 8, {{5, 5}}}}));
  EXPECT_EQ(owner(views), "b");
  EXPECT_EQ(owner(views, 6), "a");
}

TEST(TopologyMerge, ASelfClaimBeatsOthersOfTheSameEpochAndNoHigherOne) {
  const TopologyView self = view("b", {{"b", 4, {{5, 5}}}, {"a", 1}});
  EXPECT_EQ(owner({self, view("x", {{"a", 4, {{5, 5}}}, {"x", 9}})}), "b");
  EXPECT_EQ(owner({self, view("x", {{"a", 3, {{5, 5}}}, {"x", 9}})}), "b");
  EXPECT_EQ(owner({self, view("x", {{"a", 5, {{5, 5}}}, {"x", 9}})}), "a");
}

TEST(TopologyMerge, ANodeKnowsBestWhatItDoesNotHave) {
  // The source of a migration keeps its epoch. Other servers have not heard of the migration yet.
  EXPECT_EQ(owner({view("a", {{"a", 3, {{0, 4}}}, {"b", 1}}),
                   view("c", {{"a", 3, {{0, 9}}}, {"b", 1}, {"c", 2}})}),
            "nobody");
  EXPECT_EQ(owner({view("a", {{"a", 3, {{0, 4}}}}), view("c", {{"a", 4, {{0, 9}}}})}), "a")
      << "they have heard of something later";
}

TEST(TopologyMerge, EqualStatementsOfOthersArePutTogether) {
  for (const std::uint64_t asked : {1u, 2u}) {
    const std::vector<TopologyView> views = {view("", {{"a", 3, {{0, 4}}}}, 1),
                                             view("", {{"a", 3, {{5, 9}}}}, asked)};
    EXPECT_EQ(owner(views, 4), "a");
    EXPECT_EQ(owner(views, 5), "a");
  }
}

TEST(TopologyMerge, OfEqualSelfClaimsTheSmallerIdWins) {
  EXPECT_EQ(owner({view("b", {{"b", 1, {{5, 5}}}}), view("a", {{"a", 1, {{5, 5}}}})}), "a");
}

TEST(TopologyMerge, EpochZeroCountsLowest) {
  EXPECT_EQ(owner({view("a", {{"a", 0, {{5, 5}}}}), view("x", {{"b", 1, {{5, 5}}}})}), "b");
}

TEST(TopologyMerge, AReplicaClaimsNothing) {
  // After a failed failover of Garnet, the old primary lists its slots as the replica's.
  EXPECT_EQ(owner({view("a", {{"a", 4}, {"b", 8, {{0, 16383}}, Role::replica}})}), "nobody");
  // A replica's epoch is often higher than its primary's, and an older line still calls it a
  // primary.
  EXPECT_EQ(owner({view("b", {{"b", 7, {}, Role::replica}, {"a", 2, {{5, 5}}}}),
                   view("c", {{"b", 1, {{5, 5}}}, {"c", 3}})}),
            "a");
}

TEST(TopologyMerge, ANodeThatSomebodyKnowsAsAReplicaClaimsNothing) {
  EXPECT_EQ(owner({view("", {{"a", 3, {{5, 5}}}}), view("", {{"a", 3, {}, Role::replica}})}),
            "nobody");
}

TEST(TopologyMerge, ANodeThatWasAskedTwiceHasSaidTheLater) {
  EXPECT_EQ(owner({view("a", {{"a", 3, {{5, 5}}}}, 1), view("a", {{"a", 3, {{6, 6}}}}, 2)}),
            "nobody");
}

TEST(TopologyMerge, AnAddressComesFromWhoeverHasOne) {
  TopologyView unknown = view("c", {{"a", 9}});
  unknown.nodes[0].host.clear();
  unknown.nodes[0].port = 0;
  const SlotMap map =
      SlotMap::merge(std::vector{unknown, view("d", {{"a", 3, {}, Role::primary, 7777}})}, {});
  EXPECT_EQ(map.nodes()[0].epoch, 9u);
  EXPECT_EQ(map.nodes()[0].port, 7777);
}

TEST(TopologyMerge, WithoutEpochsANodeKnowsItsOwnAndTheLaterViewWins) {
  TopologyView old_view = view("", {{"a", 0, {{0, 9}}}, {"b", 0}}, 1);
  TopologyView new_view = view("", {{"a", 0}, {"b", 0, {{0, 9}}}}, 2);
  old_view.has_epochs = new_view.has_epochs = false;
  EXPECT_EQ(owner({old_view, new_view}), "b");
  TopologyView own = view("a", {{"a", 0, {{0, 9}}}, {"b", 0}}, 1);
  own.has_epochs = false;
  EXPECT_EQ(owner({own, new_view}), "a");
}

// ---- the previous map

TEST(TopologyMerge, NoEpochGoesBack) {
  const SlotMap before = SlotMap::merge(std::vector{view("b", {{"a", 1}, {"b", 8, {{0, 9}}}})}, {});
  const std::vector<TopologyView> late = {view("c", {{"a", 1, {{0, 9}}}, {"b", 2}, {"c", 3}}, 2)};
  const SlotMap after = SlotMap::merge(late, before);
  EXPECT_EQ(owner(after, 5), "b");
  EXPECT_EQ(owner(SlotMap::merge(late, after), 5), "b") << "and again";
}

// b has lost slot 5 and got a higher epoch for something else. Both arrive before any report of c.
TEST(TopologyMerge, AnEpochIsThatOfTheClaimAndNotOfTheNode) {
  SlotMap map = SlotMap::merge(std::vector{view("b", {{"b", 8, {{0, 9}}}, {"c", 3}})}, {});
  map = SlotMap::merge(
      std::vector{view("a", {{"a", 1, {{5, 5}}}, {"b", 12, {{0, 4}}}, {"c", 3}}, 2)}, map);
  EXPECT_EQ(owner(map, 5), "b") << "a is out of date, and b will say where to go";
  EXPECT_EQ(map.claim_epoch(5), 8u);
  EXPECT_EQ(map.claim_epoch(4), 12u);
  EXPECT_EQ(map.claim_epoch(10), 0u);
  map = SlotMap::merge(
      std::vector{view("c", {{"a", 1}, {"b", 12, {{0, 4}}}, {"c", 10, {{5, 9}}}}, 3)}, map);
  EXPECT_EQ(owner(map, 5), "c");
}

// A seed that was removed from the cluster and reset still answers.
TEST(TopologyMerge, AServerOutsideTheClusterTakesNothingAway) {
  const SlotMap before = SlotMap::merge(std::vector{view("b", {{"b", 8, {{0, 9}}}})}, {});
  const SlotMap after = SlotMap::merge(std::vector{view("z", {{"z", 0}}, 2)}, before);
  EXPECT_EQ(text(after), text(before));
  EXPECT_EQ(SlotMap::merge(std::vector{view("z", {{"z", 0}})}, {}).nodes().size(), 1u);
}

TEST(TopologyMerge, ASlotThatNobodyClaimsStaysWhereItWas) {
  const SlotMap before = SlotMap::merge(std::vector{view("b", {{"b", 8, {{0, 9}}}})}, {});
  const SlotMap after =
      SlotMap::merge(std::vector{view("b", {{"b", 9, {{0, 4}}}, {"c", 3}}, 2)}, before);
  EXPECT_EQ(owner(after, 5), "b");
}

TEST(TopologyMerge, ANodeThatIsGoneFromEveryViewIsForgotten) {
  const SlotMap before = SlotMap::merge(std::vector{view("b", {{"a", 1}, {"b", 8, {{0, 9}}}})}, {});
  const SlotMap after =
      SlotMap::merge(std::vector{view("c", {{"a", 1, {{0, 4}}}, {"c", 3}}, 2)}, before);
  EXPECT_EQ(owner(after, 4), "a");
  EXPECT_EQ(owner(after, 5), "nobody");
  EXPECT_EQ(after.nodes().size(), 2u);
}

TEST(TopologyMerge, ANodeMaySpeakAgainstThePreviousMap) {
  const SlotMap before = SlotMap::merge(std::vector{view("b", {{"a", 1}, {"b", 8, {{0, 9}}}})}, {});
  EXPECT_EQ(
      owner(SlotMap::merge(std::vector{view("b", {{"a", 1, {{0, 9}}}, {"b", 2}}, 2)}, before), 5),
      "a")
      << "restored from a backup: all epochs are lower";
}

TEST(TopologyMerge, AServerThatMovedIsFoundThoughItsEpochIsOld) {
  const SlotMap before = SlotMap::merge(std::vector{view("b", {{"b", 8, {{0, 9}}}})}, {});
  const std::vector<TopologyView> others = {
      view("c", {{"b", 8, {{0, 9}}, Role::primary, 7777}, {"c", 3}}, 2)};
  const SlotMap after = SlotMap::merge(others, before);
  EXPECT_EQ(owner(after, 5), "b");
  EXPECT_EQ(after.nodes()[after.owner(5)].port, 7777);
}

TEST(TopologyMerge, ViewsWithoutEpochsReplaceTheMap) {
  const SlotMap before = SlotMap::merge(std::vector{view("b", {{"a", 1}, {"b", 8, {{0, 9}}}})}, {});
  TopologyView late = view("", {{"a", 0, {{0, 9}}}, {"b", 0}}, 2);
  late.has_epochs = false;
  EXPECT_EQ(owner(SlotMap::merge(std::vector{late}, before), 5), "a");
}

// ---- MOVED

TEST(TopologyMerge, AMovedOverridesItsSlotUntilLaterViews) {
  const std::vector<TopologyView> views = {view("a", {{"a", 1, {{0, 9}}}, {"b", 2}}, 10)};
  SlotMap map = SlotMap::merge(views, {});
  const SlotMove move{5, "10.0.0.1", port_of("b"), 11};
  EXPECT_TRUE(map.move(move));
  EXPECT_FALSE(map.move(move)) << "known";
  EXPECT_EQ(owner(map, 5), "b");
  EXPECT_EQ(owner(map, 6), "a");

  const SlotMap same = SlotMap::merge(views, map);
  EXPECT_EQ(owner(same, 5), "b") << "these views were asked for before it";
  std::vector<TopologyView> later = views;
  later[0].asked = 12;
  EXPECT_EQ(owner(SlotMap::merge(later, same), 5), "a");
}

TEST(TopologyMerge, OneViewThatIsOlderThanAMovedKeepsIt) {
  const std::vector<TopologyView> views = {view("a", {{"a", 1, {{0, 9}}}, {"b", 2}}, 10),
                                           view("b", {{"a", 1, {{0, 9}}}, {"b", 2}}, 12)};
  SlotMap map = SlotMap::merge(views, {});
  EXPECT_EQ(map.asked(), 10u);
  EXPECT_TRUE(map.move({5, "10.0.0.1", port_of("b"), 11}));
  EXPECT_EQ(owner(SlotMap::merge(views, map), 5), "b");
}

TEST(TopologyMerge, AMovedThatIsOlderThanTheMapIsIgnored) {
  SlotMap map = SlotMap::merge(std::vector{view("a", {{"a", 1, {{0, 9}}}, {"b", 2}}, 10)}, {});
  EXPECT_FALSE(map.move({5, "10.0.0.1", port_of("b"), 10}));
  EXPECT_EQ(owner(map, 5), "a");
}

TEST(TopologyMerge, TheLaterOfTwoMovedWins) {
  for (const bool swapped : {false, true}) {
    SlotMap map =
        SlotMap::merge(std::vector{view("a", {{"a", 1, {{0, 9}}}, {"b", 2}, {"c", 3}})}, {});
    const SlotMove first{5, "10.0.0.1", port_of("b"), 2};
    const SlotMove second{5, "10.0.0.1", port_of("c"), 3};
    map.move(swapped ? second : first);
    map.move(swapped ? first : second);
    EXPECT_EQ(owner(map, 5), "c");
    const SlotMap after = SlotMap::merge(std::vector{view("a", {{"a", 1, {{0, 9}}}}, 9)}, map);
    EXPECT_EQ(owner(after, 5), "a") << "who owned it before any MOVED";
  }
}

TEST(TopologyMerge, AMovedMayNameANodeThatNobodyKnows) {
  SlotMap map = SlotMap::merge(std::vector{view("a", {{"a", 1, {{0, 9}}}})}, {});
  EXPECT_TRUE(map.move({5, "new.example", 7001, 2}));
  EXPECT_TRUE(map.move({6, "new.example", 7001, 3}));
  EXPECT_EQ(owner(map, 5), "new.example:7001");
  EXPECT_EQ(map.nodes().size(), 2u);
  const SlotMap after = SlotMap::merge(std::vector{view("a", {{"a", 1, {{0, 9}}}}, 9)}, map);
  EXPECT_EQ(owner(after, 5), "a");
  EXPECT_EQ(after.nodes().size(), 1u) << "nobody needs it any more";
}

TEST(TopologyMerge, AMovedByHostNameFindsTheNode) {
  TopologyView named = view("a", {{"a", 1, {{0, 9}}}, {"b", 2}});
  named.nodes[1].hostname = "b.example";
  SlotMap map = SlotMap::merge(std::vector{named}, {});
  EXPECT_TRUE(map.move({5, "b.example", port_of("b"), 2}));
  EXPECT_EQ(owner(map, 5), "b");
}

// ---- properties

// A cluster that changes. Each server knows the others as they were at some moment.
class ModelCluster {
 public:
  ModelCluster(Random& random, std::size_t nodes) : random_(random) {
    for (std::size_t i = 0; i < nodes; ++i)
      ids_.push_back(std::string(1, static_cast<char>('a' + i)));
    for (std::uint16_t slot = 0; slot < slots; ++slot) owner_[slot] = slot % nodes;
    for (std::size_t i = 0; i < nodes; ++i) epoch_.push_back(i + 1);
    known_.assign(nodes, std::vector<Line>());
    for (std::size_t i = 0; i < nodes; ++i) {
      for (std::size_t j = 0; j < nodes; ++j) known_[i].push_back(line(j));
    }
  }

  // A slot moves to another node, which takes the highest epoch. No other node knows it yet.
  void change() {
    const std::size_t to = random_.below(ids_.size());
    owner_[random_.below(slots)] = to;
    epoch_[to] = 1 + *std::ranges::max_element(epoch_);
  }
  void gossip() {
    const std::size_t about = random_.below(ids_.size());
    known_[random_.below(ids_.size())][about] = line(about);
  }

  TopologyView ask(std::size_t node, std::uint64_t asked) {
    known_[node][node] = line(node);
    return view(ids_[node], known_[node], asked);
  }
  std::size_t size() const { return ids_.size(); }
  const std::string& true_owner(std::uint16_t slot) { return ids_[owner_[slot]]; }

  static constexpr std::uint16_t slots = 16;

 private:
  Line line(std::size_t node) {
    Line line{ids_[node], epoch_[node]};
    for (std::uint16_t slot = 0; slot < slots; ++slot) {
      if (owner_[slot] == node) line.slots.push_back({slot, slot});
    }
    return line;
  }

  Random& random_;
  std::vector<std::string> ids_;
  std::map<std::uint64_t, std::size_t> owner_;
  std::vector<std::uint64_t> epoch_;
  std::vector<std::vector<Line>> known_;
};

TEST(TopologyMergeProperty, AllNodesAskedGiveTheTruthWhateverTheyHaveHeard) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    ModelCluster cluster(random, 2 + random.below(8));
    SlotMap map;
    for (std::uint64_t round = 1; round <= 5; ++round) {
      for (std::uint64_t i = random.below(20); i > 0; --i) {
        random.below(3) == 0 ? cluster.change() : cluster.gossip();
      }
      std::vector<TopologyView> views;
      for (std::size_t i = 0; i < cluster.size(); ++i) views.push_back(cluster.ask(i, round));
      map = SlotMap::merge(views, map);
      for (std::uint16_t slot = 0; slot < ModelCluster::slots; ++slot) {
        ASSERT_EQ(owner(map, slot), cluster.true_owner(slot))
            << "seed " << seed << " slot " << slot;
      }
    }
  }
}

TEST(TopologyMergeProperty, TheOrderOfViewsDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    SlotMap previous;
    for (std::uint64_t round = 1; round <= 3; ++round) {
      std::vector<TopologyView> views;
      for (std::uint64_t count = 1 + random.below(5); count > 0; --count) {
        std::vector<Line> lines;
        for (char id = 'a'; id <= 'e'; ++id) {
          if (random.below(5) == 0) continue;
          Line line{std::string(1, id), random.below(4)};
          line.role = random.below(4) == 0 ? Role::replica : Role::primary;
          line.port = static_cast<std::uint16_t>(random.below(3));
          for (std::uint16_t slot = 0; slot < 16; ++slot) {
            if (random.below(3) == 0) line.slots.push_back({slot, slot});
          }
          lines.push_back(line);
        }
        views.push_back(view(std::string(1, static_cast<char>('a' + random.below(6))), lines,
                             10 * round + random.below(2)));
        views.back().has_epochs = random.below(8) != 0;
      }
      const SlotMap map = SlotMap::merge(views, previous);
      for (int i = 0; i < 4; ++i) {
        std::swap(views[random.below(views.size())], views[random.below(views.size())]);
        ASSERT_EQ(text(SlotMap::merge(views, previous)), text(map)) << "seed " << seed;
      }
      previous = map;
      previous.move({static_cast<std::uint16_t>(random.below(16)), "10.0.0.1", port_of("b"),
                     10 * round + random.below(12)});
    }
  }
}

// Whatever the views contain, a node that is not asked keeps what it had with a higher epoch.
TEST(TopologyMergeProperty, NoSlotGoesBackInEpochWhileItsOwnerIsKnown) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    ModelCluster cluster(random, 3 + random.below(6));
    SlotMap map;
    for (std::uint64_t round = 1; round <= 8; ++round) {
      for (std::uint64_t i = random.below(12); i > 0; --i) {
        random.below(3) == 0 ? cluster.change() : cluster.gossip();
      }
      std::vector<TopologyView> views;
      for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
        views.push_back(cluster.ask(random.below(cluster.size()), round));
      }
      const SlotMap next = SlotMap::merge(views, map);
      for (std::uint16_t slot = 0; slot < ModelCluster::slots; ++slot) {
        if (map.owner(slot) == SlotMap::nobody) continue;
        const TopologyNode& before = map.nodes()[map.owner(slot)];
        const bool spoke = std::ranges::any_of(views, [&](const TopologyView& view) {
          return std::ranges::any_of(view.nodes, [&](const TopologyNode& node) {
            return node.id == before.id && node.answering;
          });
        });
        if (spoke) continue;
        ASSERT_NE(next.owner(slot), SlotMap::nobody) << "seed " << seed;
        ASSERT_GE(next.claim_epoch(slot), map.claim_epoch(slot)) << "seed " << seed;
      }
      map = next;
    }
  }
}

}  // namespace
}  // namespace sheaf::protocol::resp
