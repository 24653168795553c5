// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/slot_locator.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/checks.h"
#include "base/hash.h"
#include "cluster/placement/slot_score.h"

namespace sheaf::cluster {

SlotLocator::SlotLocator(std::span<const NodeConfig> nodes, std::uint32_t slots)
    : shift_(64 - static_cast<unsigned>(std::countr_zero(slots))) {
  SHEAF_CHECK(!nodes.empty() && nodes.size() <= 1'024);
  SHEAF_CHECK(std::has_single_bit(slots) && slots >= 2);
  for (const NodeConfig& node : nodes) {
    const std::string identity = node.identity();
    const std::uint64_t hash = hash64(identity);
    const auto index = static_cast<std::uint32_t>(candidates_.size());
    candidates_.push_back({hash, node.weight, identity, index});
  }
  std::ranges::sort(candidates_, {},
                    [](const Candidate& c) { return std::tie(c.weight, c.identity); });
  workers_.resize(slots, 1);
  if (candidates_.size() == 1) return;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    workers_[slot] = static_cast<std::uint16_t>(winner(slot) + 1);
  }
}

bool SlotLocator::wins(const Draw& a, const Draw& b) noexcept {
  return outbids({a.value, a.race, a.candidate->weight, a.candidate->identity},
                 {b.value, b.race, b.candidate->weight, b.candidate->identity});
}

// Among nodes of equal weight the greatest draw wins, because race() never grows with the draw. So
// only the best node of each weight needs a logarithm, and none does if there is one weight.
std::uint32_t SlotLocator::winner(std::uint32_t slot) const noexcept {
  Draw best{};
  for (std::size_t i = 0; i < candidates_.size();) {
    Draw own{slot_draw(candidates_[i].hash, slot), 0, &candidates_[i]};
    const std::uint64_t weight = candidates_[i].weight;
    for (++i; i < candidates_.size() && candidates_[i].weight == weight; ++i) {
      const std::uint64_t draw = slot_draw(candidates_[i].hash, slot);
      if (draw > own.value) own = {draw, 0, &candidates_[i]};
    }
    if (best.candidate == nullptr && i == candidates_.size()) return own.candidate->node;
    own.race = race(own.value);
    if (best.candidate == nullptr || wins(own, best)) best = own;
  }
  return best.candidate->node;
}

std::uint32_t SlotLocator::slot_of(std::string_view key) const noexcept {
  return static_cast<std::uint32_t>(hash64(routing_key(key)) >> shift_);
}

Location SlotLocator::locate(std::string_view key) const noexcept {
  const std::uint32_t slot = slot_of(key);
  return {workers_[slot] - 1u, slot};
}

// As owner_order(), but without building the order.
std::uint32_t SlotLocator::stand_in(std::string_view key, const NodeFilter& filter) const noexcept {
  const std::uint32_t slot = slot_of(key);
  Draw best{};
  for (const Candidate& candidate : candidates_) {
    if (!filter.takes(candidate.node)) continue;
    const std::uint64_t draw = slot_draw(candidate.hash, slot);
    const Draw own{draw, race(draw), &candidate};
    if (best.candidate == nullptr || wins(own, best)) best = own;
  }
  return best.candidate != nullptr ? best.candidate->node : workers_[slot] - 1u;
}

double SlotLocator::share(std::uint32_t node) const noexcept {
  const auto own = std::ranges::count(workers_, node + 1);
  return static_cast<double>(own) / static_cast<double>(workers_.size());
}

std::vector<std::uint32_t> SlotLocator::owner_order(std::uint32_t slot) const {
  std::vector<Draw> draws;
  draws.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    const std::uint64_t draw = slot_draw(candidate.hash, slot);
    draws.push_back({draw, race(draw), &candidate});
  }
  std::ranges::sort(draws, wins);
  std::vector<std::uint32_t> order;
  order.reserve(draws.size());
  for (const Draw& draw : draws) order.push_back(draw.candidate->node);
  return order;
}

}  // namespace sheaf::cluster
