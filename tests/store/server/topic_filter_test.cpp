#include "store/server/topic_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sheaf::store::server {
namespace {

using namespace std::string_view_literals;

TEST(TopicFilter, MatchesAsTheStandardsExamples) {
  // MQTT 5 sections 4.7.1.2 and 4.7.1.3.
  EXPECT_TRUE(matches("sport/tennis/player1/#", "sport/tennis/player1"));
  EXPECT_TRUE(matches("sport/tennis/player1/#", "sport/tennis/player1/ranking"));
  EXPECT_TRUE(matches("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon"));
  EXPECT_TRUE(matches("sport/#", "sport"));
  EXPECT_TRUE(matches("#", "a/b"));
  EXPECT_TRUE(matches("sport/tennis/+", "sport/tennis/player1"));
  EXPECT_FALSE(matches("sport/tennis/+", "sport/tennis/player1/ranking"));
  EXPECT_FALSE(matches("sport/+", "sport"));
  EXPECT_TRUE(matches("sport/+", "sport/"));
  EXPECT_TRUE(matches("+/+", "/finance"));
  EXPECT_TRUE(matches("/+", "/finance"));
  EXPECT_FALSE(matches("+", "/finance"));
}

TEST(TopicFilter, WithoutWildcardsMatchesItselfOnly) {
  EXPECT_TRUE(matches("a/b", "a/b"));
  EXPECT_FALSE(matches("a/b", "a/B"));
  EXPECT_FALSE(matches("a/b", "a/b/"));
  EXPECT_FALSE(matches("a/b/", "a/b"));
  EXPECT_FALSE(matches("a/b", "a"));
  EXPECT_FALSE(matches("/a", "a"));
}

TEST(TopicFilter, LeadingWildcardsLeaveDollarTopicsAlone) {
  // Section 4.7.2.
  EXPECT_FALSE(matches("#", "$SYS/monitor"));
  EXPECT_FALSE(matches("+/monitor", "$SYS/monitor"));
  EXPECT_TRUE(matches("$SYS/#", "$SYS/monitor"));
  EXPECT_TRUE(matches("$SYS/+", "$SYS/monitor"));
  EXPECT_TRUE(matches("a/+", "a/$SYS"));
}

TEST(TopicFilter, WildcardsStandOnlyForWholeLevels) {
  for (const std::string_view good : {"#"sv, "+"sv, "+/+"sv, "a/#"sv, "a/+/b"sv, "/"sv, "a//b"sv}) {
    EXPECT_TRUE(valid_filter(good)) << good;
  }
  for (const std::string_view bad :
       {""sv, "#/a"sv, "a#"sv, "a/#/b"sv, "a+"sv, "+a/b"sv, "##"sv, "a\0b"sv}) {
    EXPECT_FALSE(valid_filter(bad)) << bad;
  }
}

}  // namespace
}  // namespace sheaf::store::server
