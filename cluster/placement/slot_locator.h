#pragma once

// The default locator: a key's hash picks one of 2^n slots, and a table has the slot's node. Each
// slot belongs to the node that wins a weighted random draw for it (weighted rendezvous), so a node
// that joins or leaves moves only its own slots. Formula: docs/wire/locators.md, "Slots".
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <span>
#include <string>
#include <vector>

#include "cluster/placement/locator.h"

namespace sheaf::cluster {

class SlotLocator final : public ClientNodeLocator {
 public:
  // `slots` is a power of two, 2^10 .. 2^22.
  SlotLocator(std::span<const NodeConfig> nodes, std::uint32_t slots);

  Location locate(std::string_view key) const noexcept override;
  std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept override;
  double share(std::uint32_t node) const noexcept override;
  std::span<const std::uint16_t> slots() const noexcept override { return workers_; }

  std::uint32_t slot_of(std::string_view key) const noexcept;
  // All nodes, in the order in which they would own the slot if those before them were gone.
  std::vector<std::uint32_t> owner_order(std::uint32_t slot) const;

 private:
  struct Candidate {
    std::uint64_t hash;  // of the identity
    std::uint64_t weight;
    std::string identity;
    std::uint32_t node;
  };
  struct Draw {
    std::uint64_t value;
    std::uint64_t race;
    const Candidate* candidate;
  };
  static bool wins(const Draw& a, const Draw& b) noexcept;
  std::uint32_t winner(std::uint32_t slot) const noexcept;

  std::vector<Candidate> candidates_;   // by weight, then identity
  std::vector<std::uint16_t> workers_;  // node + 1 for each slot
  unsigned shift_;
};

}  // namespace sheaf::cluster
