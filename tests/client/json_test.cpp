// sheaf/json.h with a real client; tests/cluster/json_values_test.cpp has its corners.

#include <gtest/gtest.h>

#include <string>

#include <sheaf/json.h>

namespace sheaf {
namespace {

struct Reading {
  std::string unit;
  double value = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(Reading, unit, value)
};

class JsonClient : public testing::Test {
 protected:
  JsonClient() : client_(Client::open("embedded://3")) {}
  void SetUp() override { ASSERT_TRUE(client_.has_value()) << client_.error().message(); }
  Client& client() { return *client_; }

 private:
  Result<Client> client_;
};

TEST_F(JsonClient, AValueComesBackAsItWent) {
  const auto stored = set_json(client(), "line/1", Reading{"bar", 2.5});
  ASSERT_TRUE(stored.has_value()) << stored.error().message();
  EXPECT_TRUE(stored->stored);
  const auto found = get_json<Reading>(client(), "line/1");
  ASSERT_TRUE(found.has_value()) << found.error().message();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->unit, "bar");
  EXPECT_EQ((*found)->value, 2.5);
}

TEST_F(JsonClient, AnAbsentKeyIsNoError) {
  const auto found = get_json<Reading>(client(), "nothing/here");
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_FALSE(found->has_value());
}

TEST_F(JsonClient, AConditionHoldsForAnEqualValue) {
  SetOptions options;
  options.condition = SetCondition::if_absent_or_equal;
  EXPECT_TRUE(set_json(client(), "k", Reading{"bar", 1}, options)->stored);
  EXPECT_TRUE(set_json(client(), "k", Reading{"bar", 1}, options)->stored);
  EXPECT_FALSE(set_json(client(), "k", Reading{"bar", 2}, options)->stored);
}

TEST_F(JsonClient, WhatCannotBeWrittenLeavesTheOldValue) {
  ASSERT_TRUE(set_json(client(), "k", std::string("old")).has_value());
  EXPECT_FALSE(set_json(client(), "k", std::string("\xff")).has_value());
  EXPECT_EQ(**get_json<std::string>(client(), "k"), "old");
}

TEST_F(JsonClient, ABatchHasOneOutcomeForEachDistinctKey) {
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
