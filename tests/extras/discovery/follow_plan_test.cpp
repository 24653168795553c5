#include "extras/discovery/follow_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf::discovery {
namespace {

// Judges an answer, which is taken if it differs.
std::string judged(FollowPlan& plan, const Found& found) {
  const auto verdict = plan.judge(found);
  if (!verdict) return verdict.error();
  if (*verdict == FollowPlan::Verdict::same) return "same";
  plan.take(found);
  return "taken";
}

const std::vector<NodeConfig> a{{"a", 1, 1}};
const std::vector<NodeConfig> b{{"b", 1, 1}};

TEST(FollowPlan, TakesTheFirstServersAndThoseThatDiffer) {
  FollowPlan plan;
  EXPECT_EQ(judged(plan, {a, 0}), "taken");
  EXPECT_EQ(judged(plan, {a, 0}), "same");
  EXPECT_EQ(judged(plan, {b, 0}), "taken");
  EXPECT_EQ(judged(plan, {{{"b", 1, 2}}, 0}), "taken") << "another weight";
  EXPECT_EQ(judged(plan, {b, 0}), "taken");
}

TEST(FollowPlan, AVersionNeverGoesBackwards) {
  FollowPlan plan;
  EXPECT_EQ(judged(plan, {a, 9}), "taken");
  EXPECT_EQ(
      judged(plan, {b, 8}),
      "the list of servers has version 8, but version 9 was seen before: an older list is ignored");
  EXPECT_EQ(judged(plan, {a, 9}), "same");
  EXPECT_EQ(judged(plan, {b, 9}), "taken");
  EXPECT_EQ(judged(plan, {a, 10}), "taken");
}

TEST(FollowPlan, ALaterVersionOfTheSameServersRaisesTheBar) {
  FollowPlan plan;
  EXPECT_EQ(judged(plan, {a, 1}), "taken");
  EXPECT_EQ(judged(plan, {a, 5}), "same");
  EXPECT_EQ(
      judged(plan, {b, 4}),
      "the list of servers has version 4, but version 5 was seen before: an older list is ignored");
}

TEST(FollowPlan, WhatCouldNotBeTakenIsTriedAgain) {
  FollowPlan plan;
  EXPECT_EQ(plan.judge({a, 1}), FollowPlan::Verdict::differ);
  EXPECT_EQ(plan.judge({a, 1}), FollowPlan::Verdict::differ) << "nobody has taken it";
}

}  // namespace
}  // namespace sheaf::discovery
