// Values that are stored first and values that become strings at once give the same results.

#include "client/calls/get_answers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sheaf::client::calls {
namespace {

std::shared_ptr<const cluster::Topology> three_nodes() {
  ClusterConfig config;
  config.kind = EndpointKind::embedded;
  config.slots = 1'024;
  for (std::uint16_t i = 0; i < 3; ++i) config.nodes.push_back({"embedded", i, 1});
  return cluster::Topology::make(config);
}

class GetAnswersTest : public testing::Test {
 protected:
  GetAnswersTest() {
    for (int i = 0; i < 60; ++i) names.push_back("key-" + std::to_string(i));
    const std::vector<std::string_view> keys(names.begin(), names.end());
    plan.emplace(*topology, keys, cluster::BatchLimits{1'000, 1u << 20, 0});
  }
  // One key in four is absent, one in seven has a large value, one in eleven fails.
  static protocol::Reply reply_of(std::uint32_t index, const std::string& value) {
    protocol::Reply reply;
    reply.status = index % 4 == 3 ? protocol::Status::absent : protocol::Status::done;
    reply.value = value;
    reply.version = index % 3 == 0 ? "" : "18446744073709551615";
    reply.flags = index;
    return reply;
  }
  static std::string value_of(std::uint32_t index) {
    return "value " + std::to_string(index) + std::string(index % 7 == 0 ? 5'000 : 0, '.');
  }
  void give(GetAnswers& answers, std::uint32_t place) const {
    const std::uint32_t index = plan->at(place);
    std::string value = value_of(index);
    if (index % 11 == 10) {
      Error error;
      error.outcome = Outcome::unknown;
      error.reason = Reason::timed_out;
      answers.fail(place, std::move(error));
    } else {
      answers.answer(place, reply_of(index, value));
    }
    std::ranges::fill(value, '!');  // the view is not kept
  }
  void expect_all(GetAnswers& answers) const {
    const auto entries = answers.take();
    ASSERT_EQ(entries.size(), names.size());
    for (std::uint32_t index = 0; index < entries.size(); ++index) {
      const auto& [key, got] = entries[index];
      EXPECT_EQ(key, names[index]);
      if (index % 11 == 10) {
        EXPECT_EQ(got.error().reason, Reason::timed_out);
        continue;
      }
      ASSERT_TRUE(got) << key;
      ASSERT_EQ(got->has_value(), index % 4 != 3) << key;
      if (!*got) continue;
      EXPECT_EQ((*got)->data, value_of(index));
      EXPECT_EQ((*got)->version.text, index % 3 == 0 ? "" : "18446744073709551615");
      EXPECT_EQ((*got)->flags, index);
    }
  }

  std::shared_ptr<const cluster::Topology> topology = three_nodes();
  std::vector<std::string> names;
  std::optional<cluster::BatchPlan> plan;
};

TEST_F(GetAnswersTest, EntriesMadeAtAnyMomentAreTheSame) {
  for (std::uint32_t made_at = 0; made_at <= names.size(); ++made_at) {
    GetAnswers answers(*plan);
    for (std::uint32_t place = 0; place < names.size(); ++place) {
      if (place == made_at) answers.make_entries();
      EXPECT_FALSE(answers.is_known(place));
      give(answers, place);
      EXPECT_TRUE(answers.is_known(place));
    }
    expect_all(answers);
  }
}

// Makes old entries of every kind that a result can be, fewer or more than wanted.
TEST_F(GetAnswersTest, EntriesOfOldBecomeTheSame) {
  for (const std::size_t old : {0u, 1u, 59u, 60u, 61u, 200u}) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      for (const std::uint32_t made_at : {0u, 20u, 60u}) {
        std::vector<GetAnswers::Entry> used;
        for (std::size_t i = 0; i < old; ++i) {
          auto& entry = used.emplace_back("old key " + std::to_string(i));
          const std::size_t kind = (i + shift) % 4;
          if (kind == 0) entry.result = Failure(Error{});
          if (kind > 1) entry.result->emplace(Value{std::string(kind * 100, 'o'), {"old"}, 9});
        }
        GetAnswers answers(*plan, std::move(used));
        for (std::uint32_t place = 0; place < names.size(); ++place) {
          if (place == made_at) answers.make_entries();
          give(answers, place);
        }
        expect_all(answers);
      }
    }
  }
}

TEST_F(GetAnswersTest, WhatFitsIntoEntriesOfOldNeedsNoMemory) {
  std::vector<GetAnswers::Entry> results;
  std::vector<const void*> before;
  for (int round = 0; round < 3; ++round) {
    GetAnswers answers(*plan, std::move(results));
    for (std::uint32_t place = 0; place < names.size(); ++place) {
      protocol::Reply reply;
      reply.value = std::string_view("a value that is not short enough to need no memory");
      reply.version = "18446744073709551615";
      answers.answer(place, reply);
    }
    results = answers.take();
    std::vector<const void*> now{results.data()};
    for (const auto& [key, got] : results) {
      now.push_back(key.data());
      now.push_back((*got)->data.data());
      now.push_back((*got)->version.text.data());
    }
    if (round > 0) {
      EXPECT_EQ(now, before);
    }
    before = now;
  }
}

TEST_F(GetAnswersTest, AnEmptyValueIsAValueAndNotAbsent) {
  for (const std::string_view version : {"", "7"}) {
    for (const bool made : {false, true}) {
      GetAnswers answers(*plan);
      if (made) answers.make_entries();
      for (std::uint32_t place = 0; place < names.size(); ++place) {
        protocol::Reply reply;
        reply.version = version;
        answers.answer(place, reply);
      }
      for (const auto& [key, got] : answers.take()) {
        ASSERT_TRUE(got && got->has_value()) << key;
        EXPECT_EQ((*got)->data, "");
        EXPECT_EQ((*got)->version.text, version);
      }
    }
  }
}

TEST_F(GetAnswersTest, AKeyInDoubtIsNotKnownUntilItsOwnAnswer) {
  GetAnswers answers(*plan);
  for (std::uint32_t place = 0; place < names.size(); ++place) {
    answers.doubt(place, false);
    EXPECT_TRUE(answers.unsure(place));
    EXPECT_FALSE(answers.is_known(place));
  }
  for (std::uint32_t place = 0; place < names.size(); ++place) give(answers, place);
  expect_all(answers);
}

TEST_F(GetAnswersTest, EntriesMayBeMadeBeforeTheAnswersCome) {
  GetAnswers answers(*plan);
  answers.make_entries();
  for (std::uint32_t place = 0; place < names.size(); ++place) give(answers, place);
  expect_all(answers);
}

}  // namespace
}  // namespace sheaf::client::calls
