#include "node/late_requests.h"

#include <gtest/gtest.h>

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

constexpr Deadline start{0};  // when the connections were made

TEST(LateRequests, ALaterAnswerOnItsConnectionSettlesARequestWithoutAnAnswer) {
  LateRequests late;
  EXPECT_FALSE(late.any());
  late.add(1, 10s);
  EXPECT_TRUE(late.any());
  late.on_answer(1, start, 9s);
  EXPECT_TRUE(late.any()) << "that may have been submitted before it";
  late.on_answer(2, start, 11s);
  EXPECT_TRUE(late.any()) << "another connection says nothing";
  late.on_answer(1, start, 11s);
  EXPECT_FALSE(late.any());
}

TEST(LateRequests, EachConnectionSettlesItsOwn) {
  LateRequests late;
  late.add(1, 10s);
  late.add(2, 10s);
  late.add(1, 12s);
  late.on_answer(2, start, 11s);
  late.on_answer(1, start, 11s);
  EXPECT_TRUE(late.any()) << "the first connection has a later one";
  late.on_answer(1, start, 13s);
  EXPECT_FALSE(late.any());
}

TEST(LateRequests, AfterTheEndOfItsConnectionAnAnswerOnANewOneSettlesIt) {
  LateRequests late;
  late.add(1, 10s);
  late.on_closed(1, 12s);
  late.on_answer(2, 11s, 13s);
  EXPECT_TRUE(late.any()) << "that connection is older";
  late.on_answer(3, 12s, 13s);
  EXPECT_FALSE(late.any());
  late.on_closed(3, 14s);
  EXPECT_FALSE(late.any()) << "nothing was late there";
}

TEST(LateRequests, AConnectionThatCatchesUpHasSettledItsOwn) {
  LateRequests late;
  late.add(1, 10s);
  late.add(2, 10s);
  late.on_caught_up(1);
  EXPECT_TRUE(late.any()) << "that of the other one";
  late.on_caught_up(2);
  EXPECT_FALSE(late.any());
}

TEST(LateRequests, AConnectionMadeSinceTheOldOneWasGivenUpSettlesIt) {
  LateRequests late;
  late.add(1, 10s);
  late.on_closed(1, 10s);  // closes once the new one is ready
  late.on_answer(2, 10s, 11s);
  EXPECT_FALSE(late.any());
}

TEST(LateRequests, AnOlderConnectionSettlesItAfterFiveSeconds) {
  LateRequests late;
  late.add(1, 10s);
  late.on_closed(1, 12s);
  late.on_answer(2, 11s, 16s);
  EXPECT_TRUE(late.any());
  late.on_answer(2, 11s, 18s);
  EXPECT_FALSE(late.any());
}

}  // namespace
}  // namespace sheaf::node
