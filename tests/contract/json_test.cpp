// sheaf/json.h with a real client on every endpoint; tests/cluster/json_values_test.cpp has its
// corners.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/json.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

struct Reading {
  std::string unit;
  double value = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(Reading, unit, value)
};

class JsonClient : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  void SetUp() override {
    endpoint_ = GetParam().make();
    client_.emplace(test::open(endpoint_->uri()));
  }
  Client& client() { return *client_; }

 private:
  std::unique_ptr<test::Endpoint> endpoint_;
  std::optional<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(On, JsonClient, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(JsonClient, AValueComesBackAsItWent) {
  const auto stored = set_json(client(), "line/1", Reading{"bar", 2.5});
  ASSERT_TRUE(stored.has_value()) << stored.error().message();
  EXPECT_TRUE(stored->stored);
  const auto found = get_json<Reading>(client(), "line/1");
  ASSERT_TRUE(found.has_value()) << found.error().message();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->unit, "bar");
  EXPECT_EQ((*found)->value, 2.5);
}

TEST_P(JsonClient, AnAbsentKeyIsNoError) {
  const auto found = get_json<Reading>(client(), "nothing/here");
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_FALSE(found->has_value());
}

TEST_P(JsonClient, AConditionHoldsForAnEqualValue) {
  SetOptions options;
  options.condition = SetCondition::if_absent_or_equal;
  const auto first = set_json(client(), "k", Reading{"bar", 1}, options);
  if (!client().supports(Feature::if_absent_or_equal)) {
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().outcome, Outcome::unsupported);
    EXPECT_FALSE(client().get("k").value().has_value());
    return;
  }
  EXPECT_TRUE(first.value().stored);
  EXPECT_TRUE(set_json(client(), "k", Reading{"bar", 1}, options)->stored);
  EXPECT_FALSE(set_json(client(), "k", Reading{"bar", 2}, options)->stored);
}

TEST_P(JsonClient, AConditionHoldsForAnUnchangedVersion) {
  ASSERT_TRUE(set_json(client(), "k", Reading{"bar", 1}).has_value());
  SetOptions options;
  options.condition = SetCondition::if_version;
  options.version = client().get("k").value()->version;
  const auto first = set_json(client(), "k", Reading{"bar", 2}, options);
  if (!client().supports(Feature::if_version)) {
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().outcome, Outcome::unsupported);
  } else {
    EXPECT_TRUE(first.value().stored);
    EXPECT_FALSE(set_json(client(), "k", Reading{"bar", 3}, options)->stored);
  }
  const double expected = client().supports(Feature::if_version) ? 2 : 1;
  EXPECT_EQ(get_json<Reading>(client(), "k").value()->value, expected);
}

TEST_P(JsonClient, TheFlagsOfAValueAreKept) {
  const auto stored = set_json(client(), "k", Reading{"bar", 1}, {.flags = 5});
  if (!client().supports(Feature::flags)) {
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().outcome, Outcome::unsupported);
    return;
  }
  EXPECT_TRUE(stored.value().stored);
  EXPECT_EQ(client().get("k").value()->flags, 5u);
}

TEST_P(JsonClient, WhatCannotBeWrittenLeavesTheOldValue) {
  ASSERT_TRUE(set_json(client(), "k", std::string("old")).has_value());
  EXPECT_FALSE(set_json(client(), "k", std::string("\xff")).has_value());
  EXPECT_EQ(**get_json<std::string>(client(), "k"), "old");
}

TEST_P(JsonClient, ABatchHasOneOutcomeForEachDistinctKey) {
  ASSERT_TRUE(set_json(client(), "a", 1).has_value());
  ASSERT_TRUE(client().set("b", "no json").has_value());
  const std::vector<std::string_view> keys{"a", "b", "c", "a"};
  const auto entries = get_many_json<int>(client(), keys);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key, "a");
  EXPECT_EQ(**entries[0].result, 1);
  EXPECT_EQ(entries[1].key, "b");
  ASSERT_FALSE(entries[1].result.has_value());
  EXPECT_EQ(entries[1].result.error().outcome, Outcome::invalid);
  EXPECT_EQ(entries[1].result.error().text, "the value of \"b\" is not JSON");
  EXPECT_EQ(entries[2].key, "c");
  ASSERT_TRUE(entries[2].result.has_value());
  EXPECT_FALSE(entries[2].result->has_value());
}

}  // namespace
}  // namespace sheaf
