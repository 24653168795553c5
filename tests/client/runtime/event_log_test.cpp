// Which records reach the sink: those of a level, and those of operations up to a rate.

#include "client/runtime/event_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/read_clocks.h"

namespace sheaf::client::runtime {
namespace {

using namespace std::chrono_literals;

// Records of a sink whose tasks run at once.
struct Sink {
  Sink(LogLevel level, unsigned rate)
      : dispatcher([this](std::function<void()> task) { tasks.push_back(std::move(task)); }, {}),
        events({[this](const LogRecord& record) { records.push_back(record); }, level, rate, {}},
               "test", false, dispatcher) {}
  void record(LogLevel level, std::optional<Outcome> outcome, std::string text = {}) {
    LogRecord record;
    record.level = level;
    record.outcome = outcome;
    record.text = std::move(text);
    events.record(std::move(record));
    for (; !tasks.empty(); tasks.erase(tasks.begin())) tasks.front()();
  }

  std::vector<std::function<void()>> tasks;
  std::vector<LogRecord> records;
  Dispatcher dispatcher;
  EventForwarder events;
};

TEST(EventForwarder, RecordsHaveTheTimeAndThoseBelowTheLevelDoNotCome) {
  Sink sink(LogLevel::warning, 1'000);
  sink.record(LogLevel::info, std::nullopt);
  EXPECT_TRUE(sink.records.empty());
  sink.record(LogLevel::warning, Outcome::refused);
  sink.record(LogLevel::error, std::nullopt);
  ASSERT_EQ(sink.records.size(), 2u);
  const auto now = std::chrono::system_clock::time_point(read_clocks().wall);
  EXPECT_LE(sink.records[0].time, now);
  EXPECT_GT(sink.records[0].time, now - 1h);
}

TEST(EventForwarder, BeyondTheRateOperationsAreLeftOutAndCountedAndHealthComes) {
  Sink sink(LogLevel::info, 5);
  for (int i = 0; i < 1'000; ++i) sink.record(LogLevel::warning, Outcome::not_sent, "refused");
  // A new second may have begun meanwhile.
  EXPECT_GE(sink.records.size(), 5u);
  EXPECT_LE(sink.records.size(), 30u);
  const std::size_t before = sink.records.size();
  sink.record(LogLevel::error, std::nullopt, "down");
  ASSERT_EQ(sink.records.size(), before + 1);
  EXPECT_TRUE(sink.records.back().text.starts_with("down ("));
  EXPECT_TRUE(sink.records.back().text.ends_with(" records before this one were dropped)"));
}

TEST(EventForwarder, ARateOfNothingLeavesAllOperationsOut) {
  Sink sink(LogLevel::info, 0);
  sink.record(LogLevel::error, Outcome::unknown);
  EXPECT_TRUE(sink.records.empty());
}

}  // namespace
}  // namespace sheaf::client::runtime
