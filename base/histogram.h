#pragma once

// Histogram: counts durations in ranges whose width grows with the duration. Each doubling has 64
// ranges, so the middle of a range is within 0.8 % of every duration counted in it.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sheaf/metrics.h>

namespace sheaf {

class Histogram {
 public:
  // The first call allocates all counters; later calls do not allocate.
  void record(std::chrono::nanoseconds duration) {
    if (counts_.empty()) counts_.resize(ranges);
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
    ++counts_[index_of(std::min(value, largest))];
    sum_ += duration;
    ++count_;
  }
  std::uint64_t count() const noexcept { return count_; }
  LatencyHistogram snapshot() const;

  // For tests: the range that counts a value, and where a range begins.
  static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    if (value < per_octave) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - octave_bits - 1;
    return shift * per_octave + static_cast<std::size_t>(value >> shift);
  }
  static constexpr std::uint64_t lower_of(std::size_t index) noexcept {
    if (index < 2 * per_octave) return index;
    const std::size_t shift = index / per_octave - 1;
    return static_cast<std::uint64_t>(per_octave + index % per_octave) << shift;
  }

 private:
  static constexpr unsigned octave_bits = 6;
  static constexpr std::size_t per_octave = std::size_t{1} << octave_bits;
  static constexpr std::uint64_t largest = (std::uint64_t{1} << 42) - 1;  // ns: 73 minutes
  static constexpr std::size_t ranges = (42 - octave_bits) * per_octave + per_octave;

  std::vector<std::uint64_t> counts_;  // empty until something is recorded
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds sum_{0};
};

}  // namespace sheaf
