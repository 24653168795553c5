// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/slot_locator.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "base/checks.h"
#include "base/hash.h"

namespace sheaf::cluster {

SlotLocator::SlotLocator(std::span<const NodeConfig> nodes, std::uint32_t slots)
    : places_(nodes.size()),
      table_(slots, nodes.size()),
      shift_(64 - static_cast<unsigned>(std::countr_zero(slots))) {
  SHEAF_CHECK(!nodes.empty() && nodes.size() <= 1'024);
  SHEAF_CHECK(std::has_single_bit(slots) && slots >= 8);
  candidates_.reserve(nodes.size());
  for (const NodeConfig& node : nodes) {
    const auto index = static_cast<std::uint32_t>(candidates_.size());
    candidates_.push_back({node.weight, node.identity(), index});
  }
  std::ranges::sort(candidates_, {},
                    [](const Candidate& c) { return std::tie(c.weight, c.identity); });
  hashes_.reserve(nodes.size());
  for (const Candidate& candidate : candidates_) {
    places_[candidate.node] = hashes_.size();
    hashes_.push_back(hash64(candidate.identity));
    if (groups_.empty() || groups_.back().weight != candidate.weight) {
      groups_.push_back({candidate.weight, 0});
    }
    groups_.back().end = hashes_.size();
  }
}

SlotBid SlotLocator::bid(std::size_t candidate, std::uint32_t slot) const noexcept {
  const std::uint64_t draw = slot_draw(hashes_[candidate], slot);
  return {draw, race(draw), candidates_[candidate].weight, candidates_[candidate].identity};
}

// The winner among the nodes that the caller takes; `nobody` if it takes none. Among nodes of equal
// weight the greatest draw wins, because race() never grows with the draw. So only the best node of
// each weight needs a logarithm, and none does if there is one weight.
template <class Takes>
std::uint32_t SlotLocator::winner(std::uint32_t slot, const Takes& takes) const noexcept {
  SlotBid best;
  std::uint32_t found = nobody;
  std::size_t at = 0;
  for (const Group& group : groups_) {
    while (at < group.end && !takes(candidates_[at].node)) ++at;
    if (at == group.end) continue;
    std::size_t first = at;
    std::uint64_t greatest = slot_draw(hashes_[at], slot);
    for (++at; at < group.end; ++at) {
      const std::uint64_t draw = slot_draw(hashes_[at], slot);
      if (draw <= greatest || !takes(candidates_[at].node)) continue;
      greatest = draw;
      first = at;
    }
    if (groups_.size() == 1) return candidates_[first].node;
    const SlotBid own = bid(first, slot);
    if (found != nobody && !outbids(own, best)) continue;
    best = own;
    found = candidates_[first].node;
  }
  return found;
}

std::uint32_t SlotLocator::winner_against_newcomers(std::uint32_t slot,
                                                    std::uint32_t node) const noexcept {
  std::size_t found = places_[node];
  SlotBid best = bid(found, slot);
  for (const std::size_t newcomer : newcomers_) {
    const SlotBid own = bid(newcomer, slot);
    if (!outbids(own, best)) continue;
    best = own;
    found = newcomer;
  }
  return candidates_[found].node;
}

// Threads that compute an entry at the same time compute the same owner. If one of them finds the
// owner that another has stored, and still as provisional, it compares that with the newcomers:
// it wins again.
std::uint32_t SlotLocator::compute(std::uint32_t slot, std::uint32_t entry) const noexcept {
  const std::uint32_t node = entry == SlotTable::unknown
                                 ? winner(slot, [](std::uint32_t /*node*/) { return true; })
                                 : winner_against_newcomers(slot, entry - 1);
  table_.set(slot, node + 1);
  return node;
}

std::uint32_t SlotLocator::slot_of(std::string_view key) const noexcept {
  return static_cast<std::uint32_t>(hash64(routing_key(key)) >> shift_);
}

// As owner_order(), but without building the order.
std::uint32_t SlotLocator::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  const std::uint32_t slot = slot_of(key);
  const std::uint32_t found =
      winner(slot, [&filter](std::uint32_t node) { return filter.takes(node); });
  return found != nobody ? found : owner(slot);
}

std::vector<std::uint16_t> SlotLocator::slots() const {
  std::vector<std::uint16_t> workers(table_.size());
  for (std::uint32_t slot = 0; slot < table_.size(); ++slot) {
    workers[slot] = static_cast<std::uint16_t>(owner(slot) + 1);
  }
  return workers;
}

double SlotLocator::share(std::uint32_t node) const noexcept {
  std::uint32_t own = 0;
  for (std::uint32_t slot = 0; slot < table_.size(); ++slot) own += owner(slot) == node ? 1 : 0;
  return static_cast<double>(own) / static_cast<double>(table_.size());
}

std::unique_ptr<const ClientNodeLocator> SlotLocator::for_nodes(
    std::span<const NodeConfig> nodes) const {
  auto made = std::make_unique<SlotLocator>(nodes, table_.size());
  if (nodes.size() > 1) made->take_over(*this);
  return made;
}

// Finds the newcomers. Returns what the entries of the locator before become, by node + 1. A node
// that has another weight has left and is a newcomer.
std::vector<std::uint32_t> SlotLocator::meet(const SlotLocator& before) {
  std::vector<std::uint32_t> becomes(before.candidates_.size() + 1, SlotTable::unknown);
  const auto place = [](const Candidate& c) { return std::tie(c.weight, c.identity); };
  std::size_t old = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const auto wanted = place(candidates_[i]);
    while (old < before.candidates_.size() && place(before.candidates_[old]) < wanted) ++old;
    const bool stays = old < before.candidates_.size() && place(before.candidates_[old]) == wanted;
    const bool is_new = !stays || std::ranges::binary_search(before.newcomers_, old);
    if (is_new) newcomers_.push_back(i);
    if (!stays) continue;
    becomes[before.candidates_[old].node + 1] = candidates_[i].node + 1;
  }
  return becomes;
}

// An owner that stays is still the first of all that stay. To compare it with many newcomers would
// take longer than a new table, because only the comparison needs logarithms.
void SlotLocator::take_over(const SlotLocator& before) {
  const std::vector<std::uint32_t> becomes = meet(before);
  if (newcomers_.size() > candidates_.size() / 4) return newcomers_.clear();
  for (std::uint32_t slot = 0; slot < table_.size(); ++slot) {
    const std::uint32_t entry = becomes[before.table_.get(slot)];
    if (entry != SlotTable::unknown) table_.set(slot, entry);
  }
  if (!newcomers_.empty()) table_.doubt();
}

SlotLocator::Entries SlotLocator::entries() const noexcept {
  Entries entries;
  for (std::uint32_t slot = 0; slot < table_.size(); ++slot) {
    ++(table_.get(slot) == SlotTable::unknown ? entries.unknown
       : table_.is_provisional(slot)          ? entries.provisional
                                              : entries.known);
  }
  return entries;
}

std::vector<std::uint32_t> SlotLocator::owner_order(std::uint32_t slot) const {
  std::vector<std::pair<SlotBid, std::uint32_t>> bids;
  bids.reserve(candidates_.size());
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    bids.emplace_back(bid(i, slot), candidates_[i].node);
  }
  std::ranges::sort(bids, outbids, [](const auto& each) { return each.first; });
  std::vector<std::uint32_t> order;
  order.reserve(bids.size());
  for (const auto& [bid, node] : bids) order.push_back(node);
  return order;
}

}  // namespace sheaf::cluster
