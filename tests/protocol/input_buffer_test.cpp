#include "protocol/input_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace sheaf::protocol {
namespace {

void put(InputBuffer& buffer, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto space = buffer.space();
    ASSERT_FALSE(space.empty());
    const std::size_t part = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), part);
    buffer.added(part);
    bytes.remove_prefix(part);
  }
}

TEST(InputBuffer, KeepsWhatIsNotConsumedInOnePiece) {
  InputBuffer buffer(1 << 20);
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string part(static_cast<std::size_t>(i % 97), static_cast<char>('a' + i % 26));
    put(buffer, part);
    expected += part;
    if (i % 3 == 0) {
      const std::size_t half = expected.size() / 2;
      buffer.consumed(half);
      expected.erase(0, half);
    }
    ASSERT_EQ(buffer.data(), expected);
  }
}

TEST(InputBuffer, IsFullAtItsLimitAndHasRoomAgainAfterwards) {
  InputBuffer buffer(10'000);
  put(buffer, std::string(10'000, 'x'));
  EXPECT_TRUE(buffer.space().empty());
  EXPECT_EQ(buffer.capacity(), 10'000u);
  buffer.consumed(1);
  EXPECT_EQ(buffer.space().size(), 1u);
}

TEST(InputBuffer, GrowsWithWhatArrivesOnly) {
  InputBuffer buffer(256u << 20);
  EXPECT_LE(buffer.space().size(), 64u * 1024);
  put(buffer, std::string(100'000, 'x'));
  EXPECT_LE(buffer.capacity(), 400'000u);
}

TEST(InputBuffer, GivesALargeBufferBackWhenItIsEmpty) {
  InputBuffer buffer(16u << 20);
  put(buffer, std::string(8u << 20, 'x'));
  buffer.consumed(8u << 20);
  buffer.space();
  EXPECT_LE(buffer.capacity(), 64u * 1024);
}

TEST(InputBuffer, TakesNoMoreAtFirstThanItIsAskedTo) {
  InputBuffer small(1 << 20, 8 * 1024);
  EXPECT_EQ(small.space().size(), 8u * 1024);
  InputBuffer bounded(100);
  EXPECT_EQ(bounded.space().size(), 100u);
}

TEST(InputBuffer, PassesOverWhatIsHereAndWhatIsStillToCome) {
  InputBuffer buffer(1 << 20);
  put(buffer, "head, and some");
  buffer.consumed(6);
  buffer.skip(100'000);
  EXPECT_TRUE(buffer.skipping());
  EXPECT_EQ(buffer.data(), "");
  put(buffer, std::string(100'000 - 8, 'x'));
  EXPECT_FALSE(buffer.skipping());
  EXPECT_EQ(buffer.data(), "");
  EXPECT_LE(buffer.capacity(), 64u * 1024) << "what is skipped is not kept";
  put(buffer, "next");
  EXPECT_EQ(buffer.data(), "next");
  buffer.skip(2);
  EXPECT_FALSE(buffer.skipping());
  EXPECT_EQ(buffer.data(), "xt");
}

}  // namespace
}  // namespace sheaf::protocol
