#pragma once

// AssignedSlots: the locator of a cluster whose servers say who owns each of its 16,384 slots. A
// slot may have no owner; its keys then have none, either.
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/placement/locator.h"

namespace sheaf::cluster {

class AssignedSlots final : public ClientNodeLocator {
 public:
  static constexpr std::uint32_t slot_count = 16'384;
  static constexpr std::uint16_t unassigned = 0xffff;  // means that a slot has no owner
  // The slot of a key, below slot_count. A pure function that understands {tag}.
  using SlotOf = std::uint16_t (*)(std::string_view key) noexcept;

  // `owners`: for each of the slot_count slots the position of its server, or `unassigned`.
  AssignedSlots(std::span<const std::uint16_t> owners, SlotOf slot_of);

  Location locate(std::string_view key) const noexcept override {
    const std::uint32_t slot = slot_of_(key);
    return {workers_[slot] - 1u, slot};  // 0 - 1 is `nobody`
  }
  // A slot has only one home.
  std::uint32_t stand_in(std::string_view key, const NodeFilter&) const noexcept override {
    return locate(key).node;
  }
  double share(std::uint32_t node) const noexcept override;
  std::vector<std::uint16_t> slots() const override { return workers_; }
  std::uint32_t owner_of(std::uint32_t slot) const noexcept override { return workers_[slot] - 1u; }
  std::unique_ptr<const ClientNodeLocator> changed(
      std::span<const SlotChange> changes) const override;
  bool assigned() const noexcept override { return true; }

 private:
  std::vector<std::uint16_t> workers_;  // the position + 1; 0: no owner
  SlotOf slot_of_;
};

}  // namespace sheaf::cluster
