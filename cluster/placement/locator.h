#pragma once

// ClientNodeLocator: which node owns a key. docs/wire/locators.md is the contract of all kinds:
// every process, machine and version must give the same answers, or readers look where no writer
// wrote.
//
// Thread rule: any thread; what can be observed is immutable once built.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>

#include "base/routing_key.h"

namespace sheaf::cluster {

// In place of a node: the slot has no owner.
inline constexpr std::uint32_t nobody = 0xffff'ffff;

struct Location {
  std::uint32_t node = 0;   // position among the servers; in a topology, the node's index
  std::uint32_t point = 0;  // the slot, or the ring point that owns the key; 0 without either
  friend bool operator==(const Location&, const Location&) = default;
};

// Gives a slot another owner: the position of a server.
struct SlotChange {
  std::uint32_t slot = 0;
  std::uint32_t node = 0;
};

// Which nodes take requests now. They are named as in a Location.
class NodeFilter {
 public:
  virtual bool takes(std::uint32_t node) const noexcept = 0;

 protected:
  ~NodeFilter() = default;
};

class ClientNodeLocator {
 public:
  virtual ~ClientNodeLocator() = default;

  virtual Location locate(std::string_view key) const noexcept = 0;
  // As locate() for many keys, but returns only the nodes. `nodes` is as long as `keys`.
  virtual void owners(std::span<const std::string_view> keys,
                      std::span<std::uint32_t> nodes) const noexcept {
    for (std::size_t i = 0; i < keys.size(); ++i) nodes[i] = locate(keys[i]).node;
  }
  // The first node in the key's order of owners that takes requests; the owner if none does.
  virtual std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept = 0;
  // The part of all possible keys that a node owns, 0 .. 1.
  virtual double share(std::uint32_t node) const noexcept = 0;
  // The owner of each slot: node + 1, or 0 without an owner. Empty if there are no slots. If they
  // are not assigned, this may compute them all.
  virtual std::vector<std::uint16_t> slots() const { return {}; }
  // The owner of one slot, or `nobody`.
  virtual std::uint32_t owner_of(std::uint32_t /*slot*/) const noexcept { return nobody; }
  // A copy in which slots have other owners; null if owners are computed.
  virtual std::unique_ptr<const ClientNodeLocator> changed(std::span<const SlotChange>) const {
    return nullptr;
  }
  // The same placement for other nodes, made with what has been computed here; null if nothing can
  // be taken over.
  virtual std::unique_ptr<const ClientNodeLocator> for_nodes(std::span<const NodeConfig>) const {
    return nullptr;
  }
  // True if the owners of slots are assigned, not computed.
  virtual bool assigned() const noexcept { return false; }
};

// The locator that a configuration asks for. Its nodes are already checked: at least one, distinct
// identities, weights from 1. `before`: that of a configuration that differs in its nodes only.
std::unique_ptr<const ClientNodeLocator> make_locator(const ClusterConfig& config,
                                                      const ClientNodeLocator* before = nullptr);

// True if the locator has neither slots nor ring points.
constexpr bool without_points(RingProfile ring) noexcept {
  return ring == RingProfile::modula || ring == RingProfile::pymemcache;
}

using sheaf::routing_key;  // the part of a key that decides its place

}  // namespace sheaf::cluster
