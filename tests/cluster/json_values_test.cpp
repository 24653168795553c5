// The treatment of bytes in sheaf/json.h; tests/contract tests it with a client.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include <sheaf/json.h>

namespace sheaf {
namespace {

using json_detail::decode;
using json_detail::encode;
using testing::HasSubstr;
using testing::Not;

struct Reading {
  std::string unit;
  double value = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(Reading, unit, value)
};

struct Thrower {};
void from_json(const nlohmann::json&, Thrower&) { throw std::runtime_error("secret"); }
void to_json(nlohmann::json&, const Thrower&) { throw 7; }

std::string refusal_of_value(std::string_view text) {
  const auto value = decode<Reading>("plant/1", text);
  EXPECT_FALSE(value.has_value()) << text;
  if (value.has_value()) return {};
  EXPECT_EQ(value.error().outcome, Outcome::invalid);
  EXPECT_EQ(value.error().reason, Reason::other);
  return value.error().text;
}

TEST(JsonValues, ComeBackAsTheyWent) {
  const auto text = encode("k", Reading{"bar", 2.5});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, R"({"unit":"bar","value":2.5})");
  const auto back = decode<Reading>("k", *text);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->unit, "bar");
  EXPECT_EQ(back->value, 2.5);
  EXPECT_EQ(*decode<std::vector<int>>("k", " [1, 2, 3]\n"), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(*decode<nlohmann::json>("k", "null"), nlohmann::json());
  EXPECT_EQ(*encode("k", nlohmann::json{{"b", 1}, {"a", 2}}), R"({"a":2,"b":1})");
}

TEST(JsonValues, WhatDoesNotFitIsNamedByItsKey) {
  EXPECT_EQ(refusal_of_value(""), "the value of \"plant/1\" is not JSON");
  EXPECT_EQ(refusal_of_value("{\"unit\":"), "the value of \"plant/1\" is not JSON");
  EXPECT_EQ(refusal_of_value("{} x"), "the value of \"plant/1\" is not JSON");
  EXPECT_EQ(refusal_of_value("\xff"), "the value of \"plant/1\" is not JSON");
  EXPECT_EQ(refusal_of_value("{}"),
            "the value of \"plant/1\" does not fit the wanted type (json exception 403)");
  EXPECT_EQ(refusal_of_value(R"({"unit":3,"value":1})"),
            "the value of \"plant/1\" does not fit the wanted type (json exception 302)");
}

TEST(JsonValues, NoSentenceContainsTheValue) {
  for (const auto* text : {"hunter2", "{\"hunter2\":1}", "\"hunter2", "[\"hunter2\"]",
                           "{\"unit\":\"hunter2\",\"value\":\"hunter2\"}"}) {
    EXPECT_THAT(refusal_of_value(text), Not(HasSubstr("hunter2"))) << text;
  }
  const auto value = encode("k", std::string("hunter2\xff"));
  ASSERT_FALSE(value.has_value());
  EXPECT_THAT(value.error().message(), Not(HasSubstr("hunter2")));
}

TEST(JsonValues, WhatCannotBeWrittenIsABadArgument) {
  const auto value = encode("k", std::string("\xff"));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().outcome, Outcome::invalid);
  EXPECT_EQ(value.error().reason, Reason::bad_argument);
  EXPECT_EQ(value.error().text,
            "the value for \"k\" cannot be written as JSON (json exception 316)");
}

TEST(JsonValues, NoExceptionOfTheUsersTypeEscapes) {
  const auto read = decode<Thrower>("k", "1");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().text, "the value of \"k\" does not fit the wanted type");
  const auto written = encode("k", Thrower{});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().text, "the value for \"k\" cannot be written as JSON");
}

TEST(JsonValues, DeepNestingIsRefusedAndBracketsInStringsAreNotNesting) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(decode<nlohmann::json>("k", nested(json_max_depth)).has_value());
  const auto deep = decode<nlohmann::json>("k", nested(json_max_depth + 1));
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(deep.error().text, "the value of \"k\" is JSON of more than 256 levels");
  EXPECT_FALSE(decode<nlohmann::json>("k", std::string(10'000'000, '[')).has_value());
  const std::string brackets = "\"\\\"" + std::string(1'000, '[') + "\"";
  EXPECT_TRUE(decode<std::string>("k", brackets).has_value());
  std::string flat = "[[]";
  for (int i = 0; i < 1'000; ++i) flat += ",{}";
  EXPECT_TRUE(decode<nlohmann::json>("k", flat + "]").has_value());
}

TEST(JsonValues, AnUglyKeyIsEscapedAndCut) {
  const auto value = decode<int>(std::string("\x1b\n\"") + std::string(100, 'x'), "");
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().text,
            "the value of \"\\x1B\\x0A\"" + std::string(61, 'x') + "...\" is not JSON");
}

TEST(JsonValues, AnAbsentKeyAndAFailedReadStayWhatTheyAre) {
  const auto absent = json_detail::decode_result<int>("k", GetResult());
  ASSERT_TRUE(absent.has_value());
  EXPECT_FALSE(absent->has_value());
  const auto failed = json_detail::decode_result<int>(
      "k", Failure({Outcome::not_sent, Reason::node_down, "b:1", {}, ""}));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().outcome, Outcome::not_sent);
  EXPECT_EQ(failed.error().node, "b:1");
}

}  // namespace
}  // namespace sheaf
