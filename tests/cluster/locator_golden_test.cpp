// The wire contract of docs/wire/locators.md, as numbers. A second implementation produced them
// (exact fractions, linear search). If one of these tests fails, keys have moved: do not change the
// numbers.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/hash.h"
#include "base/text.h"
#include "cluster/placement/ring_locator.h"
#include "cluster/placement/slot_locator.h"
#include "cluster/placement/slot_score.h"

namespace sheaf::cluster {
namespace {

using namespace std::string_literals;

// Weights 1, 1, 2.
std::vector<NodeConfig> three_nodes() {
  return {{"b1", 1883, 1}, {"b2", 1883, 1}, {"b3", 1883, 2}};
}

struct Golden {
  std::string key;
  std::uint32_t slot;
  std::vector<std::uint32_t> order;  // the slot's owner comes first
  std::uint32_t point;
  std::uint32_t ring_node;
};

const std::vector<Golden>& goldens() {
  static const std::vector<Golden> table{
      {"a", 59078, {1, 2, 0}, 0x551b7f1f, 0},
      {"key-1", 11561, {2, 1, 0}, 0x3a2dccf1, 1},
      {"key-2", 22997, {2, 0, 1}, 0x2e83fb2b, 1},
      {"sensor/line 4/temp", 42941, {2, 0, 1}, 0xd51e4aa3, 1},
      {"{user1000}.following", 45116, {1, 2, 0}, 0x4265545b, 1},
      {"{user1000}.followers", 45116, {1, 2, 0}, 0x4265545b, 1},
      {"{}x", 13033, {2, 0, 1}, 0xa4dac00b, 1},
      {"foo{}{bar}", 49539, {1, 2, 0}, 0x7c5ba4cd, 0},
      {"foo{{bar}}zap", 41825, {2, 0, 1}, 0xc9c567ad, 2},
      {"foo{bar}{zap}", 54371, {0, 2, 1}, 0x41dc111a, 1},
      {"\x00\xff\r\n"s, 31529, {0, 2, 1}, 0x0da1a486, 0},
      {std::string(300, 'k'), 16016, {1, 2, 0}, 0x7fef7f98, 2},
  };
  return table;
}

TEST(LocatorGolden, SlotsOfKeysAndTheirOwners) {
  const SlotLocator locator(three_nodes(), 65'536);
  for (const Golden& golden : goldens()) {
    EXPECT_EQ(locator.locate(golden.key), (Location{golden.order[0], golden.slot}))
        << printable(golden.key);
    EXPECT_EQ(locator.owner_order(golden.slot), golden.order) << printable(golden.key);
  }
}

TEST(LocatorGolden, RingPointsOfKeys) {
  const RingLocator locator(three_nodes());
  for (const Golden& golden : goldens()) {
    EXPECT_EQ(locator.locate(golden.key), (Location{golden.ring_node, golden.point}))
        << printable(golden.key);
  }
}

TEST(LocatorGolden, LogarithmTable) {
  EXPECT_EQ(log_table[0], 0u);
  EXPECT_EQ(log_table[1], 6'193'304'436u);
  EXPECT_EQ(log_table[512], 2'572'692'285'423u);
  EXPECT_EQ(log_table[1023], 4'394'947'590'460u);
  EXPECT_EQ(log_table[1024], 4'398'046'511'104u);
  std::string bytes;
  for (const std::uint64_t entry : log_table) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(entry >> shift));
  }
  EXPECT_EQ(hash64(bytes), 0x911b82defb0161ccu);
}

TEST(LocatorGolden, RacesAndDraws) {
  EXPECT_EQ(race(0), 281'474'976'710'656u);
  EXPECT_EQ(race(1), 281'474'976'710'656u);
  EXPECT_EQ(race(2), 277'076'930'199'552u);
  EXPECT_EQ(race(3), 274'504'237'914'129u);
  EXPECT_EQ(race(0x123456789abcdef0), 16'773'187'242'758u);
  EXPECT_EQ(race(0x8000000000000000), 4'398'046'511'104u);
  EXPECT_EQ(race(0xffffffffffffffff), 2u);
  EXPECT_EQ(slot_draw(hash64("b1:1883"), 0), 0x51a826e7ec94cc81u);
  EXPECT_EQ(slot_draw(hash64("b1:1883"), 65'535), 0x9eab4de03321c465u);
}

TEST(LocatorGolden, TheWholeSlotTable) {
  const SlotLocator locator(three_nodes(), 65'536);
  std::string table;
  for (const std::uint16_t worker : locator.slots()) table.push_back(static_cast<char>(worker));
  EXPECT_EQ(hash64(table), 0x0b4d8b09ec902d78u);
  EXPECT_DOUBLE_EQ(locator.share(0), 16'341 / 65'536.0);
  EXPECT_DOUBLE_EQ(locator.share(1), 16'416 / 65'536.0);
  EXPECT_DOUBLE_EQ(locator.share(2), 32'779 / 65'536.0);
}

TEST(LocatorGolden, TheWholeRing) {
  const RingLocator locator(three_nodes());
  ASSERT_EQ(locator.points().size(), 640u);
  std::string ring;
  for (const auto& point : locator.points()) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      ring.push_back(static_cast<char>(point.position >> shift));
    }
    ring.push_back(static_cast<char>(point.node + 1));
  }
  EXPECT_EQ(hash64(ring), 0x827529098f494c1du);
}

TEST(LocatorGolden, TheDocumentationShowsTheSameNumbers) {
  const std::filesystem::path docs = SHEAF_TEST_DOCS;
  std::ifstream file(docs / "wire" / "locators.md");
  ASSERT_TRUE(file.is_open());
  std::stringstream page;
  page << file.rdbuf();
  for (const Golden& golden : goldens()) {
    std::stringstream row;
    row << "| " << golden.slot << " | b" << golden.order[0] + 1 << ", b" << golden.order[1] + 1
        << ", b" << golden.order[2] + 1 << " | 0x" << std::hex << golden.point << " | b"
        << golden.ring_node + 1 << " |\n";
    EXPECT_NE(page.str().find(row.str()), std::string::npos) << row.str();
  }
}

}  // namespace
}  // namespace sheaf::cluster
