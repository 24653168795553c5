// The judge of the live hour finds what is planted here.

#include "tests/live/hour/number_history.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using End = NumberedCall::End;

NumberedCall::Clock::time_point at(std::chrono::seconds time) {
  return NumberedCall::Clock::time_point(1'000s + time);
}

class NumberHistories : public testing::Test {
 protected:
  // Each call takes a second, and the next begins when it ends.
  NumberedCall set(End end = End::done) { return call(true, history.begin(), end); }
  NumberedCall get(std::uint64_t number) { return call(false, number, End::done); }
  std::string judged(std::initializer_list<NumberedCall> batch,
                     std::initializer_list<LossTime> losses = {}) {
    std::string all;
    for (const auto& [breach, read, right] : history.judge(batch, losses)) {
      all += std::string(name_of(breach)) + ": " + std::to_string(read) + ", not " +
             std::to_string(right) + "; ";
    }
    return all;
  }

  NumberHistory history;
  std::chrono::seconds now{0};

 private:
  NumberedCall call(bool writes, std::uint64_t number, End end) {
    const auto begun = at(now++);
    return {.writes = writes, .number = number, .end = end, .begun = begun, .ended = at(now)};
  }
};

TEST_F(NumberHistories, CallsInTheirOrderAreRight) {
  EXPECT_EQ(judged({get(0), set(), get(1), set(), set(), get(3), get(3)}), "");
  EXPECT_EQ(judged({get(3), set(), get(4)}), "");
}

TEST_F(NumberHistories, AReversalIsFound) {
  EXPECT_EQ(judged({set(), set(), set(), get(1)}), "reordered: 1, not 3; ");
  EXPECT_EQ(judged({get(1)}), "stale: 1, not 3; ");
}

TEST_F(NumberHistories, AReadThatALaterSetHasOvertakenIsFound) {
  EXPECT_EQ(judged({set(), get(2), set(), get(2)}), "reordered: 2, not 1; ");
}

TEST_F(NumberHistories, AnOlderNumberIsStale) {
  EXPECT_EQ(judged({set(), set()}), "");
  EXPECT_EQ(judged({get(1), get(0), get(2)}), "stale: 1, not 2; stale: 0, not 2; ");
}

TEST_F(NumberHistories, ASetThatHadNoEffectAndANumberThatWasNeverSentAreWrong) {
  EXPECT_EQ(judged({set(), set(End::not_executed), get(1)}), "");
  EXPECT_EQ(judged({get(2), get(7)}), "wrong: 2, not 1; wrong: 7, not 1; ");
}

TEST_F(NumberHistories, ASetOfUnknownOutcomeMayComeLateAndOnce) {
  EXPECT_EQ(judged({set(End::unknown), set(), get(2)}), "");
  EXPECT_EQ(judged({get(1), get(1)}), "");
  EXPECT_EQ(judged({get(2)}), "stale: 2, not 1; ");
  EXPECT_EQ(judged({set(), get(3), get(1)}), "stale: 1, not 3; ");
}

TEST_F(NumberHistories, WhatAServerMayLoseIsNoBreachUntilItIsOver) {
  EXPECT_EQ(judged({set(), set()}), "");
  const LossTime open{.begun = at(now)};
  EXPECT_EQ(judged({get(1), get(2), get(1)}, {open}), "") << "two servers may answer";
  const LossTime over{.begun = open.begun, .ended = at(now)};
  ++now;
  EXPECT_EQ(judged({get(1), get(1)}, {over}), "") << "2 was lost";
  EXPECT_EQ(judged({get(2)}, {over}), "stale: 2, not 1; ");
  EXPECT_EQ(judged({set(), get(1)}, {over}), "stale: 1, not 3; ");
}

TEST_F(NumberHistories, ALossExcusesNoWriteThatIsLaterAndNoReadThatIsEarlier) {
  EXPECT_EQ(judged({set(), set(), get(1)}, {{.begun = at(10s), .ended = at(11s)}}),
            "reordered: 1, not 2; ");
  now = 20s;
  EXPECT_EQ(judged({set(), get(2)}, {{.begun = at(10s), .ended = at(11s)}}), "stale: 2, not 3; ");
}

}  // namespace
}  // namespace sheaf::test
