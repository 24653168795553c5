// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/clock.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"

namespace sheaf::protocol::statestore {
namespace {

using std::chrono::milliseconds;

// A wall clock before 1970 counts as 1970.
std::uint64_t since_epoch(milliseconds wall) noexcept {
  return wall.count() > 0 ? static_cast<std::uint64_t>(wall.count()) : 0;
}

char* print_number(char* out, std::uint64_t value, std::size_t width) noexcept {
  return std::ranges::copy(DecimalText(value, width).view(), out).out;
}

}  // namespace

std::optional<Timestamp> parse_timestamp(std::string_view text) noexcept {
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto wall = parse_decimal(text.substr(0, first));
  const auto counter = parse_decimal(text.substr(first + 1, second - first - 1));
  const std::string_view node = text.substr(second + 1);
  if (!wall || !counter) return std::nullopt;
  if (node.empty() || node.size() > max_node_size || node.contains(':')) return std::nullopt;
  return Timestamp{*wall, *counter, node};
}

VersionOrder compare_versions(std::string_view a, std::string_view b) noexcept {
  const auto left = parse_timestamp(a);
  const auto right = parse_timestamp(b);
  if (!left || !right) return VersionOrder::unknown;
  if (*left == *right) return VersionOrder::same;
  return *left < *right ? VersionOrder::older : VersionOrder::newer;
}

bool too_far_ahead(const Timestamp& timestamp, milliseconds wall) noexcept {
  const std::uint64_t here = since_epoch(wall);
  return timestamp.wall > here &&
         timestamp.wall - here > static_cast<std::uint64_t>(max_drift.count());
}

TimestampText::TimestampText(const Timestamp& timestamp, TimestampForm form) noexcept {
  const bool padded = form == TimestampForm::padded;
  char* at = print_number(text_.data(), timestamp.wall, padded ? 15 : 1);
  *at++ = ':';
  at = print_number(at, timestamp.counter, padded ? 5 : 1);
  *at++ = ':';
  const std::string_view node = timestamp.node.substr(0, max_node_size);
  at = std::ranges::copy(node, at).out;
  size_ = static_cast<std::size_t>(at - text_.data());
}

HybridClock::HybridClock(std::string node) : node_(std::move(node)) {
  if (node_.size() > max_node_size) node_.resize(max_node_size);
}

std::expected<Timestamp, HybridClock::Error> HybridClock::tick(milliseconds wall) noexcept {
  if (const auto moved = advance({}, wall); !moved) return std::unexpected(moved.error());
  return last();
}

std::expected<void, HybridClock::Error> HybridClock::observe(const Timestamp& remote,
                                                             milliseconds wall) noexcept {
  if (remote.node == node_) return {};
  return advance({remote.wall, remote.counter}, wall);
}

std::expected<Timestamp, HybridClock::Error> HybridClock::tick_after(const Timestamp& remote,
                                                                     milliseconds wall) noexcept {
  const auto moved = advance({remote.wall, remote.counter}, wall);
  if (!moved) return std::unexpected(moved.error());
  return last();
}

void HybridClock::resume(const Timestamp& earlier) noexcept {
  if (std::pair(earlier.wall, earlier.counter) <= std::pair(last_.wall, last_.counter)) return;
  last_ = {earlier.wall, earlier.counter};
}

bool HybridClock::can_tick_after(const Timestamp& remote, milliseconds wall) const noexcept {
  return next({remote.wall, remote.counter}, wall).has_value();
}

// docs/wire/statestore.md, "Update". A counter that would leave the range that all clients read
// advances the wall part by a millisecond instead of failing: still greater than both, and legal.
std::expected<HybridClock::Point, HybridClock::Error> HybridClock::next(
    Point remote, milliseconds wall) const noexcept {
  const std::uint64_t here = since_epoch(wall);
  if (here > last_.wall && here > remote.wall) return Point{here, 0};
  const Point newer = std::pair(last_.wall, last_.counter) > std::pair(remote.wall, remote.counter)
                          ? last_
                          : remote;
  if (newer.wall == std::numeric_limits<std::uint64_t>::max()) {
    return std::unexpected(Error::too_far_ahead);
  }
  const Point point =
      newer.counter < max_counter ? Point{newer.wall, newer.counter + 1} : Point{newer.wall + 1, 0};
  if (too_far_ahead({point.wall, point.counter, {}}, wall)) {
    return std::unexpected(Error::too_far_ahead);
  }
  return point;
}

std::expected<void, HybridClock::Error> HybridClock::advance(Point remote,
                                                             milliseconds wall) noexcept {
  const auto point = next(remote, wall);
  if (!point) return std::unexpected(point.error());
  last_ = *point;
  return {};
}

}  // namespace sheaf::protocol::statestore
