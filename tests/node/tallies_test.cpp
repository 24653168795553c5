#include "node/tallies.h"

#include <gtest/gtest.h>

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using protocol::Status;
using protocol::Verb;

TEST(Tallies, CountHowRequestsEndByOperation) {
  Tallies tallies;
  tallies.on_answer(Verb::get, Status::done, 1, 10us);
  tallies.on_answer(Verb::get, Status::absent, 1, 20us);
  tallies.on_answer(Verb::set, Status::not_stored, 1, 30us);
  tallies.on_failure(Verb::set, Outcome::unknown, 1);
  tallies.on_failure(Verb::set, Outcome::overloaded, 2);
  tallies.on_failure(Verb::set, Outcome::invalid, 5);
  const auto all = tallies.snapshot();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].operation, "get");
  EXPECT_EQ(all[0].done, 1u);
  EXPECT_EQ(all[0].absent, 1u);
  EXPECT_EQ(all[0].round_trip.sum, 30us);
  EXPECT_EQ(all[1].operation, "set");
  EXPECT_EQ(all[1].not_stored, 1u);
  EXPECT_EQ(all[1].unknown, 1u);
  EXPECT_EQ(all[1].overloaded, 2u);
  EXPECT_EQ(all[1].round_trip.count, 1u);
}

// Protocols answer the existing keys of a batch; the end says that the others are absent.
TEST(Tallies, KeysOfABatchWithoutAnAnswerOfTheirOwnAreMisses) {
  Tallies tallies;
  for (int i = 0; i < 5; ++i) tallies.on_item(Verb::get_many, Status::done, true);
  tallies.on_answer(Verb::get_many, Status::done, 15, 40us);
  const auto all = tallies.snapshot();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].operation, "get_many");
  EXPECT_EQ(all[0].done, 5u);
  EXPECT_EQ(all[0].absent, 15u);
  EXPECT_EQ(all[0].round_trip.count, 1u);
}

TEST(Tallies, OfSeveralConnectionsAddUpByOperation) {
  Tallies one;
  one.on_answer(Verb::get, Status::done, 1, 10us);
  Tallies other;
  other.on_answer(Verb::get, Status::done, 1, 10us);
  other.on_answer(Verb::remove, Status::absent, 1, 10us);
  auto sum = one.snapshot();
  add(sum, other.snapshot());
  ASSERT_EQ(sum.size(), 2u);
  EXPECT_EQ(sum[0].done, 2u);
  EXPECT_EQ(sum[0].round_trip.count, 2u);
  EXPECT_EQ(sum[1].operation, "remove");
}

// A key that is asked again is no miss yet, and a client that closes is no failure of the node.
TEST(Tallies, TotalsCountRepliesThatAreNoAnswerOfAnOperation) {
  Tallies tallies;
  tallies.on_start(20);
  tallies.on_item(Verb::get_many, Status::absent, false);
  tallies.on_item(Verb::get_many, Status::refused, true);
  tallies.on_reply(1);
  tallies.on_timeout(2);
  tallies.on_failure(Verb::get_many, Outcome::unknown, 2);
  tallies.on_failure(Verb::get_many, Outcome::not_sent, 3);
  tallies.on_failure(Verb::get_many, Outcome::overloaded, 4);
  tallies.on_failure(Verb::get_many, Outcome::refused, 5);
  tallies.on_failure(Verb::get_many, Outcome::shutdown, 5);
  NodeStats stats;
  tallies.add_to(stats);
  EXPECT_EQ(stats.requests, 20u);
  EXPECT_EQ(stats.replies, 3u);
  EXPECT_EQ(stats.timed_out, 2u);
  EXPECT_EQ(stats.unknown, 2u);
  EXPECT_EQ(stats.not_sent, 3u);
  EXPECT_EQ(stats.overloaded, 4u);
  EXPECT_EQ(stats.refused, 6u);
  const auto all = tallies.snapshot();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].absent, 0u);
  EXPECT_EQ(all[0].refused, 6u);
  EXPECT_EQ(all[0].not_sent, 8u);
}

}  // namespace
}  // namespace sheaf::node
