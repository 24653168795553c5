// Pure: no socket, clock, entropy, thread or callback.

#include "base/histogram.h"

#include <cmath>
#include <utility>

namespace sheaf {

std::uint64_t Histogram::count_of(std::size_t index) const noexcept {
  const std::uint8_t* const counter = counters_.data() + offset_of(index);
  const auto read = [counter](auto count) {
    std::memcpy(&count, counter, sizeof count);
    return std::uint64_t{count};
  };
  switch (places_[index / block_size].width) {
    case 1:
      return read(std::uint8_t{});
    case 2:
      return read(std::uint16_t{});
    case 4:
      return read(std::uint32_t{});
    case 8:
      return read(std::uint64_t{});
    default:
      return 0;
  }
}

// Moves all counters. That is rare: at most four times for a block.
void Histogram::widen(std::size_t block) {
  Histogram wider;
  std::size_t size = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const unsigned width = places_[i].width;
    const unsigned wanted = i != block ? width : width == 0 ? 1 : 2 * width;
    if (wanted == 0) continue;
    wider.places_[i].at = static_cast<std::uint16_t>(size / block_size) & 0xFFF;
    wider.places_[i].width = static_cast<std::uint16_t>(wanted) & 0xF;
    size += wanted * block_size;
  }
  wider.counters_.resize(size);
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t first = i * block_size;
    if (i != block) {
      const auto from = counters_.begin() + static_cast<std::ptrdiff_t>(offset_of(first));
      std::copy_n(from, places_[i].width * block_size,
                  wider.counters_.begin() + static_cast<std::ptrdiff_t>(wider.offset_of(first)));
      continue;
    }
    for (std::size_t at = first; at < first + block_size; ++at) wider.add(at, count_of(at));
  }
  places_ = wider.places_;
  counters_ = std::move(wider.counters_);
}

LatencyHistogram Histogram::snapshot() const {
  LatencyHistogram out;
  out.count = count_;
  out.sum = sum_;
  for (std::size_t i = 0; i < ranges; ++i) {
    const std::uint64_t count = count_of(i);
    if (count == 0) continue;
    const auto bound = [](std::size_t index) {
      return std::chrono::nanoseconds(static_cast<std::int64_t>(lower_of(index)));
    };
    out.ranges.push_back({bound(i), bound(i + 1), count});
  }
  return out;
}

inline namespace v0 {

std::chrono::nanoseconds LatencyHistogram::quantile(double q) const {
  if (count == 0) return {};
  const double share = std::clamp(q, 0.0, 1.0);
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count)));
  std::uint64_t seen = 0;
  for (const Range& range : ranges) {
    seen += range.count;
    if (seen >= std::max<std::uint64_t>(wanted, 1)) return (range.lower + range.upper) / 2;
  }
  return (ranges.back().lower + ranges.back().upper) / 2;
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  count += other.count;
  sum += other.sum;
  std::vector<Range> merged;
  merged.reserve(ranges.size() + other.ranges.size());
  auto here = ranges.begin();
  for (const Range& range : other.ranges) {
    while (here != ranges.end() && here->lower < range.lower) merged.push_back(*here++);
    merged.push_back(range);
    if (here != ranges.end() && here->lower == range.lower) merged.back().count += here++->count;
  }
  merged.insert(merged.end(), here, ranges.end());
  ranges = std::move(merged);
}

}  // namespace v0
}  // namespace sheaf
