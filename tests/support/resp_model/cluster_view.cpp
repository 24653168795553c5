// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/cluster_view.h"

#include <algorithm>

namespace sheaf::test::resp_model {

using protocol::resp::slot_count;

ClusterView::ClusterView(NodeNumber self, NodeEntry entry)
    : self_(self), entries_(self + 1), owners_(slot_count, nobody) {
  entries_[self] = std::move(entry);
  owned_.resize(1);
  for (std::size_t slot = 0; slot < slot_count; ++slot) owned_[0].add(static_cast<Slot>(slot));
}

const SlotSet& ClusterView::owned_by(NodeNumber node) const {
  static const SlotSet none;
  const NodeNumber place = node + 1;
  return place < owned_.size() ? owned_[place] : none;
}

void ClusterView::assign(Slot slot, NodeNumber owner) {
  const NodeNumber place = owner + 1;
  if (place >= owned_.size()) owned_.resize(place + 1);
  owned_[owners_[slot] + 1].remove(slot);
  owners_[slot] = owner;
  owned_[place].add(slot);
}

void ClusterView::assign_all(NodeNumber from, NodeNumber to) {
  for (const Slot slot : owned_by(from).differences({})) assign(slot, to);
}

std::uint64_t ClusterView::highest_epoch() const {
  std::uint64_t highest = 0;
  for (const auto& entry : entries_) {
    if (entry) highest = std::max(highest, entry->epoch);
  }
  return highest;
}

void ClusterView::set_owner(Slot slot, NodeNumber owner) {
  assign(slot, owner);
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
  assign_all(replaced, self_);
  set_epoch(epoch);
}

void ClusterView::set_epoch(std::uint64_t epoch) {
  own_entry().epoch = epoch;
  change_own();
}

Announcement ClusterView::announcement() const { return {own(), owned_by(self_)}; }

void ClusterView::hear(NodeNumber from, const Announcement& said, bool forgets) {
  if (from >= entries_.size()) entries_.resize(from + 1);
  auto& known = entries_[from];
  if (known && known->version > said.entry.version) return;
  const bool gave_up = known && !known->is_replica() && said.entry.is_replica();
  known = said.entry;
  if (gave_up && !forgets) assign_all(from, nobody);
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
  for (const Slot slot : said.slots.differences(owned_by(from))) {
    const NodeNumber owner = owners_[slot];
    if (!said.slots.has(slot)) {
      if (forgets) assign(slot, nobody);
      continue;
    }
    if (importing_.contains(slot)) continue;
    const bool good_owner = owner != nobody && knows(owner) && !entry(owner).is_replica();
    if (good_owner && entry(owner).epoch >= said.entry.epoch) continue;
    if (owner == self_) change_own();
    migrating_.erase(slot);
    assign(slot, from);
  }
}

void ClusterView::copy(const ClusterView& other) {
  if (entries_.size() < other.entries_.size()) entries_.resize(other.entries_.size());
  for (NodeNumber node = 0; node < other.size(); ++node) {
    if (node != self_ && other.knows(node)) entries_[node] = other.entries_[node];
  }
  owners_ = other.owners_;
  owned_ = other.owned_;
}

}  // namespace sheaf::test::resp_model
