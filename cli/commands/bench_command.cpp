// bench: puts a load of the requested shape on keys of its own.

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "base/histogram.h"
#include "base/random.h"
#include "cli/commands/command.h"
#include "cli/line/load_words.h"
#include "cli/show/bench_report.h"
#include "cli/show/json_lines.h"
#include "cli/system/progress.h"

namespace sheaf::cli {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr Ttl kept{std::chrono::minutes(10)};  // keys that are left over expire
constexpr std::size_t part = 500;              // keys written or removed at once
constexpr std::chrono::milliseconds late{1};   // a start counts as late from here on

nanoseconds processor_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return nanoseconds(std::chrono::seconds(time.tv_sec)) +
           nanoseconds(std::chrono::microseconds(time.tv_usec));
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// What all callers share.
class Load {
 public:
  Load(Client& client, const BenchWords& shape, std::string prefix)
      : client_(client),
        shape_(shape),
        prefix_(std::move(prefix)),
        value_(static_cast<std::size_t>(shape_.value_size), 'x') {}

  // Starts the clock.
  void begin() {
    start_ = Clock::now();
    end_ = shape_.operations > 0 ? Clock::time_point::max() : start_ + shape_.time;
  }

  const BenchWords& shape() const noexcept { return shape_; }
  Client& client() const noexcept { return client_; }
  const std::string& value() const noexcept { return value_; }
  std::string key(std::uint64_t number) const { return prefix_ + std::to_string(number); }

  // When the next operation must begin, counted over all callers; nothing: the load is over.
  std::optional<Clock::time_point> next() {
    const std::uint64_t number = begun_.fetch_add(1, std::memory_order_relaxed);
    if (shape_.operations > 0 && number >= shape_.operations) return std::nullopt;
    const auto now = Clock::now();
    Clock::time_point at = now;
    if (shape_.rate > 0) {
      const double seconds = static_cast<double>(number) / static_cast<double>(shape_.rate);
      at = start_ +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    if (std::max(at, now) >= end_ || Interrupts::signal() != 0) return std::nullopt;
    return at;
  }
  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  // The time from the start to `end`.
  nanoseconds until(Clock::time_point end) const { return end - start_; }

 private:
  Client& client_;
  const BenchWords& shape_;
  const std::string prefix_;
  const std::string value_;
  Clock::time_point start_;
  Clock::time_point end_;
  std::atomic<std::uint64_t> begun_ = 0;
};

// The measurements of one caller.
class Measured {
 public:
  void ended(nanoseconds latency) { histogram_.record(latency); }
  void answered(bool hit) {
    ++counts_.keys;
    counts_.hits += hit ? 1 : 0;
  }
  void failed(const Error& error, std::string& first_error) {
    ++counts_.keys;
    ++counts_.failures[static_cast<std::size_t>(error.outcome)];
    if (first_error.empty()) first_error = sentence_of(error);
  }
  void add_to(BenchOperation& sum) const {
    sum.keys += counts_.keys;
    sum.hits += counts_.hits;
    for (std::size_t i = 0; i < sum.failures.size(); ++i) sum.failures[i] += counts_.failures[i];
    sum.latency.add(histogram_.snapshot());
  }

 private:
  BenchOperation counts_;
  Histogram histogram_;
};

class Caller {
 public:
  Caller(Load& load, const Seed& seed) : load_(load), random_(seed) {}

  void run() {
    while (const auto at = load_.next()) {
      if (load_.shape().rate > 0) hold_until(*at);
      const bool read = random_.below(100) < load_.shape().reads;
      Measured& measured = read ? reads_ : writes_;
      const bool done = load_.shape().batch > 1 ? many(read, measured) : one(read, measured);
      // With a rate, counted from the planned start: a delay by the operation before counts.
      ended_ = Clock::now();
      if (done) measured.ended(ended_ - *at);
    }
  }
  void add_to(BenchOperation& reads, BenchOperation& writes, BenchResult& result) const {
    reads_.add_to(reads);
    writes_.add_to(writes);
    result.late += late_;
    result.elapsed = std::max(result.elapsed, load_.until(ended_));
    if (result.first_error.empty()) result.first_error = first_error_;
  }

 private:
  void hold_until(Clock::time_point at) {
    const auto now = Clock::now();
    if (at > now) std::this_thread::sleep_until(at);
    if (now - at > late) ++late_;
  }

  std::string any_key() { return load_.key(random_.below(load_.shape().keys)); }

  bool one(bool read, Measured& measured) {
    const std::string key = any_key();
    if (read) {
      const auto got = load_.client().get(key);
      got ? measured.answered(got->has_value()) : measured.failed(got.error(), first_error_);
      return got.has_value();
    }
    const auto set = load_.client().set(key, load_.value(), {.ttl = kept});
    set ? measured.answered(true) : measured.failed(set.error(), first_error_);
    return set.has_value();
  }

  // True if at least one of the keys was answered.
  bool many(bool read, Measured& measured) {
    keys_.clear();
    for (std::uint32_t i = 0; i < load_.shape().batch; ++i) keys_.push_back(any_key());
    bool any = false;
    const auto take = [&](const auto& result, bool hit) {
      any = any || result.has_value();
      result ? measured.answered(hit) : measured.failed(result.error(), first_error_);
    };
    if (read) {
      const std::vector<std::string_view> views(keys_.begin(), keys_.end());
      for (const auto& [key, got] : load_.client().get_many(views)) take(got, got && *got);
    } else {
      std::vector<SetItem> items;
      for (const std::string& key : keys_) items.push_back({key, load_.value()});
      for (const auto& [key, set] : load_.client().set_many(items, {.ttl = kept})) take(set, true);
    }
    return any;
  }

