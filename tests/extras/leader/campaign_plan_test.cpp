// A campaign over attempts to take the lock, in virtual time.

#include "extras/leader/campaign_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/local_error.h"

namespace sheaf::leader {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

Error error_of(Outcome outcome, Reason reason = Reason::other) {
  return local_error(outcome, reason, {});
}

TEST(CampaignPlan, EachAttemptMayWaitForWhatIsLeftOfTheCampaign) {
  CampaignPlan plan(10s, 100s);
  EXPECT_EQ(plan.ask(100s), 10s);
  EXPECT_EQ(plan.ask(107s), 3s);
  EXPECT_EQ(plan.ask(120s), 0s);
  CampaignPlan endless({}, 100s);
  EXPECT_EQ(endless.ask(100s), longest_wait);
  CampaignPlan once(-1s, 100s);
  EXPECT_EQ(once.ask(100s), 0s);
  CampaignPlan too_long(nanoseconds::max(), 100s);
  EXPECT_EQ(too_long.ask(100s), longest_wait);
}

TEST(CampaignPlan, AnotherLeaderEndsOnlyACampaignWhoseWaitIsOver) {
  EXPECT_EQ(CampaignPlan(10s, 0s).after(nullptr, 10s), std::nullopt);
  EXPECT_EQ(CampaignPlan(0s, 0s).after(nullptr, 0s), std::nullopt);
  EXPECT_EQ(CampaignPlan({}, 0s).after(nullptr, longest_wait), 0s);
}

TEST(CampaignPlan, AServerThatRefusesForAWhileIsAskedAgainAfterPausesThatDoubleUpToASecond) {
  CampaignPlan plan({}, 0s);
  const Error loading = error_of(Outcome::refused);
  std::vector<nanoseconds> pauses;
  nanoseconds now{0};
  for (int i = 0; i < 8; ++i) {
    plan.ask(now);
    pauses.push_back(plan.after(&loading, now + 1ms).value());
    now += 1ms + pauses.back();
  }
  EXPECT_EQ(pauses, (std::vector<nanoseconds>{25ms, 50ms, 100ms, 200ms, 400ms, 800ms, 1s, 1s}));
  plan.ask(now);  // this attempt waited for the leader, and then the server failed over
  EXPECT_EQ(plan.after(&loading, now + 5s), 25ms);
}

TEST(CampaignPlan, TheLastPauseEndsWithTheWait) {
  CampaignPlan plan(100ms, 0s);
  const Error loading = error_of(Outcome::refused, Reason::read_only);
  plan.ask(0s);
  EXPECT_EQ(plan.after(&loading, 90ms), 10ms);
  EXPECT_EQ(plan.ask(100ms), 0s);
  EXPECT_EQ(plan.after(&loading, 100ms), std::nullopt);
}

TEST(CampaignPlan, WhatNoRepetitionChangesEndsTheCampaign) {
  for (const Outcome outcome : {Outcome::invalid, Outcome::unsupported, Outcome::shutdown}) {
    EXPECT_TRUE(is_final(error_of(outcome)));
  }
  for (const Reason reason :
       {Reason::not_authorized, Reason::authentication, Reason::wrong_type, Reason::syntax,
        Reason::unknown_command, Reason::too_large, Reason::protocol_error}) {
    const Error error = error_of(Outcome::refused, reason);
    EXPECT_EQ(CampaignPlan({}, 0s).after(&error, 0s), std::nullopt) << to_string(reason);
  }
  EXPECT_TRUE(is_final(error_of(Outcome::not_sent, Reason::cancelled)));
  EXPECT_TRUE(is_final(error_of(Outcome::unknown, Reason::cancelled)));
}

TEST(CampaignPlan, AServerThatIsDownOrFailsOverDoesNotEndIt) {
  for (const Outcome outcome : {Outcome::not_sent, Outcome::unknown, Outcome::overloaded}) {
    for (const Reason reason : {Reason::timed_out, Reason::node_down, Reason::connect_failed,
                                Reason::connection_lost, Reason::authentication}) {
      const Error error = error_of(outcome, reason);
      EXPECT_EQ(CampaignPlan(1s, 0s).after(&error, 0s), 25ms) << to_string(reason);
      EXPECT_EQ(CampaignPlan(1s, 0s).after(&error, 1s), std::nullopt);
    }
  }
  for (const Reason reason : {Reason::other, Reason::timed_out, Reason::node_down,
                              Reason::overtaken, Reason::read_only, Reason::quota}) {
    EXPECT_FALSE(is_final(error_of(Outcome::refused, reason))) << to_string(reason);
  }
}

TEST(Until, IsOverAtTheEndOfTheWaitAndNeverWithoutOne) {
  const Until until(5s, 10s);
  EXPECT_FALSE(until.over(14s));
  EXPECT_EQ(until.left(14s), 1s);
  EXPECT_TRUE(until.over(15s));
  EXPECT_EQ(until.left(16s), 0s);
  const Until endless({}, 10s);
  EXPECT_TRUE(endless.endless());
  EXPECT_FALSE(endless.over(nanoseconds(longest_wait) * 2));
}

}  // namespace
}  // namespace sheaf::leader
