#include "cluster/topology.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace sheaf::cluster {
namespace {

ClusterConfig config_of(std::string_view uri) {
  auto config = ClusterConfig::parse_uri(uri);
  EXPECT_TRUE(config.has_value()) << config.error().message();
  return *config;
}

TEST(Topology, EntryZeroOfTheWorkersIsNobody) {
  const auto topology = Topology::make(config_of("mqtt://b1*3,b2"), 7);
  EXPECT_EQ(topology->epoch(), 7u);
  ASSERT_EQ(topology->workers().size(), 3u);
  EXPECT_TRUE(topology->workers()[0].identity.empty());
  EXPECT_EQ(topology->workers()[1].identity, "b1:1883");
  EXPECT_EQ(topology->workers()[1].weight, 3u);
  EXPECT_EQ(topology->workers()[2].identity, "b2:1883");
  EXPECT_EQ(topology->workers()[2].epoch, 7u);
  EXPECT_EQ(topology->identity(1), "b2:1883");
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
