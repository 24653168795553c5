#pragma once

// ClientNodeLocator: which node owns a key. docs/wire/locators.md is the contract of both kinds:
// every process, machine and version must give the same answers, or writers and readers part.
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <sheaf/cluster_config.h>

#include "base/routing_key.h"

namespace sheaf::cluster {

// In place of a node: the slot has no owner.
inline constexpr std::uint32_t nobody = 0xffff'ffff;

struct Location {
  std::uint32_t node = 0;   // position among the servers; of a topology, the node's index
  std::uint32_t point = 0;  // the slot, or the ring point that owns the key
  friend bool operator==(const Location&, const Location&) = default;
};

// A slot gets another owner: the position of a server.
struct SlotChange {
  std::uint32_t slot = 0;
  std::uint32_t node = 0;
};

// Which nodes take requests now; they are named as in a Location.
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
  // The same for many keys, the nodes alone: `nodes` is as long as `keys`.
  virtual void owners(std::span<const std::string_view> keys,
                      std::span<std::uint32_t> nodes) const noexcept {
    for (std::size_t i = 0; i < keys.size(); ++i) nodes[i] = locate(keys[i]).node;
  }
  // The first node in the key's order of owners that takes requests; the owner if none does.
  virtual std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept = 0;
  // The part of all possible keys that a node owns, 0 .. 1.
  virtual double share(std::uint32_t node) const noexcept = 0;
  // The owner of each slot: 0 for nobody, else node + 1; empty where there are no slots.
  virtual std::span<const std::uint16_t> slots() const noexcept = 0;
  // A copy in which slots have other owners; null where owners are computed.
  virtual std::unique_ptr<const ClientNodeLocator> changed(std::span<const SlotChange>) const {
    return nullptr;
  }
  // Whether slots have the owners that somebody gave them.
  virtual bool assigned() const noexcept { return false; }
};

// The locator that a configuration asks for. Its nodes are checked already: at least one, distinct
// identities, weights from 1.
std::unique_ptr<const ClientNodeLocator> make_locator(const ClusterConfig& config);

using sheaf::routing_key;  // what of a key decides its place

}  // namespace sheaf::cluster
