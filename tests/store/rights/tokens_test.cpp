#include "store/rights/tokens.h"

#include <gtest/gtest.h>

namespace sheaf::store::rights {
namespace {

TEST(TokenLists, ATokenIsAWholeLine) {
  constexpr std::string_view lines = "first\nsecond\nthird";
  for (const char* token : {"first", "second", "third"}) EXPECT_TRUE(has_token(lines, token));
  for (const char* other : {"", "firs", "first\n", "irst", "secund", "first\nsecond", "fourth"}) {
    EXPECT_FALSE(has_token(lines, other)) << other;
  }
}

TEST(TokenLists, BlanksAtTheEndsOfALineAndEmptyLinesDoNotCount) {
  constexpr std::string_view lines = "\r\n\n  first\t\r\n \n";
  EXPECT_TRUE(has_token(lines, "first"));
  EXPECT_FALSE(has_token(lines, ""));
  EXPECT_FALSE(has_token(lines, " "));
  EXPECT_FALSE(has_token("", "first"));
  EXPECT_FALSE(has_token("", ""));
}

}  // namespace
}  // namespace sheaf::store::rights
