// top and bench: their arguments, what they compute from samples and measurements, and their
// output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "cli/line/load_words.h"
#include "cli/show/bench_report.h"
#include "cli/show/text_table.h"
#include "cli/show/top_frame.h"
#include "tests/cli/command_lines.h"

namespace sheaf::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Load, ArgumentsHaveLimitsThatTheSentenceNames) {
  const auto bench = parsed<BenchWords>({"bench", "--callers", "8", "--time", "3s", "--reads", "50",
                                         "--batch", "100", "--rate", "1000"});
  EXPECT_EQ(bench.callers, 8u);
  EXPECT_EQ(bench.time, 3s);
  EXPECT_EQ(bench.reads, 50u);
  EXPECT_EQ(bench.batch, 100u);
  EXPECT_EQ(bench.rate, 1'000u);
  EXPECT_EQ(refusal_of({"bench", "--reads", "101"}),
            "--reads is \"101\", not a number from 0 to 100.");
  EXPECT_EQ(refusal_of({"bench", "--callers", "0"}),
            "--callers is \"0\", not a number from 1 to 256.");
  EXPECT_EQ(refusal_of({"bench", "--time", "1ms"}),
            "--time is \"1ms\", not 100ms to 24h, an integer followed by ms, s, m or h.");
  EXPECT_EQ(refusal_of({"bench", "--time", "1s", "--count", "5"}),
            "--count and --time are both given: give only one of them.");
  EXPECT_EQ(parsed<TopWords>({"top", "--interval", "500ms"}).interval, 500ms);
  EXPECT_EQ(refusal_of({"top", "--interval", "2"}),
            "--interval is \"2\", not 100ms to 1h, an integer followed by ms, s, m or h.");
  EXPECT_EQ(refusal_of({"top", "--count", "x"}),
            "--count is \"x\", not a number from 1 to 1000000000.");
}

TopSample memcached(const std::string& node, std::uint64_t gets, std::uint64_t hits) {
  TopSample sample;
  sample.node = node;
  sample.health = NodeHealth::up;
  sample.round_trip = 120us;
  read_stats("pid 7\ncmd_get " + std::to_string(gets) + "\ncmd_set 10\nget_hits " +
                 std::to_string(hits) + "\nget_misses " + std::to_string(gets - hits) +
                 "\ncurr_items 1234\nbytes 5000000\ncurr_connections 12\nevictions 3\n",
             sample);
  return sample;
}

TEST(Top, RatesAreWhatCountersHaveGrownBy) {
  const auto rows =
      top_rows({memcached("c1:11211", 1'000, 900)}, {memcached("c1:11211", 3'000, 2'400)}, 2s);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_DOUBLE_EQ(*rows[0].operations, 1'000);
  EXPECT_DOUBLE_EQ(*rows[0].reads, 1'000);
  EXPECT_DOUBLE_EQ(*rows[0].hit_share, 0.75);
  EXPECT_DOUBLE_EQ(*rows[0].evictions, 0);
  EXPECT_EQ(rows[0].now.keys, 1'234u);
  EXPECT_EQ(rows[0].now.bytes, 5'000'000u);
  EXPECT_FALSE(rows[0].restarted);
}

TEST(Top, InfoOfARedisIsReadToo) {
  TopSample sample;
  read_stats(
      "redis_version 7.0.15\ntotal_commands_processed 77\nkeyspace_hits 5\nkeyspace_misses 6\n"
      "used_memory 2048\nconnected_clients 3\nevicted_keys 1\n"
      "db0 keys=42,expires=1,avg_ttl=0\n",
      sample);
  EXPECT_EQ(sample.operations, 77u);
  EXPECT_EQ(sample.hits, 5u);
  EXPECT_EQ(sample.misses, 6u);
  EXPECT_EQ(sample.bytes, 2'048u);
  EXPECT_EQ(sample.connections, 3u);
  EXPECT_EQ(sample.evictions, 1u);
  EXPECT_EQ(sample.keys, 42u);
}

TEST(Top, AServerThatWasStartedAgainHasNoRateUntilTheNextLook) {
  const auto rows =
      top_rows({memcached("c1:11211", 3'000, 10)}, {memcached("c1:11211", 20, 10)}, 2s);
  EXPECT_TRUE(rows[0].restarted);
  EXPECT_FALSE(rows[0].operations);
  EXPECT_THAT(top_frame(rows, {}), HasSubstr("restarted"));
}

TEST(Top, ANodeThatIsNewOrSilentHasNoRate) {
  TopSample silent;
  silent.node = "c2:11211";
  silent.health = NodeHealth::down;
  const auto rows =
      top_rows({memcached("c2:11211", 5, 5)}, {memcached("c1:11211", 9, 9), silent}, 2s);
  EXPECT_FALSE(rows[0].operations);
  EXPECT_FALSE(rows[1].operations);
  EXPECT_FALSE(rows[1].restarted);
  EXPECT_FALSE(top_rows({}, {memcached("c1:11211", 9, 9)}, 0s)[0].operations);
}

TEST(Top, AFrameFitsTheTerminalAndShowsWhatIsDownFirst) {
  std::vector<TopSample> before;
  std::vector<TopSample> now;
  for (int i = 0; i < 40; ++i) {
    const std::string node = "a-very-long-name-of-a-host-" + std::to_string(i) + ":11211";
    before.push_back(memcached(node, 1'000, 900));
    now.push_back(memcached(node, 3'000'000, 2'900'900));
  }
  now.back().health = NodeHealth::down;
  const std::string frame = top_frame(top_rows(before, now, 2s), {});
  const auto lines = lines_of(frame);
  EXPECT_LE(lines.size(), 24u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(lines[0], HasSubstr("40 nodes, 1 down"));
  EXPECT_THAT(lines[0], HasSubstr("every 2s, q ends"));
  EXPECT_THAT(lines[3], HasSubstr("host-39:11211"));
  EXPECT_THAT(lines[3], HasSubstr("down"));
  EXPECT_EQ(lines.back(), "and 21 more nodes");
}

TEST(Top, AFrameOfAFewNodesLooksLikeThis) {
  const auto rows =
      top_rows({memcached("c1:11211", 1'000, 900), memcached("c2:11211", 0, 0)},
               {memcached("c1:11211", 3'000, 2'400), memcached("c2:11211", 200, 200)}, 2s);
  EXPECT_EQ(top_frame(rows, {}),
            "2 nodes, none down   1.10 k ops/s   77.3 % hits                 every 2s, q ends\n"
            "\n"
            "NODE      HEALTH    PING   OPS/S     HITS    KEYS    MEMORY  CONNS\n"
            "c1:11211  up      120 us  1.00 k   75.0 %  1.23 k  4.77 MiB     12\n"
            "c2:11211  up      120 us     100  100.0 %  1.23 k  4.77 MiB     12\n"
            "all                    -  1.10 k   77.3 %  2.47 k  9.54 MiB     24");
}

TEST(Top, ALineHasWhatIsKnown) {
  const auto rows =
      top_rows({memcached("c1:11211", 1'000, 900)}, {memcached("c1:11211", 3'000, 2'400)}, 2s);
  EXPECT_EQ(top_line(rows[0], std::chrono::system_clock::time_point(1'000'007ms)),
            "time=1970-01-01T00:16:40.007Z node=c1:11211 health=up ping_ms=0.120 ops=1000.0 "
            "reads=1000.0 hits=0.7500 evictions=0.0 keys=1234 bytes=5000000 connections=12");
  TopSample silent;
  silent.node = "b1:1883";
  EXPECT_EQ(top_line(top_rows({}, {silent}, 0s)[0], std::chrono::system_clock::time_point()),
            "time=1970-01-01T00:00:00.000Z node=b1:1883 health=connecting");
}

TEST(Top, NumbersAreShort) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(999.6), "1.00 k");
  EXPECT_EQ(short_count(12'345), "12.3 k");
  EXPECT_EQ(short_count(999'700), "1.00 M");
  EXPECT_EQ(short_size(17), "17 B");
  EXPECT_EQ(short_size(1'536), "1.50 KiB");
  EXPECT_EQ(short_size(64u << 20), "64.0 MiB");
}

BenchOperation measured(const char* name, std::initializer_list<std::chrono::nanoseconds> times) {
  Histogram histogram;
  for (const auto time : times) histogram.record(time);
  BenchOperation operation;
  operation.name = name;
  operation.keys = operation.hits = histogram.count();
  operation.latency = histogram.snapshot();
  return operation;
}

TEST(Bench, AHistogramHasALineForEachDoublingAlsoTheEmptyOnes) {
  const auto lines = lines_of(histogram_text(measured("get", {10us, 11us, 12us, 100us}).latency));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[1], HasSubstr("below 16 us"));
  EXPECT_THAT(lines[1], HasSubstr("  3  " + std::string(48, '#')));
  EXPECT_THAT(lines[2], Not(HasSubstr("#")));
  EXPECT_THAT(lines[4], HasSubstr("  1  " + std::string(16, '#')));
  EXPECT_EQ(histogram_text({}), "");
}

TEST(Bench, TheReportFitsTheTerminalAndNamesFailures) {
  BenchResult result;
  result.elapsed = 2s;
  result.processor = 4ms;
  result.operations.push_back(measured("get", {10us, 11us, 12us, 100us}));
  result.operations.back().failures[static_cast<std::size_t>(Outcome::not_sent)] = 3;
  result.operations.push_back(measured("set", {1ms, 100ms}));
  result.late = 5;
  const std::string text = bench_text(result);
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(text, HasSubstr("6 keys in 2.00 s, 3 a second"));
  EXPECT_THAT(text, HasSubstr("100.00 % of the reads were hits"));
  EXPECT_THAT(text, HasSubstr("get: 3 not sent"));
  EXPECT_THAT(text, HasSubstr("5 operations started late"));
  EXPECT_EQ(result.failed(), 3u);
}

}  // namespace
}  // namespace sheaf::cli
