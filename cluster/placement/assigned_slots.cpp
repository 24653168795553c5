// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/assigned_slots.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::cluster {

AssignedSlots::AssignedSlots(std::span<const std::uint16_t> owners, SlotOf slot_of)
    : workers_(owners.begin(), owners.end()), slot_of_(slot_of) {
  SHEAF_CHECK(owners.size() == slot_count);
  static_assert(static_cast<std::uint16_t>(unassigned + 1) == 0);
  for (std::uint16_t& worker : workers_) ++worker;
}

std::unique_ptr<const ClientNodeLocator> AssignedSlots::changed(
    std::span<const SlotChange> changes) const {
  auto copy = std::make_unique<AssignedSlots>(*this);
  for (const SlotChange& change : changes) {
    SHEAF_CHECK(change.slot < slot_count && change.node < unassigned);
    copy->workers_[change.slot] = static_cast<std::uint16_t>(change.node + 1);
  }
  return copy;
}

double AssignedSlots::share(std::uint32_t node) const noexcept {
  const auto own = std::ranges::count(workers_, node + 1);
  return static_cast<double>(own) / slot_count;
}

}  // namespace sheaf::cluster
