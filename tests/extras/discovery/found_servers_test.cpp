#include "extras/discovery/found_servers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"

namespace sheaf::discovery {
namespace {

using dns::SrvRecord;

std::string text(const FoundServers& found) {
  if (!found) return found.error();
  std::string text;
  for (const NodeConfig& server : *found) {
    text += (text.empty() ? "" : " ") + server.identity();
    if (server.weight != 1) text += '*' + std::to_string(server.weight);
  }
  return text;
}

TEST(FoundServers, OfRecordsAreThoseOfTheLowestPriority) {
  EXPECT_EQ(text(servers_of_records({{20, 1, 1, "spare"},
                                     {10, 3, 11'211, "c2"},
                                     {10, 1, 11'211, "c1"},
                                     {30, 1, 1, "other"}})),
            "c1:11211 c2:11211*3");
}

TEST(FoundServers, TheWeight0Is1) {
  EXPECT_EQ(text(servers_of_records({{0, 0, 1, "a"}, {0, 65'535, 1, "b"}})), "a:1 b:1*65535");
}

TEST(FoundServers, AreInOneOrderWhateverTheOrderOfTheList) {
  std::vector<SrvRecord> records{{1, 5, 2, "b"}, {1, 6, 1, "b"}, {1, 7, 1, "a"}, {1, 8, 1, "c"}};
  Random random(41);
  for (int round = 0; round < 24; ++round) {
    std::swap(records[random.below(4)], records[random.below(4)]);
    EXPECT_EQ(text(servers_of_records(records)), "a:1*7 b:1*6 b:2*5 c:1*8");
  }
}

TEST(FoundServers, OneThatIsListedTwiceCountsOnceWithItsLargerWeight) {
  EXPECT_EQ(text(servers_of_records({{0, 2, 1, "a"}, {0, 9, 1, "a"}, {0, 4, 1, "a"}})), "a:1*9");
  EXPECT_EQ(text(servers_of_fleet({1, {{"A", 1}, {"a", 1}}})), "a:1");
}

TEST(FoundServers, TheTargetThatIsTheRootSaysThatThereIsNoService) {
  const std::string gone = "the service is not available there (the target of a record is \".\")";
  EXPECT_EQ(text(servers_of_records({{0, 0, 0, ""}})), gone);
  EXPECT_EQ(text(servers_of_records({{1, 0, 0, ""}, {0, 1, 1, "a"}})), "a:1")
      << "of a priority that is not used";
}

TEST(FoundServers, WhatNoConfigurationMayHaveIsRefusedByName) {
  EXPECT_EQ(text(servers_of_records({{0, 1, 1, "a\\032b"}})),
            "the list names a\\032b:1: the host is neither a name nor an address");
  EXPECT_EQ(text(servers_of_records({{0, 1, 0, "a"}})), "the list names a:0, without a port");
  EXPECT_EQ(text(servers_of_records({})), "the list has no server");
  EXPECT_EQ(text(servers_of_fleet({1, {}})), "the list has no server");
  EXPECT_EQ(text(servers_of_fleet({1, {{"a/b", 1}}})),
            "the list names a/b:1: the host is neither a name nor an address");
  EXPECT_EQ(text(servers_of_fleet({1, {{"/run/a.sock", 1}}})),
            "the list names /run/a.sock:1: the host is neither a name nor an address");
  EXPECT_EQ(text(servers_of_fleet({1, {{"fd00::2", 1}, {"10.0.0.1", 2}}})),
            "10.0.0.1:2 [fd00::2]:1");
  std::vector<SrvRecord> many;
  for (std::uint16_t i = 1; i <= 1'024; ++i) many.push_back({0, 1, i, "a"});
  EXPECT_EQ(servers_of_records(many)->size(), 1'024u);
  many.push_back({0, 1, 2'000, "a"});
  EXPECT_EQ(text(servers_of_records(many)),
            "the list has 1025 servers, but a cluster has at most 1024");
}

TEST(FoundServers, AreTheSameWithHostPortAndWeight) {
  const std::vector<NodeConfig> some{{"a", 1, 1}, {"b", 1, 1}};
  EXPECT_TRUE(same_servers(some, some));
  EXPECT_FALSE(same_servers(some, {{"a", 1, 1}}));
  EXPECT_FALSE(same_servers(some, {{"a", 1, 1}, {"b", 1, 2}}));
  EXPECT_FALSE(same_servers(some, {{"a", 1, 1}, {"b", 2, 1}}));
  EXPECT_FALSE(same_servers(some, {{"a", 1, 1}, {"c", 1, 1}}));
}

}  // namespace
}  // namespace sheaf::discovery
