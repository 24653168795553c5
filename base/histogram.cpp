// Pure: no socket, clock, entropy, thread or callback.

#include "base/histogram.h"

#include <cmath>
#include <utility>

namespace sheaf {

LatencyHistogram Histogram::snapshot() const {
  LatencyHistogram out;
  out.count = count_;
  out.sum = sum_;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const auto bound = [](std::size_t index) {
      return std::chrono::nanoseconds(static_cast<std::int64_t>(lower_of(index)));
    };
    out.ranges.push_back({bound(i), bound(i + 1), counts_[i]});
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
