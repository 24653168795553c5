#include "cli/system/explanation.h"

#include <gtest/gtest.h>

#include <chrono>

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

}  // namespace
}  // namespace sheaf::cli
