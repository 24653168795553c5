// Pure: no socket, clock, entropy, thread or callback.

#include "store/durable/commit_plan.h"

#include <algorithm>
#include <utility>

namespace sheaf::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_hold{10};
constexpr milliseconds retry_after{1'000};
constexpr milliseconds least_lead{1'000};  // of the ceiling, added to two intervals

}  // namespace

void CommitPlan::note(bool unsaved, Deadline now) noexcept {
  if (unsaved && !unsaved_since_) unsaved_since_ = now;
}

bool CommitPlan::beyond_ceiling(const Timestamp& clock) const noexcept {
  return std::pair(clock.wall, clock.counter) > std::pair(ceiling_.wall, ceiling_.counter);
}

bool CommitPlan::may_tell(const Timestamp& clock) const noexcept {
  if (broken()) return true;  // a frozen store reveals nothing that is unsaved
  return acknowledged() ? !unsaved_since_ : !beyond_ceiling(clock);
}

bool CommitPlan::due(const Timestamp& clock, Deadline now, bool more) const noexcept {
  if (!unsaved_since_) return false;
  if (retry_at_) return now >= *retry_at_;
  const std::chrono::nanoseconds age = now - *unsaved_since_;
  if (acknowledged()) return !more || age >= hold_;
  return beyond_ceiling(clock) || age >= interval_;
}

std::optional<Deadline> CommitPlan::next() const noexcept {
  if (!unsaved_since_) return std::nullopt;
  if (retry_at_) return retry_at_;
  return *unsaved_since_ + interval_;
}

CommitPlan::Timestamp CommitPlan::promise(const Timestamp& clock,
                                          milliseconds wall) const noexcept {
  if (acknowledged() && all_saved_) return {clock.wall, clock.counter, {}};
  // The lead counts from the wall clock: from the store's own clock, which resumes at the ceiling,
  // it would grow with each restart.
  const auto here = static_cast<std::uint64_t>(std::max<std::int64_t>(0, wall.count()));
  const auto lead = static_cast<std::uint64_t>((2 * interval_ + least_lead).count());
  return {std::max(clock.wall + 1, here + lead), 0, {}};
}

void CommitPlan::committed(const Timestamp& promised, std::chrono::nanoseconds took) noexcept {
  ceiling_ = promised;
  hold_ = std::clamp<std::chrono::nanoseconds>(took, std::chrono::nanoseconds(0), longest_hold);
  unsaved_since_.reset();
  retry_at_.reset();
}

void CommitPlan::failed(Deadline now) noexcept { retry_at_ = now + retry_after; }

}  // namespace sheaf::store
