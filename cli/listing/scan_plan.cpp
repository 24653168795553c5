// Pure: no socket, clock, entropy, thread or callback.

#include "cli/listing/scan_plan.h"

#include <utility>

namespace sheaf::cli {

using protocol::resp::slot_count;

bool read_holder(const protocol::resp::TopologyView& view, SlotHolder& holder) {
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    if (!view.nodes[i].answering) continue;
    holder.id = view.nodes[i].id;
    for (const auto& claim : view.claims) {
      if (claim.node != i) continue;
      for (std::size_t slot = claim.first; slot <= claim.last; ++slot) holder.owned.set(slot);
    }
    for (const auto& migration : view.migrations) {
      if (migration.node == i && migration.importing) holder.importing.set(migration.slot);
    }
    return true;
  }
  return false;
}

std::vector<ScanPlan::Scan> ScanPlan::next(const std::vector<SlotHolder>& holders) {
  const bool first = owners_.empty();
  owners_.resize(slot_count);
  importers_.resize(slot_count);
  std::vector<Scan> scans;
  for (const SlotHolder& holder : holders) {
    Scan scan{holder.node, {}};
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
      for (const auto& [has, known] :
           {std::pair(&holder.owned, &owners_), std::pair(&holder.importing, &importers_)}) {
        if (!has->test(slot) || (*known)[slot] == holder.id) continue;
        (*known)[slot] = holder.id;
        scan.slots.set(slot);
      }
    }
    if (first) scan.slots.set();
    if (scan.slots.any()) scans.push_back(std::move(scan));
  }
  // What a server imports when all scans are over may have left the other one during them.
  if (first) importers_.assign(slot_count, {});
  return scans;
}

int ScanPlan::orphan(const std::vector<SlotHolder>& holders) const {
  Slots owned;
  for (const SlotHolder& holder : holders) owned |= holder.owned;
  for (std::size_t slot = 0; slot < owners_.size(); ++slot) {
    if (!owners_[slot].empty() && !owned.test(slot)) return static_cast<int>(slot);
  }
  return -1;
}

}  // namespace sheaf::cli
