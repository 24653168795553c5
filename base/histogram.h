#pragma once

// Histogram: counts durations in ranges whose width grows with the duration. Each doubling has 64
// ranges, so the middle of a range is within 0.8 % of every duration counted in it.
//
// The durations of one kind of work are in few of the 2,368 ranges. So counters are made for a
// block of 16 ranges at a time, when one of them first counts. All of a block have 1, 2, 4 or 8
// bytes, as its largest needs.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <sheaf/metrics.h>

namespace sheaf {

class Histogram {
 public:
  // Allocates if no duration was near this one before, or too many for the block's counters were.
  void record(std::chrono::nanoseconds duration, std::uint32_t times = 1) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
    const std::size_t index = index_of(std::min(value, largest));
    while (!add(index, times)) widen(index / block_size);
    sum_ += duration * times;
    count_ += times;
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
  static constexpr std::size_t block_size = 16;
  static constexpr std::size_t blocks = ranges / block_size;
  static_assert(ranges % block_size == 0);

  // Where the counters of a block are.
  struct Place {
    std::uint16_t at : 12 = 0;    // in counters_, in steps of block_size
    std::uint16_t width : 4 = 0;  // bytes of a counter; 0: the block has none
  };

  std::size_t offset_of(std::size_t index) const noexcept {
    const Place place = places_[index / block_size];
    return place.at * block_size + index % block_size * place.width;
  }
  // False if the counter has too few bytes.
  bool add(std::size_t index, std::uint64_t times) noexcept {
    std::uint8_t* const counter = counters_.data() + offset_of(index);
    switch (places_[index / block_size].width) {
      case 1:
        return add_to<std::uint8_t>(counter, times);
      case 2:
        return add_to<std::uint16_t>(counter, times);
      case 4:
        return add_to<std::uint32_t>(counter, times);
      case 8:
        return add_to<std::uint64_t>(counter, times);
      default:
        return false;
    }
  }
  template <class Count>
  static bool add_to(std::uint8_t* counter, std::uint64_t times) noexcept {
    Count count = 0;
    std::memcpy(&count, counter, sizeof count);
    if (times > std::uint64_t{std::numeric_limits<Count>::max()} - count) return false;
    count = static_cast<Count>(count + times);
    std::memcpy(counter, &count, sizeof count);
    return true;
  }
  void widen(std::size_t block);
  std::uint64_t count_of(std::size_t index) const noexcept;

  std::array<Place, blocks> places_{};
  std::vector<std::uint8_t> counters_;  // exactly as many as needed
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds sum_{0};
};

}  // namespace sheaf
