#include "cli/line/load_words.h"

#include "base/text.h"

namespace sheaf::cli {

namespace {

using std::chrono::milliseconds;

// Reads options into their places; the first that is wrong ends it.
class Reader {
 public:
  explicit Reader(const ParsedLine& line) : line_(line) {}

  template <class Number>
  void number(const char* option, std::uint64_t least, std::uint64_t most, Number& out) {
    if (!line_.has(option) || !wrong_.empty()) return;
    const auto given = parse_decimal(line_.value(option));
    if (given && *given >= least && *given <= most) {
      out = static_cast<Number>(*given);
    } else {
      wrong_ = std::string(option) + " must be a number from " + std::to_string(least) + " to " +
               std::to_string(most) + ".";
    }
  }
  void time(const char* option, milliseconds least, milliseconds most, milliseconds& out) {
    if (!line_.has(option) || !wrong_.empty()) return;
    const auto given = parse_duration(line_.value(option));
    if (given && *given >= least && *given <= most) {
      out = *given;
    } else {
      wrong_ = std::string(option) + " must be " + format_duration(least) + " to " +
               format_duration(most) + ", an integer and ms, s, m or h.";
    }
  }
  template <class Arguments>
  std::expected<Arguments, std::string> take(const Arguments& arguments) const {
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return arguments;
  }

 private:
  const ParsedLine& line_;
  std::string wrong_;
};

}  // namespace

std::expected<BenchArguments, std::string> read_bench_words(const ParsedLine& line) {
  constexpr std::uint64_t most_operations = 1'000'000'000'000;
  BenchArguments bench;
  Reader reader(line);
  reader.number("--callers", 1, 256, bench.callers);
  reader.time("--time", milliseconds(100), std::chrono::hours(24), bench.time);
  reader.number("--count", 1, most_operations, bench.operations);
  reader.number("--reads", 0, 100, bench.reads);
  reader.number("--keys", 1, 10'000'000, bench.keys);
  reader.number("--value-size", 0, 64u << 20, bench.value_size);
  reader.number("--batch", 1, 1'000, bench.batch);
  reader.number("--rate", 1, 10'000'000, bench.rate);
  if (line.has("--count") && line.has("--time"))
    return std::unexpected("--count and --time are both given: one of them ends the load.");
  return reader.take(bench);
}

std::expected<TopArguments, std::string> read_top_words(const ParsedLine& line) {
  TopArguments top;
  Reader reader(line);
  reader.time("--interval", milliseconds(100), std::chrono::hours(1), top.interval);
  reader.number("--count", 1, 1'000'000'000, top.count);
  return reader.take(top);
}

}  // namespace sheaf::cli
