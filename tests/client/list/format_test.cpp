// Keys, heads and segments: what is written is read back, and nothing else is accepted.

#include "client/list/format.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "cluster/placement/locator.h"

namespace sheaf::client::list {
namespace {

Head random_head(Random& random) {
  Head head;
  head.revision = random.u64() >> random.below(64);
  head.next = 2 + random.below(1'000'000);
  std::vector<Id> ids;
  for (Id id = 1; id < head.next && ids.size() < 40; id += 1 + random.below(30'000)) {
    ids.push_back(id);
  }
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  for (const Id id : ids) {
    if (random.below(4) == 0) {
      head.tail.push_back(id);
    } else if (random.below(3) > 0) {
      head.segments.push_back({id, 1 + static_cast<unsigned>(random.below(segment_limit))});
    } else {
      head.garbage.push_back({static_cast<Garbage::Kind>(random.below(3)), id});
    }
  }
  head.persist = random.below(2) == 0;
  return head;
}

std::vector<Id> random_ids(Random& random) {
  std::vector<Id> ids;
  const Id start = 1 + random.below(last_id / 2);
  for (std::uint64_t i = 1 + random.below(segment_limit); i > 0; --i) {
    ids.push_back(start + i * (1 + random.below(3)) * 7);
  }
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  return ids;
}

TEST(ListFormat, AllKeysOfAListHaveOneTagWhateverItsName) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  for (const std::string& name :
       {std::string("jobs"), std::string("{}"), std::string("}{"), std::string("{t}"),
        std::string(1, '\0'), std::string("a b%20"), every_byte}) {
    const Keys keys(name);
    const std::string tag(cluster::routing_key(keys.head()));
    ASSERT_NE(tag, keys.head()) << name;
    for (const std::string& key : {keys.lock(), keys.item(1), keys.segment(77)}) {
      ASSERT_EQ(cluster::routing_key(key), tag);
    }
  }
}

TEST(ListFormat, DifferentNamesHaveDifferentKeysWithoutBlanksAndControls) {
  EXPECT_EQ(Keys("jobs").head(), "sheaf/list/{jobs}/head");
  EXPECT_EQ(Keys("a b").lock(), "sheaf/list/{a%20b}/lock");
  EXPECT_EQ(Keys("a%20b").lock(), "sheaf/list/{a%2520b}/lock");
  EXPECT_EQ(Keys("{x}").item(9), "sheaf/list/{%7Bx%7D}/i9");
  EXPECT_EQ(Keys(std::string_view("\0\x7f", 2)).segment(1), "sheaf/list/{%00%7F}/s1");
}

TEST(ListFormat, HeadsAndSegmentsComeBackAsTheyWere) {
  Random random(1);
  for (int i = 0; i < 2'000; ++i) {
    const Head head = random_head(random);
    const auto parsed = parse_head(encode_head(head));
    ASSERT_TRUE(parsed) << parsed.error();
    ASSERT_EQ(*parsed, head);
    const std::vector<Id> ids = random_ids(random);
    const auto segment = parse_segment(encode_segment(ids), static_cast<unsigned>(ids.size()));
    ASSERT_TRUE(segment) << segment.error();
    ASSERT_EQ(*segment, ids);
  }
}

TEST(ListFormat, TheBytesStand) {
  Head head;
  head.revision = 300;
  head.next = 1'000;
  head.segments = {{7, 256}, {3, 1}};
  head.tail = {10, 12, 11};
  head.garbage = {{Garbage::Kind::segment, 5}, {Garbage::Kind::tree, 6}};
  EXPECT_EQ(
      encode_head(head),
      std::string("\x01\xAC\x02\xE8\x07\x02\x0E\x80\x02\x07\x01\x03\x14\x04\x01\x02\x01\x0A\x02"
                  "\x02",
                  20));
  EXPECT_EQ(encode_segment({10, 11, 9}), std::string("\x01\x03\x14\x02\x03", 5));
}

TEST(ListFormat, AHundredThousandItemsHaveASmallHead) {
  Head head;
  for (Id i = 0; i < 391; ++i) head.segments.push_back({257 * (i + 1), segment_limit});
  head.next = 200'000;
  EXPECT_LT(encode_head(head).size(), 2'000u);
}

TEST(ListFormat, AForeignHeadIsOneSentence) {
  EXPECT_EQ(parse_head("x123").error(), "the key holds no sheaf list (format 120)");
  EXPECT_EQ(parse_head("\x03").error(), "the key holds no sheaf list (format 3)");
  EXPECT_EQ(parse_head("").error(), "the key holds no sheaf list (empty)");
}

// Accepted bytes are exactly those that would be written: no head has two spellings.
TEST(ListFormat, ChangedCutAndRandomBytesAreRefusedOrMeanThemselves) {
  Random random(2);
  int refused = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string bytes =
        i % 2 == 0 ? encode_head(random_head(random)) : encode_segment(random_ids(random));
    switch (random.below(4)) {
      case 0:
        bytes[random.below(bytes.size())] = static_cast<char>(random.u32());
        break;
      case 1:
        bytes.resize(random.below(bytes.size()));
        break;
      case 2:
        bytes.push_back(static_cast<char>(random.u32()));
        break;
      default:
        bytes = "\x01";
        for (std::uint64_t n = random.below(40); n > 0; --n) {
          bytes.push_back(static_cast<char>(random.u32() >> random.below(8)));
        }
    }
    const auto head = parse_head(bytes);
    if (head) {
      ASSERT_EQ(encode_head(*head), bytes);
    }
    const auto segment = parse_segment(bytes, 0);
    if (segment) {
      ASSERT_EQ(encode_segment(*segment), bytes);
    }
    refused += !head && !segment;
  }
  EXPECT_GT(refused, 10'000);
}

TEST(ListFormat, CountsThatCannotBeTrueAllocateNothing) {
  EXPECT_FALSE(parse_head(std::string("\x01\x01\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 13)));
  EXPECT_FALSE(parse_segment(std::string("\x01\xFF\xFF\xFF\xFF\x0F\x02", 7), 0));
}

TEST(ListFormat, WrongTablesAreRefused) {
  EXPECT_FALSE(parse_head(std::string("\x01\x00\x05\x02\x02\x01\x00\x01\x00\x00", 10)));  // twice
  EXPECT_FALSE(
      parse_head(std::string("\x01\x00\x05\x01\x0A\x01\x00\x00", 8)));  // id 5 is not below 5
  EXPECT_FALSE(parse_head(std::string("\x01\x00\x05\x01\x02\x00\x00\x00", 8)));  // no items
  EXPECT_FALSE(parse_head(std::string("\x01\x00\x00\x00\x00\x00", 6)));          // next id 0
  EXPECT_TRUE(parse_head(std::string("\x01\x00\x05\x01\x02\x01\x00\x00", 8)));
  EXPECT_FALSE(parse_segment(encode_segment({1, 2, 3}), 2));
  EXPECT_FALSE(parse_segment(encode_segment({1, 2, 1}), 0));
  EXPECT_FALSE(parse_segment(encode_segment({}), 0));
}

}  // namespace
}  // namespace sheaf::client::list
