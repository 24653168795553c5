#include "base/strict_json.h"

#include <gtest/gtest.h>

namespace sheaf {
namespace {

std::string fault(std::string_view text) {
  const auto parsed = parse_strict_json(text);
  return parsed ? "accepted" : parsed.error();
}

TEST(StrictJson, ValuesAreKeptAsTheyAreWrittenAndInTheirOrder) {
  const auto parsed =
      parse_strict_json(R"({"b": [1, -2, 1.50, true, null, "\u00fc"], "a": {"x": "y"},)"
                        R"("big": 18446744073709551615})");
  ASSERT_TRUE(parsed) << parsed.error();
  ASSERT_EQ(parsed->members.size(), 3u);
  EXPECT_EQ(parsed->members[0].first, "b");
  const auto& list = parsed->members[0].second.elements;
  ASSERT_EQ(list.size(), 6u);
  EXPECT_EQ(list[0].whole, 1u);
  EXPECT_FALSE(list[1].whole);
  EXPECT_EQ(list[1].text, "-2");
  EXPECT_FALSE(list[2].whole);
  EXPECT_EQ(list[2].text, "1.5");
  EXPECT_TRUE(list[3].boolean);
  EXPECT_EQ(list[4].kind, JsonValue::Kind::null);
  EXPECT_EQ(list[5].text, "\xC3\xBC");
  EXPECT_EQ(parsed->find("a")->find("x")->text, "y");
  EXPECT_EQ(parsed->find("a")->find("z"), nullptr);
  EXPECT_EQ(parsed->find("big")->whole, 18446744073709551615u);
}

TEST(StrictJson, FaultsHaveTheirPlaceAndNoValue) {
  EXPECT_EQ(fault(""), "line 1, column 1: this is not JSON");
  EXPECT_EQ(fault("{\"a\":\n  secret}"), "line 2, column 3: this is not JSON");
  EXPECT_EQ(fault("{} x"), "line 1, column 4: this is not JSON");
  EXPECT_EQ(fault("\"\xFF\""), "line 1, column 2: this is not JSON");
}

TEST(StrictJson, AFieldThatIsGivenTwiceIsRefused) {
  EXPECT_EQ(fault(R"({"a":1,"a":1})"), "a is given twice");
  EXPECT_EQ(fault(R"({"x":[{},{"a b":{"c":1,"c":2}}]})"), "x[1].\"a b\".c is given twice");
  EXPECT_EQ(fault(R"([{"a":1},{"a":1}])"), "accepted");
}

TEST(StrictJson, EightLevelsAreTheDeepest) {
  EXPECT_EQ(fault("[[[[[[[[]]]]]]]]"), "accepted");
  EXPECT_EQ(fault("[[[[[[[[[]]]]]]]]]"), "[0][0][0][0][0][0][0][0] is nested deeper than 8 levels");
}

}  // namespace
}  // namespace sheaf
