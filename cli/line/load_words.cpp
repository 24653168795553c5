#include "cli/line/load_words.h"

#include "cli/line/option_reader.h"

namespace sheaf::cli {

using std::chrono::milliseconds;

std::expected<BenchWords, std::string> read_bench_words(const ParsedLine& line) {
  constexpr std::uint64_t most_operations = 1'000'000'000'000;
  BenchWords bench;
  OptionReader reader(line);
  reader.number("--callers", 1, 256, bench.callers);
  reader.time("--time", milliseconds(100), std::chrono::hours(24), bench.time);
  reader.number("--count", 1, most_operations, bench.operations);
  reader.number("--reads", 0, 100, bench.reads);
  reader.number("--keys", 1, 10'000'000, bench.keys);
  reader.number("--value-size", 0, 64u << 20, bench.value_size);
  reader.number("--batch", 1, 1'000, bench.batch);
  reader.number("--rate", 1, 10'000'000, bench.rate);
  if (line.has("--count") && line.has("--time"))
    return std::unexpected("--count and --time are both given: give only one of them.");
  return reader.take(bench);
}

std::expected<TopWords, std::string> read_top_words(const ParsedLine& line) {
  TopWords top;
  OptionReader reader(line);
  reader.time("--interval", milliseconds(100), std::chrono::hours(1), top.interval);
  reader.number("--count", 1, 1'000'000'000, top.count);
  return reader.take(top);
}

}  // namespace sheaf::cli
