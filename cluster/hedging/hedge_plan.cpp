// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/hedging/hedge_plan.h"

#include <algorithm>
#include <limits>

namespace sheaf::cluster {
namespace {

using Microseconds = std::chrono::microseconds;

std::uint32_t sample_of(HedgePlan::Duration took) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto count = std::chrono::ceil<Microseconds>(took).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, most));
}

}  // namespace

void HedgePlan::on_answer(Duration took) noexcept {
  samples_[seen_ % kept] = sample_of(took);
  ++seen_;
  if (seen_ >= fewest && seen_ % interval == 0) learn();
}

void HedgePlan::learn() noexcept {
  auto sorted = samples_;
  const auto count = static_cast<std::ptrdiff_t>(std::min(seen_, kept));
  const auto end = sorted.begin() + count;
  const auto high = sorted.begin() + count * 95 / 100;
  std::nth_element(sorted.begin(), high, end);
  const auto median = sorted.begin() + count / 2;
  std::nth_element(sorted.begin(), median, high);
  delay_ = std::max<Duration>({floor, Microseconds(*high), 2 * Microseconds(*median)});
}

HedgePlan::Duration HedgePlan::median_of_latest() const noexcept {
  std::array<std::uint32_t, latest> some;
  for (std::size_t i = 0; i < latest; ++i) some[i] = samples_[(seen_ - 1 - i) % kept];
  const auto median = some.begin() + latest / 2;
  std::nth_element(some.begin(), median, some.end());
  return Microseconds(*median);
}

bool HedgePlan::decide(Duration waited, Duration expected) noexcept {
  const unsigned needed = waited < 8 * delay_ ? 1 + reserve : 1;
  if (seen_ < fewest || credit_ < needed * reads_per_token) return false;
  if (expected >= waited || 2 * median_of_latest() > waited) return false;
  credit_ -= reads_per_token;
  return true;
}

}  // namespace sheaf::cluster
