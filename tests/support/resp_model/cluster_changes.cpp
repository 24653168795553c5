// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/cluster_changes.h"

#include <algorithm>
#include <optional>

namespace sheaf::test::resp_model {
namespace {

constexpr std::chrono::nanoseconds shortest_step = std::chrono::microseconds(1);

// The longest run of slots that the node claims.
std::optional<SlotRange> longest_range(const ClusterView& view) {
  std::optional<SlotRange> longest;
  std::size_t begin = 0;
  for (std::size_t slot = 0; slot <= protocol::resp::slot_count; ++slot) {
    const bool own =
        slot < protocol::resp::slot_count && view.owner(static_cast<Slot>(slot)) == view.self();
    if (own) continue;
    if (slot > begin && (!longest || slot - begin > longest->last + 1u - longest->first)) {
      longest = SlotRange{static_cast<Slot>(begin), static_cast<Slot>(slot - 1)};
    }
    begin = slot + 1;
  }
  return longest;
}

}  // namespace

void ClusterChanges::add(State first, SlotRange slots, NodeNumber source, NodeNumber target,
                         ChangePace pace, Deadline now) {
  changes_.push_back({first, slots, source, target, pace, now});
  tick(now);
}

void ClusterChanges::migrate(SlotRange slots, NodeNumber source, NodeNumber target, ChangePace pace,
                             Deadline now) {
  add(State::importing, slots, source, target, pace, now);
}
void ClusterChanges::flip(SlotRange slots, NodeNumber source, NodeNumber target, ChangePace pace,
                          Deadline now) {
  add(State::giving, slots, source, target, pace, now);
}
void ClusterChanges::fail_over(NodeNumber replica, ChangePace pace, Deadline now) {
  const NodeNumber primary = cluster_.node(replica).view.own().primary;
  add(State::yielding, {}, primary, replica, pace, now);
}

void ClusterChanges::share(const std::vector<NodeNumber>& newcomers, bool all_at_once,
                           ChangePace pace, Deadline now) {
  auto newcomer = newcomers.begin();
  for (NodeNumber number = 0; number < cluster_.size(); ++number) {
    const auto range = longest_range(cluster_.node(number).view);
    if (newcomer == newcomers.end() || !range || range->first == range->last) continue;
    const SlotRange upper{static_cast<Slot>((range->first + range->last) / 2 + 1), range->last};
    const State first = all_at_once ? State::giving : State::importing;
    changes_.push_back({first, upper, number, *newcomer++, pace, now});
  }
  tick(now);
}

bool ClusterChanges::waits(const Change& change) const {
  if (cluster_.node(change.target).stopped) return true;
  const bool failover = change.state == State::yielding || change.state == State::promoting;
  return !failover && cluster_.node(change.source).stopped;
}

bool ClusterChanges::in_vain(const Change& change) const {
  if (change.state > State::target) return false;
  return cluster_.node(change.source).view.owner(change.slots.first) != change.source ||
         cluster_.node(change.target).view.own().is_replica();
}

void ClusterChanges::give_back(const Change& change, Deadline now) {
  const Slot slot = change.slots.first;
  cluster_.move_keys(slot, change.target, change.source);
  cluster_.set_stable(slot, change.target, now);
}

void ClusterChanges::step(Change& change, Deadline now) {
  change.next = now + std::max(change.pace.step, shortest_step);
  if (waits(change)) return;
  if (in_vain(change)) {
    if (change.state != State::importing) give_back(change, now);
    change.state = State::over;
    return;
  }
  const auto [first, last] = change.slots;
  switch (change.state) {
    case State::importing:
      cluster_.set_importing(first, change.target, change.source);
      change.state = State::migrating;
      return;
    case State::migrating:
      cluster_.set_migrating(first, change.source, change.target);
      change.state = State::keys;
      return;
    case State::keys:
      if (!cluster_.move_one_key(first, change.source, change.target, now)) {
        change.state = State::target;
      }
      return;
    case State::target:
      cluster_.set_owner(first, change.target, change.target, now);
      change.next = now + change.pace.gap;
      change.state = State::source;
      return;
    case State::source:
      cluster_.set_owner(first, change.source, change.target, now);
      ++change.slots.first;
      change.state = first == last ? State::over : State::importing;
      return;
    case State::giving:
      cluster_.give(change.slots, change.source, change.target, now);
      change.next = now + change.pace.gap;
      change.state = State::taking;
      return;
    case State::taking:
      cluster_.take(change.slots, change.source, change.target, now);
      change.state = State::over;
      return;
    case State::yielding:
      if (!cluster_.node(change.source).stopped) cluster_.yield_to(change.target, now);
      change.next = now + change.pace.gap;
      change.state = State::promoting;
      return;
    case State::promoting:
      cluster_.promote(change.target, now);
      change.state = State::over;
      return;
    case State::over:
      return;
  }
}

void ClusterChanges::tick(Deadline now) {
  for (Change& change : changes_) {
    while (change.state != State::over && change.next <= now) step(change, now);
  }
  std::erase_if(changes_, [](const Change& change) { return change.state == State::over; });
}

Deadline ClusterChanges::next_tick() const {
  Deadline first = never;
  for (const Change& change : changes_) first = std::min(first, change.next);
  return first;
}

}  // namespace sheaf::test::resp_model
