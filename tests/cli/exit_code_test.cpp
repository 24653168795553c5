#include "cli/system/exit_code.h"

#include <gtest/gtest.h>

namespace sheaf::cli {
namespace {

Error error_of(Outcome outcome) {
  Error error;
  error.outcome = outcome;
  return error;
}

TEST(CliExitCode, TellsTheCallersOwnMistakesWhatFailedAndWhatIsUnknownApart) {
  EXPECT_EQ(exit_code(error_of(Outcome::invalid)), ExitCode::usage);
  EXPECT_EQ(exit_code(error_of(Outcome::unsupported)), ExitCode::usage);
  for (const Outcome outcome :
       {Outcome::refused, Outcome::not_sent, Outcome::overloaded, Outcome::shutdown}) {
    EXPECT_EQ(exit_code(error_of(outcome)), ExitCode::failed);
  }
  EXPECT_EQ(exit_code(error_of(Outcome::unknown)), ExitCode::unknown);
}

TEST(CliExitCode, ABatchIsDoneWhenEveryKeyHasAnAnswer) {
  Tally tally;
  EXPECT_EQ(tally.exit_code(), ExitCode::done);
  tally.add_success();
  EXPECT_EQ(tally.exit_code(), ExitCode::done);
  EXPECT_EQ(tally.total(), 1u);
}

TEST(CliExitCode, ABatchOfWhichSomeKeysFailedIsThreeOrUnknown) {
  Tally tally;
  tally.add_success();
  tally.add_failure(error_of(Outcome::not_sent));
  EXPECT_EQ(tally.exit_code(), ExitCode::failed);
  EXPECT_EQ(tally.failures(), 1u);
  tally.add_failure(error_of(Outcome::unknown));
  EXPECT_EQ(tally.exit_code(), ExitCode::unknown);
  EXPECT_EQ(tally.failures(), 2u);
  EXPECT_EQ(tally.answered(), 1u);
}

TEST(CliExitCode, ABatchThatWasNeverAllowedIsTwo) {
  Tally tally;
  tally.add_failure(error_of(Outcome::invalid));
  EXPECT_EQ(tally.exit_code(), ExitCode::usage);
  tally.add_success();
  EXPECT_EQ(tally.exit_code(), ExitCode::failed);
}

}  // namespace
}  // namespace sheaf::cli
