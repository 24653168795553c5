#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf {
namespace {

// Published by xxHash. These functions place keys, so another library version or a build with other
// switches must not change them.
TEST(Hash, MatchesTheAlgorithmsOfXxHash) {
  EXPECT_EQ(hash64(""), 0x2D06800538D394C2u);
  EXPECT_EQ(hash32(""), 0x02CC5D05u);
  EXPECT_EQ(hash32("", 0x9E3779B1u), 0x36B78AE7u);
}

TEST(Hash, TakesTheSameValueFromAnyAlignment) {
  const std::string text =
      "sensor/42/temperature and some more text to pass 128 bytes, which is "
      "where XXH3 changes its way of reading, and then 240 bytes as well, so "
      "that each of its four branches is taken at least once by one of these.";
  for (const std::size_t size : {0, 1, 3, 4, 8, 9, 16, 17, 100, 128, 129, 200}) {
    const std::uint64_t expected = hash64(std::string_view(text).substr(0, size), 5);
    for (std::size_t shift = 0; shift < 9; ++shift) {
      const std::string moved = std::string(shift, '#') + text;
      EXPECT_EQ(hash64(std::string_view(moved).substr(shift, size), 5), expected);
    }
  }
}

TEST(Hash, DependsOnTheSeed) {
  EXPECT_NE(hash64("key", 1), hash64("key", 2));
  EXPECT_NE(hash32("key", 1), hash32("key", 2));
}

}  // namespace
}  // namespace sheaf
