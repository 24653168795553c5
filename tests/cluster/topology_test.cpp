#include "cluster/placement/topology.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "cluster/placement/node_table.h"

namespace sheaf::cluster {
namespace {

ClusterConfig config_of(std::string_view uri) {
  auto config = ClusterConfig::parse_uri(uri);
  EXPECT_TRUE(config.has_value()) << config.error().message();
  return *config;
}

TEST(Topology, NamesItsServersInTheOrderOfTheConfiguration) {
  const auto topology = Topology::make(config_of("mqtt://b1*3,b2"), 7);
  EXPECT_EQ(topology->epoch(), 7u);
  ASSERT_EQ(topology->members().size(), 2u);
  EXPECT_EQ(topology->members()[0].identity(), "b1:1883");
  EXPECT_EQ(topology->members()[0].host, "b1");
  EXPECT_EQ(topology->members()[0].port, 1883);
  EXPECT_EQ(topology->members()[0].weight, 3u);
  EXPECT_EQ(topology->members()[1].identity(), "b2:1883");
  EXPECT_EQ(topology->identity(1), "b2:1883");
  EXPECT_EQ(topology->member(1), &topology->members()[1]);
  EXPECT_EQ(topology->member(2), nullptr);
  EXPECT_EQ(topology->member(nobody), nullptr);
}

TEST(Topology, SlotsNameTheWorkerThatLocateFinds) {
  const auto topology = Topology::make(config_of("embedded://5?slots=1024"));
  ASSERT_EQ(topology->slots().size(), 1'024u);
  for (const std::uint16_t worker : topology->slots()) {
    ASSERT_GE(worker, 1);
    ASSERT_LE(worker, 5);
  }
  for (int i = 0; i < 1'000; ++i) {
    const Location found = topology->locate("key-" + std::to_string(i));
    EXPECT_EQ(topology->slots()[found.point], found.node + 1);
  }
}

TEST(Topology, HasNoSlotsOnARing) {
  const auto topology = Topology::make(config_of("embedded://5?locator=ring"));
  EXPECT_TRUE(topology->slots().empty());
  EXPECT_LT(topology->locate("key").node, 5u);
}

TEST(Topology, TwoSnapshotsOfOneConfigurationAgree) {
  const auto first = Topology::make(config_of("mqtt://b1*2,b2,b3"));
  const auto second = Topology::make(config_of("mqtt://b3,b1*2,b2"), 2);
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = "key-" + std::to_string(i);
    EXPECT_EQ(first->identity(first->locate(key).node), second->identity(second->locate(key).node));
  }
}

TEST(Topology, AServerKeepsItsIndexFromSnapshotToSnapshot) {
  NodeTable table;
  const auto first = Topology::make(config_of("mqtt://b1,b2,b3"), table, 1);
  const auto second = Topology::make(config_of("mqtt://b4,b3,b1"), table, 2);
  EXPECT_EQ(second->members()[0].index(), 3u);
  EXPECT_EQ(second->members()[1].index(), 2u);
  EXPECT_EQ(second->members()[2].index(), 0u);
  EXPECT_EQ(second->index_limit(), 4u);
  EXPECT_EQ(second->member(1), nullptr);
  EXPECT_EQ(second->identity(2), "b3:1883");
  const auto plain = Topology::make(config_of("mqtt://b4,b3,b1"));
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = "key-" + std::to_string(i);
    ASSERT_EQ(second->identity(second->owner(key)), plain->identity(plain->owner(key)));
    ASSERT_EQ(second->locate(key).node, second->owner(key));
  }
}

TEST(Topology, AStandInIsNamedByItsIndexToo) {
  NodeTable table;
  const auto reserved = table.entry("other:1");
  const auto topology = Topology::make(config_of("memcached://a,b,c"), table, 1);
  struct AllBut final : NodeFilter {
    explicit AllBut(std::uint32_t which) : node(which) {}
    bool takes(std::uint32_t which) const noexcept override {
      EXPECT_GE(which, 1u);
      EXPECT_LE(which, 3u);
      return which != node;
    }
    std::uint32_t node;
  };
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key-" + std::to_string(i);
    const std::uint32_t owner = topology->owner(key);
    const std::uint32_t stand_in = topology->stand_in(key, AllBut(owner));
    EXPECT_NE(stand_in, owner);
    EXPECT_NE(topology->member(stand_in), nullptr);
  }
}

TEST(Topology, ASnapshotIsReadByManyThreadsAndOutlivesItsMaker) {
  auto topology = Topology::make(config_of("embedded://8"));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([own = topology, t] {
      for (int i = 0; i < 1'000; ++i) {
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        EXPECT_EQ(own->locate(key), own->locate(key));
      }
    });
  }
  topology.reset();
}

}  // namespace
}  // namespace sheaf::cluster
