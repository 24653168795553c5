#pragma once

// The default locator: a key's hash picks one of 2^n slots, and a table has the slot's node. Each
// slot belongs to the node that wins a weighted random draw for it (weighted rendezvous), so a node
// that joins or leaves moves only its own slots. Formula: docs/wire/locators.md, "Slots".
//
// The owner of a slot is computed when it is first needed (slot_table.h): an entry that is unknown
// among all nodes, one that is provisional only against the newcomers. Only a locator that was made
// from another one has newcomers and provisional entries.
//
// Thread rule: any thread. What can be observed is immutable: threads that compute an entry at the
// same time compute the same owner, and the first one stores it.
// Pure: no socket, clock, entropy, thread or callback.

#include <span>
#include <string>
#include <vector>

#include "cluster/placement/locator.h"
#include "cluster/placement/slot_score.h"
#include "cluster/placement/slot_table.h"

namespace sheaf::cluster {

class SlotLocator final : public ClientNodeLocator {
 public:
  // `slots` is a power of two, 2^10 .. 2^22. Computes no owner.
  SlotLocator(std::span<const NodeConfig> nodes, std::uint32_t slots);

  Location locate(std::string_view key) const noexcept override {
    const std::uint32_t slot = slot_of(key);
    return {owner(slot), slot};
  }
  std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept override;
  double share(std::uint32_t node) const noexcept override;
  // Computes the owners that are not known yet.
  std::vector<std::uint16_t> slots() const override;
  std::uint32_t owner_of(std::uint32_t slot) const noexcept override { return owner(slot); }
  // Takes over the owners that are known here and cannot have changed.
  std::unique_ptr<const ClientNodeLocator> for_nodes(
      std::span<const NodeConfig> nodes) const override;

  std::uint32_t slot_of(std::string_view key) const noexcept;
  // All nodes, in the order in which they would own the slot if those before them were gone.
  std::vector<std::uint32_t> owner_order(std::uint32_t slot) const;

  // For tests: the number of entries of each kind.
  struct Entries {
    std::size_t known = 0;
    std::size_t provisional = 0;
    std::size_t unknown = 0;
  };
  Entries entries() const noexcept;

 private:
  struct Candidate {
    std::uint64_t weight;
    std::string identity;
    std::uint32_t node;
  };
  // Candidates of one weight: from the end of the group before it to `end`.
  struct Group {
    std::uint64_t weight;
    std::size_t end;
  };
  std::uint32_t owner(std::uint32_t slot) const noexcept {
    const bool provisional = table_.is_provisional(slot);  // read before the entry that it is about
    const std::uint32_t entry = table_.get(slot);
    return entry != SlotTable::unknown && !provisional ? entry - 1 : compute(slot, entry);
  }
  std::uint32_t compute(std::uint32_t slot, std::uint32_t entry) const noexcept;
  SlotBid bid(std::size_t candidate, std::uint32_t slot) const noexcept;
  template <class Takes>
  std::uint32_t winner(std::uint32_t slot, const Takes& takes) const noexcept;
  std::uint32_t winner_against_newcomers(std::uint32_t slot, std::uint32_t node) const noexcept;
  std::vector<std::uint32_t> meet(const SlotLocator& before);
  void take_over(const SlotLocator& before);

  std::vector<Candidate> candidates_;   // by weight, then identity
  std::vector<std::uint64_t> hashes_;   // of their identities
  std::vector<Group> groups_;           // in the same order
  std::vector<std::size_t> places_;     // by node: its candidate
  std::vector<std::size_t> newcomers_;  // candidates, ascending
  SlotTable table_;
  unsigned shift_;
};

}  // namespace sheaf::cluster
