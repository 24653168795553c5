#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace sheaf {
namespace {

TEST(Glob, StarsAndQuestionMarksStandForBytes) {
  for (const char* pattern : {"user:17", "*", "user:*", "*17", "u*1*", "user:??", "**7", "*?"}) {
    EXPECT_TRUE(matches_glob(pattern, "user:17")) << pattern;
  }
  for (const char* pattern : {"", "user", "user:1", "user:177", "user:?", "*8", "User:17", "?"}) {
    EXPECT_FALSE(matches_glob(pattern, "user:17")) << pattern;
  }
  EXPECT_TRUE(matches_glob("", ""));
  EXPECT_TRUE(matches_glob("**", ""));
  EXPECT_FALSE(matches_glob("?", ""));
  EXPECT_TRUE(matches_glob("a?b", std::string_view("a\0b", 3)));
  EXPECT_TRUE(matches_glob("*\xff", "\xc3\xff"));
}

TEST(Glob, ListsStandForOneOfTheirBytes) {
  EXPECT_TRUE(matches_glob("[abc]x", "bx"));
  EXPECT_TRUE(matches_glob("[a-c]", "b"));
  EXPECT_TRUE(matches_glob("[c-a]", "b"));
  EXPECT_TRUE(matches_glob("[^a-c]", "d"));
  EXPECT_FALSE(matches_glob("[^a-c]", "a"));
  EXPECT_FALSE(matches_glob("[abc]", "abc"));
  EXPECT_TRUE(matches_glob("[\\]]", "]"));
  EXPECT_TRUE(matches_glob("[ab", "b")) << "a list that does not end";
  EXPECT_TRUE(matches_glob("[\xf0-\xff]", "\xfe"));
  EXPECT_FALSE(matches_glob("[]", "]"));
  EXPECT_TRUE(matches_glob("[^]", "]"));
}

TEST(Glob, ABackslashTakesTheNextByteAsItIs) {
  EXPECT_TRUE(matches_glob("a\\*", "a*"));
  EXPECT_FALSE(matches_glob("a\\*", "ab"));
  EXPECT_TRUE(matches_glob("\\?\\[\\\\", "?[\\"));
  EXPECT_TRUE(matches_glob("a\\", "a\\")) << "at the end";
}

// Only for short patterns: it tries each number of bytes for each star.
bool matches_slowly(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t taken = 0; taken <= text.size(); ++taken) {
      if (matches_slowly(pattern.substr(1), text.substr(taken))) return true;
    }
    return false;
  }
  if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) return false;
  return matches_slowly(pattern.substr(1), text.substr(1));
}

TEST(Glob, AMatchIsFoundWhateverTheStarsTake) {
  Random random(20'261'128);
  const auto draw = [&](std::string_view letters, std::size_t most) {
    std::string text;
    for (std::uint64_t left = random.below(most + 1); left > 0; --left) {
      text.push_back(letters[random.below(letters.size())]);
    }
    return text;
  };
  int matches = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string pattern = draw("ab**?", 8);
    const std::string text = draw("ab", 10);
    const bool right = matches_slowly(pattern, text);
    matches += right ? 1 : 0;
    ASSERT_EQ(matches_glob(pattern, text), right) << pattern << " " << text;
  }
  EXPECT_GT(matches, 10'000);
}

}  // namespace
}  // namespace sheaf
