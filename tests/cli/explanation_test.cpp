#include "cli/system/explanation.h"

#include <gtest/gtest.h>

#include <chrono>

#include "cli/system/wrapped_text.h"

namespace sheaf::cli {
namespace {

using namespace std::chrono_literals;

TEST(CliExplanation, BeginsWhereTheSentenceEnds) {
  Error error{Outcome::unknown, Reason::connection_lost, "b1:1883", 12ms, ""};
  EXPECT_EQ(error.message() + ". " + explanation(error), error.why());
  error.text = "it was cut.";
  EXPECT_EQ(error.message() + " " + explanation(error), error.why());
  EXPECT_TRUE(explanation(error).starts_with("The connection ended before")) << explanation(error);
}

TEST(CliExplanation, IsNotNeededForAMistakeOfTheCaller) {
  EXPECT_EQ(explanation({Outcome::invalid, Reason::bad_argument, "", 0s, "no key"}), "");
  EXPECT_EQ(explanation({Outcome::unsupported, Reason::other, "", 0s, "no such thing"}), "");
}

TEST(CliWrappedText, HasLinesUpToTheWidth) {
  EXPECT_EQ(wrapped("", 10), "\n");
  EXPECT_EQ(wrapped("one two three", 13), "one two three\n");
  EXPECT_EQ(wrapped("one two three", 12), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 9, 2), "  one two\n  three\n");
  EXPECT_EQ(wrapped("one two", 10, 4, 6), " one\n    two\n") << "six columns are taken";
  EXPECT_EQ(wrapped("a longer-than-wide b", 8), "a\nlonger-than-wide\nb\n");
}

}  // namespace
}  // namespace sheaf::cli
