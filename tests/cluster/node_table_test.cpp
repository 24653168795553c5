#include "cluster/placement/node_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"

namespace sheaf::cluster {
namespace {

TEST(NodeTable, AServerKeepsItsIndexWhileSomebodyHoldsItsEntry) {
  NodeTable table;
  const auto a = table.entry("a:1");
  const auto b = table.entry("b:1");
  EXPECT_EQ(a->index, 0u);
  EXPECT_EQ(b->index, 1u);
  EXPECT_EQ(table.entry("a:1"), a);
  EXPECT_EQ(a->identity, "a:1");
}

TEST(NodeTable, AnIndexIsFreeOnceTheLastHolderHasGoneAndTheLowestIsTaken) {
  NodeTable table;
  auto a = table.entry("a:1");
  auto b = table.entry("b:1");
  auto c = table.entry("c:1");
  const auto again = a;
  a.reset();
  b.reset();
  EXPECT_EQ(table.entry("d:1")->index, 1u) << "somebody still has the entry of a";
  c.reset();
  const auto e = table.entry("e:1");
  const auto f = table.entry("f:1");
  EXPECT_EQ(e->index, 1u);
  EXPECT_EQ(f->index, 2u);
}

TEST(NodeTable, EntriesOutliveTheTable) {
  std::shared_ptr<const NodeEntry> entry;
  {
    NodeTable table;
    entry = table.entry("a:1");
  }
  EXPECT_EQ(entry->index, 0u);
  EXPECT_EQ(entry->identity, "a:1");
}

TEST(NodeTable, NoTwoServersShareAnIndexAndIndicesStayLowHoweverManyComeAndGo) {
  NodeTable table;
  Random random(Random(3).fork());
  std::deque<std::shared_ptr<const NodeEntry>> held;
  for (int i = 0; i < 20'000; ++i) {
    held.push_back(table.entry("host" + std::to_string(random.below(500)) + ":1"));
    if (held.size() > 40) held.pop_front();
    if (random.below(50) == 0) std::ranges::shuffle(held, std::mt19937(7));
    std::set<std::string> names;
    std::set<std::uint32_t> indices;
    for (const auto& entry : held) {
      names.insert(entry->identity);
      indices.insert(entry->index);
      ASSERT_LE(entry->index, 41u);
    }
    ASSERT_EQ(names.size(), indices.size());
  }
}

TEST(NodeTable, ThreadsThatTakeAndDropEntriesNeverShareAnIndex) {
  NodeTable table;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&table, t] {
      const auto own = table.entry("own" + std::to_string(t));
      for (int i = 0; i < 5'000; ++i) {
        const auto shared = table.entry("shared" + std::to_string(i % 3));
        EXPECT_NE(shared->index, own->index);
        EXPECT_EQ(shared->identity, "shared" + std::to_string(i % 3));
        EXPECT_LT(shared->index, 16u);
      }
    });
  }
}

}  // namespace
}  // namespace sheaf::cluster
