#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "store/server/input_buffer.h"
#include "store/server/outgoing_window.h"
#include "store/server/output_buffer.h"

namespace sheaf::store::server {
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

TEST(OutputBuffer, ShowsTheSameBytesUntilTheyAreTaken) {
  OutputBuffer out;
  EXPECT_TRUE(out.poll().empty());
  out.sink() += "hello";
  EXPECT_EQ(as_text(out.poll()[0]), "hello");
  EXPECT_EQ(as_text(out.poll()[0]), "hello");
  out.take(2);
  out.sink() += " world";
  EXPECT_EQ(as_text(out.poll()[0]), "llo world");
  EXPECT_EQ(out.size(), 9u);
  out.take(9);
  EXPECT_TRUE(out.poll().empty());
}

TEST(OutputBuffer, DoesNotGrowWhileItIsTakenAsFastAsItIsFilled) {
  OutputBuffer out;
  out.sink() += std::string(1000, 'a');
  for (int i = 0; i < 10'000; ++i) {
    out.sink() += std::string(1000, 'b');
    out.take(1000);
  }
  EXPECT_EQ(out.size(), 1000u);
  EXPECT_LE(out.sink().size(), 300'000u);
}

TEST(OutgoingWindow, HandsOutIdentifiersUpToTheReceiveMaximum) {
  OutgoingWindow window(10, 1000);
  window.set_receive_maximum(2);
  EXPECT_EQ(window.acquire(), 1);
  EXPECT_EQ(window.acquire(), 2);
  EXPECT_EQ(window.acquire(), std::nullopt);
  EXPECT_TRUE(window.release(1));
  EXPECT_EQ(window.acquire(), 3);
  EXPECT_EQ(window.in_flight(), 2u);
}

TEST(OutgoingWindow, KnowsIdentifiersThatAreNotInFlight) {
  OutgoingWindow window(10, 1000);
  EXPECT_FALSE(window.release(1));
  EXPECT_EQ(window.acquire(), 1);
  EXPECT_FALSE(window.release(2));
  EXPECT_TRUE(window.release(1));
  EXPECT_FALSE(window.release(1));
  EXPECT_FALSE(window.release(0));
}

TEST(OutgoingWindow, UsesEveryIdentifierButZeroAndSkipsThoseInFlight) {
  OutgoingWindow window(10, 1000);
  for (unsigned id = 1; id <= 65535; ++id) ASSERT_EQ(window.acquire(), id);
  EXPECT_EQ(window.acquire(), std::nullopt);
  EXPECT_TRUE(window.release(40'000));
  EXPECT_EQ(window.acquire(), 40'000);
}

TEST(OutgoingWindow, WaitingPacketsLeaveInOrderWithTheirIdentifier) {
  OutgoingWindow window(10, 1000);
  window.set_receive_maximum(1);
  EXPECT_EQ(window.acquire(), 1);
  EXPECT_TRUE(window.push({"a..", 1}));
  EXPECT_TRUE(window.push({"b..", 1}));
  EXPECT_EQ(window.pop(), std::nullopt);
  EXPECT_TRUE(window.release(1));
  EXPECT_EQ(window.pop(), std::string("a\0\2", 3));
  EXPECT_EQ(window.pop(), std::nullopt);
  EXPECT_TRUE(window.release(2));
  EXPECT_EQ(window.pop(), std::string("b\0\3", 3));
}

TEST(OutgoingWindow, RefusesMoreThanItsBounds) {
  OutgoingWindow window(2, 10);
  EXPECT_FALSE(window.push({std::string(11, 'x'), 0}));
  EXPECT_TRUE(window.push({std::string(6, 'x'), 0}));
  EXPECT_FALSE(window.push({std::string(5, 'x'), 0}));
  EXPECT_TRUE(window.push({std::string(4, 'x'), 0}));
  EXPECT_FALSE(window.push({"", 0}));
  EXPECT_EQ(window.waiting(), 2u);
}

}  // namespace
}  // namespace sheaf::store::server
