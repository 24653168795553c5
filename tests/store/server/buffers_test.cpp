#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "store/server/outgoing_window.h"
#include "store/server/output_buffer.h"

namespace sheaf::store::server {
namespace {

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

TEST(OutputBuffer, ShowsNothingFromTheHoldOnUntilItIsReleased) {
  OutputBuffer out;
  out.sink() += "free";
  out.hold();
  out.sink() += "held";
  out.hold();  // it holds already
  EXPECT_EQ(as_text(out.poll()[0]), "free");
  out.take(100);
  EXPECT_TRUE(out.poll().empty());
  EXPECT_EQ(out.size(), 4u);
  EXPECT_TRUE(out.holding());
  out.release();
  EXPECT_EQ(as_text(out.poll()[0]), "held");
  EXPECT_FALSE(out.holding());
}

TEST(OutputBuffer, ASealLetsGoWhatWasThereThen) {
  OutputBuffer out;
  out.sink() += "free";
  out.hold();
  out.sink() += "first";
  out.seal();
  out.sink() += "second";
  out.take(2);
  out.release_sealed();
  EXPECT_EQ(as_text(out.poll()[0]), "eefirst");
  out.take(7);
  EXPECT_TRUE(out.poll().empty());
  out.seal();
  out.release_sealed();
  EXPECT_FALSE(out.holding());
  EXPECT_EQ(as_text(out.poll()[0]), "second");
}

TEST(OutputBuffer, ASealBeforeAHoldLetsNothingGo) {
  OutputBuffer out;
  out.sink() += "free";
  out.seal();
  out.sink() += "free too";
  out.hold();
  out.sink() += "held";
  out.release_sealed();
  EXPECT_EQ(as_text(out.poll()[0]), "freefree too");
  out.drop();
  EXPECT_FALSE(out.holding());
  EXPECT_EQ(out.size(), 0u);
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
