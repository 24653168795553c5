#include "base/wrapped_text.h"

#include <gtest/gtest.h>

namespace sheaf {
namespace {

TEST(WrappedText, HasLinesUpToTheWidth) {
  EXPECT_EQ(wrapped("", 10), "\n");
  EXPECT_EQ(wrapped("one two three", 13), "one two three\n");
  EXPECT_EQ(wrapped("one two three", 12), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 9, 2), "  one two\n  three\n");
  EXPECT_EQ(wrapped("one two", 10, 4, 6), " one\n    two\n") << "six columns are taken";
  EXPECT_EQ(wrapped("a longer-than-wide b", 8), "a\nlonger-than-wide\nb\n");
}

}  // namespace
}  // namespace sheaf
