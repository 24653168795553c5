#pragma once

// The results of `bench`, and how they are shown.
//
// Thread rule: plain values and pure functions.

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/metrics.h>
#include <sheaf/result.h>

namespace sheaf::cli {

// One kind of operation: "get", "set", "get_many", "set_many".
struct BenchOperation {
  std::string name;
  std::uint64_t keys = 0;                   // read or written
  std::uint64_t hits = 0;                   // among the reads
  std::array<std::uint64_t, 7> failures{};  // keys, by Outcome
  LatencyHistogram latency{};               // of operations that did not fail as a whole

  std::uint64_t failed() const noexcept;
};

struct BenchResult {
  std::vector<BenchOperation> operations;  // only those that were run
  std::chrono::nanoseconds elapsed{0};     // until the last operation of the load ended
  std::chrono::nanoseconds processor{0};   // time of the whole process meanwhile
  std::string first_error;                 // a sentence; empty: nothing failed
  std::uint64_t late = 0;                  // with a rate: operations that began over 1 ms late

  std::uint64_t keys() const noexcept;
  std::uint64_t failed() const noexcept;
};

// A table, and a histogram of each operation, at most 80 columns wide.
std::string bench_text(const BenchResult& result);
// The histogram alone: one line for each doubling of the latency, with a bar of '#'.
std::string histogram_text(const LatencyHistogram& latency);

}  // namespace sheaf::cli
