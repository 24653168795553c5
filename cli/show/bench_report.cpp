#include "cli/show/bench_report.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "base/text.h"
#include "cli/show/text_table.h"
#include "cli/system/progress.h"

namespace sheaf::cli {

namespace {

constexpr std::size_t bar_width = 48;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string rate_text(std::uint64_t count, std::chrono::nanoseconds elapsed) {
  return elapsed.count() <= 0 ? "-" : short_count(static_cast<double>(count) / seconds(elapsed));
}

// "3 not sent, 1 unknown"
std::string failures_text(const BenchOperation& operation) {
  std::string text;
  for (std::size_t i = 0; i < operation.failures.size(); ++i) {
    if (operation.failures[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + with_commas(operation.failures[i]) + " ";
    text += to_string(static_cast<Outcome>(i));
  }
  return text;
}

std::string totals_text(const BenchResult& result) {
  const std::uint64_t keys = result.keys();
  std::string text = with_commas(keys) + " keys in " + format_elapsed(result.elapsed) + ", " +
                     rate_text(keys, result.elapsed) + " a second";
  if (keys > 0) {
    const auto each = result.processor / static_cast<std::int64_t>(keys);
    text += ", " + format_elapsed(each) + " of processor time for each key";
  }
  return text + "\n";
}

// The power of two at or below it, in nanoseconds: 2^n to 2^(n+1).
unsigned octave_of(std::chrono::nanoseconds time) {
  return static_cast<unsigned>(
             std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 1)))) -
         1;
}

}  // namespace

std::uint64_t BenchOperation::failed() const noexcept {
  return std::accumulate(failures.begin(), failures.end(), std::uint64_t{0});
}

std::uint64_t BenchResult::keys() const noexcept {
  std::uint64_t sum = 0;
  for (const BenchOperation& operation : operations) sum += operation.keys;
  return sum;
}

std::uint64_t BenchResult::failed() const noexcept {
  std::uint64_t sum = 0;
  for (const BenchOperation& operation : operations) sum += operation.failed();
  return sum;
}

std::string histogram_text(const LatencyHistogram& latency) {
  std::map<unsigned, std::uint64_t> counts;
  for (const auto& range : latency.ranges) counts[octave_of(range.lower)] += range.count;
  if (counts.empty()) return "";
  std::uint64_t most = 1;
  for (const auto& [octave, count] : counts) most = std::max(most, count);
  std::vector<Row> rows;
  for (unsigned octave = counts.begin()->first; octave <= counts.rbegin()->first; ++octave) {
    const std::uint64_t count = counts.contains(octave) ? counts[octave] : 0;
    rows.push_back({{"below " + format_elapsed(std::chrono::nanoseconds(std::int64_t{2} << octave)),
                     with_commas(count),
                     bar(static_cast<double>(count), static_cast<double>(most), bar_width)}});
  }
  return text_table({{"LATENCY", true}, {"COUNT", true}, {""}}, rows);
}

std::string bench_text(const BenchResult& result) {
  std::vector<Row> rows;
  for (const BenchOperation& one : result.operations) {
    const auto below = [&](double q) {
      return one.latency.count == 0 ? "-" : format_elapsed(one.latency.quantile(q));
    };
    rows.push_back(
        {{one.name, with_commas(one.latency.count), rate_text(one.latency.count, result.elapsed),
          below(0.5), below(0.9), below(0.99), below(0.999), below(1)},
         one.failed() > 0});
  }
  std::string text = text_table({{"OPERATION"},
                                 {"COUNT", true},
                                 {"A SECOND", true},
                                 {"MEDIAN", true},
                                 {"90 %", true},
                                 {"99 %", true},
                                 {"99.9 %", true},
                                 {"MAX", true}},
                                rows);
  for (const BenchOperation& one : result.operations)
    text += "\n" + one.name + "\n" + histogram_text(one.latency);
  text += "\n" + totals_text(result);
  for (const BenchOperation& one : result.operations) {
    if (one.name.starts_with("get") && one.keys > 0) {
      text += percent(static_cast<double>(one.hits) / static_cast<double>(one.keys)) +
              " of the reads were hits\n";
    }
    if (one.failed() > 0) text += one.name + ": " + failures_text(one) + "\n";
  }
  if (result.late > 0)
    text +=
        with_commas(result.late) + " operations started late: the target rate was not reached\n";
  return text;
}

}  // namespace sheaf::cli
