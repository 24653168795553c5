// The result of a write on two fleets, and what two fleets have answered.

#include "extras/migration/write_progress.h"

#include <gtest/gtest.h>

#include "base/local_error.h"
#include "extras/migration/answers.h"
#include "extras/migration/stage_clock.h"

namespace sheaf::migration {
namespace {

using namespace std::chrono_literals;

constexpr WriteStep stores{Fleet::from, true};
constexpr WriteStep removes{Fleet::to, false};

Error error_of(Outcome outcome) { return local_error(outcome, Reason::timed_out, "the cause"); }
Result<SetResult> stored() { return SetResult{true, {}}; }
Result<RemoveResult> removed() { return RemoveResult{RemoveResult::removed, {}}; }

TEST(WriteProgress, AWriteThatDidNotBeginHasTheErrorAsItWas) {
  for (const Outcome outcome : {Outcome::not_sent, Outcome::refused, Outcome::overloaded}) {
    WriteProgress progress;
    progress.on_stored(Failure(error_of(outcome)));
    ASSERT_NE(progress.error(), nullptr);
    EXPECT_EQ(progress.error()->outcome, outcome);
    EXPECT_EQ(progress.error()->text, "the cause");
    EXPECT_FALSE(progress.takes(stores));
    EXPECT_FALSE(progress.takes(removes)) << "nothing has changed: nothing is to be removed";
  }
}

TEST(WriteProgress, AStoreWithoutAnAnswerIsUnknownAndTheCopyIsRemovedAllTheSame) {
  WriteProgress progress;
  progress.on_stored(Failure(error_of(Outcome::unknown)));
  EXPECT_TRUE(progress.unknown());
  EXPECT_FALSE(progress.takes(stores));
  EXPECT_TRUE(progress.takes(removes));
  progress.on_removed(removed());
  EXPECT_TRUE(progress.unknown());
}

TEST(WriteProgress, AStepThatFailsAfterOneThatSucceededLeavesTheWriteUnknown) {
  WriteProgress progress;
  progress.on_stored(stored());
  progress.on_removed(Failure(error_of(Outcome::not_sent)));
  EXPECT_TRUE(progress.unknown());
  EXPECT_EQ(progress.error()->text, "the write may be half done: the cause");
}

TEST(WriteProgress, ADeadlineBeforeTheFirstStepSentNothing) {
  WriteProgress progress;
  progress.on_deadline();
  EXPECT_EQ(progress.error()->outcome, Outcome::not_sent);
}

TEST(WriteProgress, ARemovalFoundTheKeyIfEitherFleetHadIt) {
  WriteProgress progress;
  progress.on_removed(removed());
  progress.on_removed(RemoveResult{RemoveResult::absent, {}});
  EXPECT_TRUE(progress.removed());
  EXPECT_EQ(progress.error(), nullptr);
}

Result<GetResult> value(std::string data) { return GetResult(Value{std::move(data), {"7"}, 3}); }
Result<GetResult> absent() { return GetResult(); }

TEST(MigrationAnswers, AMissIsProvenOnlyByBothFleets) {
  Result<GetResult> got = Failure(error_of(Outcome::unknown));
  EXPECT_TRUE(missing(got));
  take_second(got, absent());
  EXPECT_FALSE(got) << "the first fleet may have it";
  take_second(got, value("v"));
  ASSERT_TRUE(got);
  EXPECT_EQ((*got)->data, "v") << "what either fleet has is the present value";
  got = absent();
  take_second(got, Failure(error_of(Outcome::unknown)));
  EXPECT_FALSE(got);
}

TEST(MigrationAnswers, APlaceholderIsAMissAndAValueLosesItsVersionOnly) {
  Result<GetResult> got = value(std::string(placeholder));
  EXPECT_TRUE(missing(got));
  finish(got);
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->has_value());
  got = value("v");
  finish(got);
  EXPECT_TRUE((*got)->version.empty());
  EXPECT_EQ((*got)->flags, 3u);
}

TEST(StageClock, AStageIsReadAgainEveryTenthAndUsedForHalf) {
  StageClock clock(1'000ms);
  EXPECT_TRUE(clock.due(0s));
  EXPECT_FALSE(clock.usable(0s)) << "nothing was read";
  clock.on_read(5s);
  EXPECT_FALSE(clock.due(5'099ms));
  EXPECT_TRUE(clock.due(5'100ms));
  EXPECT_TRUE(clock.usable(5'499ms));
  EXPECT_FALSE(clock.usable(5'500ms));
  EXPECT_EQ(clock.longest_call(), 500ms);
  clock.limit(2'000ms);
  EXPECT_EQ(clock.longest_call(), 500ms) << "a longer time of the file changes nothing";
  clock.limit(400ms);
  EXPECT_EQ(clock.longest_call(), 200ms);
}

}  // namespace
}  // namespace sheaf::migration
