#pragma once

// ClusterView: what one node of a model cluster believes about all nodes. Nodes learn of changes by
// gossip, so their views differ for a while after each change.
//
// A node reports its address, its role and the slots that it serves, with an epoch; that is its
// NodeEntry. Other nodes accept from it what Redis accepts: a slot changes hands only if a primary
// claims it whose epoch is above that of the owner known so far. The states of a migration are
// never gossiped.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/resp_model/keyspace.h"
#include "tests/support/resp_model/slot_set.h"

namespace sheaf::test::resp_model {

using NodeNumber = std::uint32_t;  // the place in the cluster; nodes keep it forever
inline constexpr NodeNumber nobody = 0xffff'ffff;

struct SlotRange {
  Slot first = 0;
  Slot last = 0;  // included
};

struct NodeAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string text() const { return host + ":" + std::to_string(port); }
  friend bool operator==(const NodeAddress&, const NodeAddress&) = default;
};

struct NodeEntry {
  std::string id;  // 40 hex digits
  NodeAddress address;
  NodeNumber primary = nobody;  // of a replica
  std::uint64_t epoch = 0;
  std::uint64_t version = 0;      // of this entry; a later one is larger
  NodeNumber took_over = nobody;  // the primary that it replaced in a failover
  bool is_replica() const { return primary != nobody; }
};

// A node's gossip about itself.
struct Announcement {
  NodeEntry entry;
  SlotSet slots;  // empty for a replica
};

class ClusterView {
 public:
  ClusterView(NodeNumber self, NodeEntry entry);

  NodeNumber self() const { return self_; }
  const NodeEntry& own() const { return *entries_[self_]; }
  bool knows(NodeNumber node) const { return node < entries_.size() && entries_[node]; }
  // The node must be known.
  const NodeEntry& entry(NodeNumber node) const { return *entries_[node]; }
  NodeNumber size() const { return static_cast<NodeNumber>(entries_.size()); }  // gaps included
  NodeNumber owner(Slot slot) const { return owners_[slot]; }
  std::size_t slots_of(NodeNumber node) const { return owned_by(node).size(); }
  std::uint64_t highest_epoch() const;
  // Migrating slots, with the number of the other node.
  const std::map<Slot, NodeNumber>& migrating() const { return migrating_; }
  const std::map<Slot, NodeNumber>& importing() const { return importing_; }

  // ---- changes that the node makes on its own
  void set_owner(Slot slot, NodeNumber owner);  // ends the slot's migration here
  void set_migrating(Slot slot, NodeNumber target) { migrating_[slot] = target; }
  void set_importing(Slot slot, NodeNumber source) { importing_[slot] = source; }
  void set_stable(Slot slot);
  void set_address(NodeAddress address);
  void follow(NodeNumber primary);
  void promote(std::uint64_t epoch);  // takes over the slots of its primary
  void set_epoch(std::uint64_t epoch);

  // ---- gossip
  Announcement announcement() const;
  // `forgets`: a slot that its owner no longer claims has no owner until another node claims it, as
  // in Garnet. Otherwise it stays with that owner, as in Redis. A replica forgets nothing about its
  // primary. When a primary becomes a replica, its slots have no owner in Redis and stay with it in
  // Garnet.
  void hear(NodeNumber from, const Announcement& said, bool forgets);
  // Copies everything that another view knows, for a node that joins.
  void copy(const ClusterView& other);

 private:
  NodeEntry& own_entry() { return *entries_[self_]; }
  void change_own() { ++own_entry().version; }
  const SlotSet& owned_by(NodeNumber node) const;
  void assign(Slot slot, NodeNumber owner);
  void assign_all(NodeNumber from, NodeNumber to);
  void hear_slots(NodeNumber from, const Announcement& said, bool forgets);

  NodeNumber self_;
  std::vector<std::optional<NodeEntry>> entries_;
  std::vector<NodeNumber> owners_;  // by slot
  std::vector<SlotSet> owned_;      // the same, by owner + 1; `nobody` + 1 is 0
  std::map<Slot, NodeNumber> migrating_;
  std::map<Slot, NodeNumber> importing_;
};

}  // namespace sheaf::test::resp_model
