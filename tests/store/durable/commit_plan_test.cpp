#include "store/durable/commit_plan.h"

#include <gtest/gtest.h>

namespace sheaf::store {
namespace {

using protocol::statestore::Timestamp;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::chrono::milliseconds wall{1'700'000'000'000};
constexpr Timestamp first_stamp{1'700'000'000'000, 0, {}};
constexpr Timestamp later{1'700'000'000'000, 1, {}};

TEST(CommitPlan, WhatIsSavedIsToldAndNeedsNoCommit) {
  CommitPlan plan(0ms, true, first_stamp);
  plan.note(false, 1s);
  EXPECT_TRUE(plan.may_tell(first_stamp));
  EXPECT_FALSE(plan.due(first_stamp, 10s, false));
  EXPECT_EQ(plan.next(), std::nullopt);
}

TEST(CommitPlan, AcknowledgedTellsNothingBeforeTheCommit) {
  CommitPlan plan(0ms, true, first_stamp);
  plan.note(true, 1s);
  EXPECT_FALSE(plan.may_tell(later));
  EXPECT_TRUE(plan.due(later, 1s, false));
  EXPECT_EQ(plan.next(), Deadline(1s));
  plan.committed(plan.promise(later, wall), 3ms);
  EXPECT_TRUE(plan.may_tell(later));
  EXPECT_EQ(plan.promise(later, wall), later);
}

TEST(CommitPlan, AGroupWaitsForMoreNoLongerThanTheLastCommitTook) {
  CommitPlan plan(0ms, true, first_stamp);
  plan.note(true, 1s);
  EXPECT_TRUE(plan.due(later, 1s, true));  // the disk's speed is unknown so far
  plan.committed(later, 3ms);
  plan.note(true, 2s);
  plan.note(true, 2s + 2ms);
  EXPECT_FALSE(plan.due(later, 2s + 2ms, true));
  EXPECT_TRUE(plan.due(later, 2s + 2ms, false));
  EXPECT_TRUE(plan.due(later, 2s + 3ms, true));
}

TEST(CommitPlan, ADiskThatTookSecondsHoldsNoGroupForSeconds) {
  CommitPlan plan(0ms, true, first_stamp);
  plan.note(true, 1s);
  plan.committed(later, 5s);
  plan.note(true, 10s);
  EXPECT_TRUE(plan.due(later, 10s + 10ms, true));
}

TEST(CommitPlan, AnIntervalTellsAtOnceAndCommitsAfterIt) {
  CommitPlan plan(100ms, true, first_stamp);
  plan.note(true, 1s);
  plan.committed(plan.promise(first_stamp, wall), 3ms);
  plan.note(true, 2s);
  EXPECT_TRUE(plan.may_tell(later));
  EXPECT_FALSE(plan.due(later, 2s + 99ms, false));
  EXPECT_TRUE(plan.due(later, 2s + 100ms, true));
  EXPECT_EQ(plan.next(), Deadline(2s + 100ms));
}

TEST(CommitPlan, AVersionBeyondTheCeilingIsToldOnlyAfterACommit) {
  CommitPlan plan(100ms, true, first_stamp);
  plan.note(true, 1s);
  EXPECT_FALSE(plan.may_tell(later));
  EXPECT_TRUE(plan.due(later, 1s, false));
  const Timestamp promised = plan.promise(later, wall);
  EXPECT_EQ(promised, (Timestamp{1'700'000'001'200, 0, {}}));
  plan.committed(promised, 3ms);
  EXPECT_TRUE(plan.may_tell(later));
  EXPECT_TRUE(plan.may_tell(promised));
  EXPECT_FALSE(plan.may_tell({promised.wall, 1, {}}));
}

// After a restart the clock is at the last ceiling. A lead on top of that would grow without end.
TEST(CommitPlan, TheCeilingLeadsTheWallAndIsJustBeyondAClockThatIsFurtherAhead) {
  const CommitPlan plan(1s, true, first_stamp);
  EXPECT_EQ(plan.promise({1'700'000'000'500, 7, {}}, wall).wall, 1'700'000'003'000u);
  EXPECT_EQ(plan.promise({1'700'000'050'000, 7, {}}, wall).wall, 1'700'000'050'001u);
}

TEST(CommitPlan, IfNotAllVersionsAreSavedACommitPromisesACeilingAlsoWithoutAnInterval) {
  CommitPlan plan(0ms, false, first_stamp);
  plan.note(true, 1s);
  EXPECT_FALSE(plan.may_tell(later));
  const Timestamp promised = plan.promise(later, wall);
  EXPECT_EQ(promised.wall, 1'700'000'001'000u);
  plan.committed(promised, 3ms);
  EXPECT_TRUE(plan.may_tell(later));
}

TEST(CommitPlan, AfterAFailureItTriesAgainEverySecond) {
  CommitPlan plan(0ms, true, first_stamp);
  plan.note(true, 1s);
  plan.failed(1s);
  EXPECT_TRUE(plan.broken());
  EXPECT_TRUE(plan.may_tell(later));  // the frozen engine reports only saved values
  EXPECT_FALSE(plan.due(later, 1s + 999ms, false));
  EXPECT_TRUE(plan.due(later, 2s, true));
  EXPECT_EQ(plan.next(), Deadline(2s));
  plan.committed(later, 3ms);
  EXPECT_FALSE(plan.broken());
}

}  // namespace
}  // namespace sheaf::store
