// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/cluster_view.h"

#include <algorithm>

namespace sheaf::test::resp_model {

using protocol::resp::slot_count;

ClusterView::ClusterView(NodeNumber self, NodeEntry entry)
    : self_(self), entries_(self + 1), owners_(slot_count, nobody) {
  entries_[self] = std::move(entry);
}

std::size_t ClusterView::slots_of(NodeNumber node) const {
  return static_cast<std::size_t>(std::ranges::count(owners_, node));
}

std::uint64_t ClusterView::highest_epoch() const {
  std::uint64_t highest = 0;
  for (const auto& entry : entries_) {
    if (entry) highest = std::max(highest, entry->epoch);
  }
  return highest;
}

void ClusterView::set_owner(Slot slot, NodeNumber owner) {
  owners_[slot] = owner;
  set_stable(slot);
  change_own();
}

void ClusterView::set_stable(Slot slot) {
  migrating_.erase(slot);
  importing_.erase(slot);
}

void ClusterView::set_address(NodeAddress address) {
  own_entry().address = std::move(address);
  change_own();
}

void ClusterView::follow(NodeNumber primary) {
  own_entry().primary = primary;
  own_entry().epoch = entry(primary).epoch;
  migrating_.clear();
  importing_.clear();
  change_own();
}

void ClusterView::promote(std::uint64_t epoch) {
  const NodeNumber replaced = own().primary;
  own_entry().primary = nobody;
  own_entry().took_over = replaced;
  std::ranges::replace(owners_, replaced, self_);
  set_epoch(epoch);
}

void ClusterView::set_epoch(std::uint64_t epoch) {
  own_entry().epoch = epoch;
  change_own();
}

Announcement ClusterView::announcement() const {
  Announcement said{own(), {}};
  for (std::size_t slot = 0; slot < slot_count; ++slot) said.slots[slot] = owners_[slot] == self_;
  return said;
}

void ClusterView::hear(NodeNumber from, const Announcement& said, bool forgets) {
  if (from >= entries_.size()) entries_.resize(from + 1);
  auto& known = entries_[from];
  if (known && known->version > said.entry.version) return;
  const bool gave_up = known && !known->is_replica() && said.entry.is_replica();
  known = said.entry;
  if (gave_up && !forgets) std::ranges::replace(owners_, from, nobody);
  if (said.entry.is_replica()) return;
  hear_slots(from, said, forgets);
  const NodeNumber replaced = said.entry.took_over;
  if (replaced == nobody || !knows(replaced)) return;
  if (said.entry.epoch <= entry(replaced).epoch) return;  // it has come back since
  const bool replaces_self = replaced == self_ && slots_of(self_) == 0;
  if (replaces_self || own().primary == replaced) follow(from);
}

void ClusterView::hear_slots(NodeNumber from, const Announcement& said, bool forgets) {
  if (own().primary == from) forgets = false;
  for (std::size_t i = 0; i < slot_count; ++i) {
    NodeNumber& owner = owners_[i];
    const auto slot = static_cast<Slot>(i);
    if (!said.slots[i]) {
      if (forgets && owner == from) owner = nobody;
      continue;
    }
    if (owner == from || importing_.contains(slot)) continue;
    const bool good_owner = owner != nobody && knows(owner) && !entry(owner).is_replica();
    if (good_owner && entry(owner).epoch >= said.entry.epoch) continue;
    if (owner == self_) change_own();
    migrating_.erase(slot);
    owner = from;
  }
}

void ClusterView::copy(const ClusterView& other) {
  if (entries_.size() < other.entries_.size()) entries_.resize(other.entries_.size());
  for (NodeNumber node = 0; node < other.size(); ++node) {
    if (node != self_ && other.knows(node)) entries_[node] = other.entries_[node];
  }
  owners_ = other.owners_;
}

}  // namespace sheaf::test::resp_model
