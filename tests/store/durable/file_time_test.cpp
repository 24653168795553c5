#include "store/durable/file_time.h"

#include <gtest/gtest.h>

namespace sheaf::store {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr std::chrono::milliseconds now_of_test{1'700'000'000'000};

// A line that began at monotonic 100 s, marked 50 s later.
FileTime::Mark marked() {
  const FileTime first({}, {100s, now_of_test}, "one");
  return first.mark({150s, now_of_test + 50s});
}

TEST(FileTime, ThereAndBackIsTheSameMoment) {
  const FileTime time({}, {100s, now_of_test}, "one");
  EXPECT_EQ(time.from_file(time.to_file(123s)), Deadline(123s));
  EXPECT_EQ(time.to_file(never), never);
  EXPECT_EQ(time.from_file(never), never);
}

TEST(FileTime, InTheSameStartOfTheMachineTheMonotonicClockTells) {
  const FileTime first({}, {100s, now_of_test}, "one");
  const Deadline saved = first.to_file(200s);
  for (const auto step : {0s, 3600s, -3600s}) {
    const FileTime again(marked(), {160s, now_of_test + 60s + step}, "one");
    EXPECT_EQ(again.from_file(saved), Deadline(200s)) << step.count();
  }
}

TEST(FileTime, AfterAnotherStartOfTheMachineTheWallClockTells) {
  const FileTime first({}, {100s, now_of_test}, "one");
  const Deadline saved = first.to_file(200s);                      // 50 s after the mark
  const FileTime again(marked(), {5s, now_of_test + 80s}, "two");  // 30 s after the mark
  EXPECT_EQ(again.from_file(saved), Deadline(25s));
}

TEST(FileTime, AfterAnotherStartThatIsOlderThanTheMarkTheWallClockTells) {
  const FileTime first({}, {100s, now_of_test}, "one");
  const Deadline saved = first.to_file(200s);                        // 50 s after the mark
  const FileTime again(marked(), {900s, now_of_test + 80s}, "two");  // 30 s after the mark
  EXPECT_EQ(again.from_file(saved), Deadline(920s));
  const FileTime::Mark next = again.mark({900s, now_of_test + 80s});
  EXPECT_EQ(next.boot, "two") << "what comes after this mark is of this start";
}

TEST(FileTime, AWallClockThatSteppedBackMakesNoLeaseLonger) {
  const FileTime first({}, {100s, now_of_test}, "one");
  const Deadline saved = first.to_file(200s);
  const FileTime again(marked(), {5s, now_of_test - 86'400s}, "two");
  EXPECT_EQ(again.from_file(saved), Deadline(55s));
}

TEST(FileTime, WithoutANameOfTheStartTheWallClockTells) {
  FileTime::Mark mark = marked();
  mark.boot.clear();
  const FileTime again(mark, {160s, now_of_test + 80s}, "");
  EXPECT_EQ(again.from_file(mark.time + 50s), Deadline(180s));
}

TEST(FileTime, TheLineNeverGoesBackOverManyStarts) {
  FileTime::Mark mark;
  for (int start = 0; start < 100; ++start) {
    const auto jump = 3600s * (start % 7 - 3);
    const Now now{std::chrono::seconds(start % 13), now_of_test + jump};
    const FileTime time(mark, now, start % 3 == 0 ? "same" : "other");
    const FileTime::Mark next = time.mark({now.mono + 1s, now.wall + 1s});
    EXPECT_GT(next.time, mark.time);
    mark = next;
  }
}

}  // namespace
}  // namespace sheaf::store