  Load& load_;
  Random random_;
  Measured reads_;
  Measured writes_;
  std::uint64_t late_ = 0;
  Clock::time_point ended_;  // the end of its last operation
  std::string first_error_;
  std::vector<std::string> keys_;
};

// The load's keys from `first` on, as many as one request takes.
std::vector<std::string> part_of(const Load& load, std::uint64_t first, std::uint64_t end) {
  std::vector<std::string> names;
  for (std::uint64_t number = first; number < std::min(end, first + part); ++number)
    names.push_back(load.key(number));
  return names;
}

// Writes every key once, until a signal arrives. Stops at the first error. `filled` counts how many
// keys may exist.
std::optional<Error> fill(const Load& load, std::uint64_t& filled) {
  const std::uint64_t keys = load.shape().keys;
  while (filled < keys && Interrupts::signal() == 0) {
    const std::vector<std::string> names = part_of(load, filled, keys);
    filled += names.size();
    std::vector<SetItem> items;
    for (const std::string& name : names) items.push_back({name, load.value()});
    for (const auto& [key, set] : load.client().set_many(items, {.ttl = kept})) {
      if (!set) return set.error();
    }
  }
  return std::nullopt;
}

// Runs after a signal, too; a second one ends the program. Keys that cannot be removed expire.
void clean_up(const Load& load, std::uint64_t filled) {
  for (std::uint64_t first = 0; first < filled; first += part) {
    const std::vector<std::string> names = part_of(load, first, filled);
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (const auto& [key, removed] : load.client().remove_many(views)) {
      if (!removed) return;
    }
  }
}

// Shows progress while the callers work.
void wait_for(Load& load, const std::atomic<unsigned>& running) {
  Progress progress("operations", 0);
  while (running > 0) {
    ::poll(nullptr, 0, 50);
    progress.show(load.begun(), 0);
  }
}

BenchResult run_load(Load& load) {
  const nanoseconds before = processor_time();
  load.begin();
  Random random(entropy());
  std::vector<std::unique_ptr<Caller>> callers;
  for (std::uint32_t i = 0; i < load.shape().callers; ++i)
    callers.push_back(std::make_unique<Caller>(load, random.fork()));
  std::atomic<unsigned> running = load.shape().callers;
  {
    std::vector<std::jthread> threads;
    for (const auto& caller : callers) {
      threads.emplace_back([&running, &caller] {
        caller->run();
        --running;
      });
    }
    wait_for(load, running);
  }
  BenchResult result;
  result.processor = processor_time() - before;
  const bool batches = load.shape().batch > 1;
  BenchOperation reads{.name = batches ? "get_many" : "get"};
  BenchOperation writes{.name = batches ? "set_many" : "set"};
  for (const auto& caller : callers) caller->add_to(reads, writes, result);
  for (BenchOperation* const one : {&reads, &writes}) {
    if (one->keys > 0) result.operations.push_back(std::move(*one));
  }
  return result;
}

ExitCode run_bench(Context& context, const BenchWords& shape) {
  Random random(entropy());
  const std::string prefix = "sheaf-bench-" + random.hex(8) + ":";
  const Interrupts interrupts;
  Load load(context.client, shape, prefix);
  std::uint64_t filled = 0;
  if (const auto error = fill(load, filled)) {
    clean_up(load, filled);
    return complain_about(context, *error);
  }
  const BenchResult result = run_load(load);
  clean_up(load, filled);
  if (context.json()) {
    for (const BenchOperation& one : result.operations)
      context.out.line(json_bench(one, result.elapsed));
    context.out.line(json_bench_total(result));
  } else {
    context.out.write(bench_text(result));
  }
  if (result.failed() == 0) return ExitCode::done;
  complain(with_commas(result.failed()) + " of " + with_commas(result.keys()) +
           " keys failed; the first: " + result.first_error);
  return ExitCode::failed;
}

constexpr OptionRow bench_options[] = {
    {"--callers", "N", "calling threads, 1 to 256 (default 4)"},
    {"--time", "DURATION", "how long (default 10s)"},
    {"--count", "N", "stop after this many operations, whatever the time"},
    {"--reads", "PERCENT", "share of reads; the rest are writes (default 90)"},
    {"--keys", "N", "number of keys (default 10000)"},
    {"--value-size", "BYTES", "size of each value (default 100)"},
    {"--batch", "N", "keys of each operation (default 1)"},
    {"--rate", "N", "operations a second (default: as many as possible)"}};

}  // namespace

CommandRow bench_command() {
  return command<read_bench_words, run_bench>(
      {.name = "bench",
       .group = group::servers,
       .purpose = "put a load on the servers and measure it",
       .text = "It writes --keys keys of its own, whose names begin with sheaf-bench-, reads and "
               "writes them at random, and removes them at the end. Keys that it cannot remove "
               "expire after 10 minutes. With --rate a latency counts from the time at which the "
               "operation was due, so a delayed operation counts as slow. Ctrl-C ends it early.",
       .examples = {"sheaf bench --time 3s --callers 8",
                    "sheaf bench --rate 1000 --reads 50 --json"},
       .options = bench_options,
       .completion = completes_nothing});
}

}  // namespace sheaf::cli
