#pragma once

// SlotMap: which node serves each slot, computed from what several servers say. Their views usually
// differ by seconds, and after a change most of them are outdated, so a majority vote would choose
// the outdated ones. The map goes by who claims a slot, and with which configuration epoch:
//
// 1. For each node the statement with the highest epoch counts; among equal ones that of the node
//    itself. Equal statements of others are combined.
// 2. If several nodes are listed with a slot, the one with the highest epoch gets it; then one that
//    says so itself; then the one in the later view; then the smaller id, which is the one that
//    servers give a higher epoch to end such a tie.
// 3. A replica claims nothing, whatever is listed with it. Its epoch says nothing about slots.
// 4. No slot goes back in epoch: a claim below the epoch of its previous owner is out of date.
//    Neither does a node; but its address is the one in the views, because a server that moves
//    keeps its epoch. A node that speaks for itself is always believed, and a node that no view
//    contains any more is forgotten.
// 5. A slot that no node claims stays with its previous owner while that is known: it will say
//    where to go.
// 6. A MOVED that came after the views were asked for overrides its one slot, until views that were
//    asked for later.
//
// A view without any slot comes from a server outside the cluster, and takes nothing away from a
// map. A view without epochs (CLUSTER SHARDS, SLOTS) counts as epoch 0; if no view has any, rule 4
// does not apply.
//
// Thread rule: a plain value.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "protocol/resp/cluster/topology_view.h"
#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::protocol::resp {

// The content of a MOVED. `host` is one to connect to, never empty or "?".
struct SlotMove {
  std::uint16_t slot = 0;
  std::string host;
  std::uint16_t port = 0;
  std::uint64_t learned = 0;  // a number that grows with time, as TopologyView::asked
};

class SlotMap {
 public:
  static constexpr std::uint16_t nobody = 0xffff;

  // No node, no owner.
  SlotMap() : owners_(slot_count, nobody) {}
  // Combines the views, and the previous map where they say less. Their order does not matter.
  static SlotMap merge(std::span<const TopologyView> views, const SlotMap& previous);

  // Sorted by id; nodes that only a MOVED has named come last and have none. `answering` means that
  // the node has spoken for itself.
  std::span<const TopologyNode> nodes() const noexcept { return nodes_; }
  // The owner's index in nodes(), if the slot has one.
  std::uint16_t owner(std::uint16_t slot) const noexcept { return owners_[slot]; }
  std::span<const std::uint16_t> owners() const noexcept { return owners_; }
  // When the oldest of its views was asked for.
  std::uint64_t asked() const noexcept { return asked_; }

  // The epoch of the claim by which the views give the slot to its owner; 0 if there is no claim.
  std::uint64_t claim_epoch(std::uint16_t slot) const noexcept;

  // Applies rule 6. False if nothing changed, or if the map is newer.
  bool move(const SlotMove& move);

 private:
  class Merge;

  // A range of slots that the views assign.
  struct Claim {
    std::uint64_t epoch = 0;
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    std::uint16_t node = 0;
  };

  std::vector<TopologyNode> nodes_;
  std::vector<std::uint16_t> owners_;  // from the claims and the moves
  std::vector<Claim> claims_;          // sorted by slot
  std::vector<SlotMove> moved_;        // sorted by slot
  std::uint64_t asked_ = 0;
};

}  // namespace sheaf::protocol::resp
