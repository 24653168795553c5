#pragma once

// The words of `bench` and `top`.
//
// Thread rule: pure functions and plain values.

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>

#include "cli/line/parser.h"

namespace sheaf::cli {

// The shape of a load.
struct BenchWords {
  std::uint32_t callers = 4;               // --callers: 1 .. 256 threads
  std::chrono::milliseconds time{10'000};  // --time: 100ms .. 24h
  std::uint64_t operations = 0;            // --count: ends after so many; 0 = by time
  std::uint32_t reads = 90;                // --reads: per cent of the operations
  std::uint64_t keys = 10'000;             // --keys: 1 .. 10,000,000
  std::uint64_t value_size = 100;          // --value-size: 0 .. 64 MiB
  std::uint32_t batch = 1;                 // --batch: keys of an operation, 1 .. 1,000
  std::uint64_t rate = 0;                  // --rate: operations a second; 0 = as fast as possible
};

struct TopWords {
  std::chrono::milliseconds interval{2'000};  // --interval: 100ms .. 1h
  std::uint64_t count = 0;                    // --count: how many times; 0 = until interrupted
};

// An error is one sentence.
std::expected<BenchWords, std::string> read_bench_words(const ParsedLine& line);
std::expected<TopWords, std::string> read_top_words(const ParsedLine& line);

}  // namespace sheaf::cli
