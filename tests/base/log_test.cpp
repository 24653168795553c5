#include <gtest/gtest.h>

#include <sheaf/log.h>

#include "base/text.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

TEST(FormatUtc, IsTheTimeOfTheCalendarWithMilliseconds) {
  EXPECT_EQ(format_utc(0ms), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(1'769'850'300'007ms), "2026-01-31T09:05:00.007Z");
  EXPECT_EQ(format_utc(951'782'399'999ms), "2000-02-28T23:59:59.999Z");
  EXPECT_EQ(format_utc(951'782'400'000ms), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(format_utc(-1ms), "1969-12-31T23:59:59.999Z");
}

TEST(LogRecordLine, HasWhatThereIsAsPairs) {
  LogRecord record;
  record.time = std::chrono::system_clock::time_point(1'769'850'300'007ms);
  record.level = LogLevel::error;
  record.node = "b1:1883";
  record.operation = "get many";
  record.key = "#00ff";
  record.outcome = Outcome::not_sent;
  record.elapsed = 12'300us;
  record.text = "said \"no\"\nand went";
  EXPECT_EQ(record.line(),
            "time=2026-01-31T09:05:00.007Z level=error node=b1:1883 operation=\"get many\" "
            "key=#00ff outcome=\"not sent\" elapsed_ms=12.300 "
            "text=\"said \\\"no\\\"\\\\x0Aand went\"");
}

TEST(LogRecordLine, LeavesOutWhatThereIsNot) {
  LogRecord record;
  record.operation = "health";
  record.text = "up";
  EXPECT_EQ(record.line(), "time=1970-01-01T00:00:00.000Z level=info operation=health text=up");
}

}  // namespace
}  // namespace sheaf
