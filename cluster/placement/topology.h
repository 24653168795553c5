#pragma once

// Topology: who owns what at one moment. It is an immutable snapshot with an epoch. An operation
// uses one snapshot from start to end; a change makes a new one.
//
// A snapshot names nodes by the indices of a table (NodeTable), which stay the same from one
// snapshot to the next. Its locator names servers by their positions in the configuration.
//
// Thread rule: immutable once made; any thread. Pass snapshots to other threads under a mutex.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/placement/locator.h"
#include "cluster/placement/node_entry.h"

namespace sheaf::cluster {

// A server of the topology.
struct Member {
  std::shared_ptr<const NodeEntry> entry;
  std::string host;
  std::uint16_t port = 0;
  std::uint32_t weight = 0;
  std::uint32_t primary = nobody;  // the position of the member that it copies

  bool is_replica() const noexcept { return primary != nobody; }
  std::uint32_t index() const noexcept { return entry->index; }
  const std::string& identity() const noexcept { return entry->identity; }
};

// Gives a slot another owner.
struct SlotMove {
  std::uint32_t slot = 0;
  std::string owner;  // identity
};

// For each server the position of the server that it copies, or `nobody`; empty: there are no
// replicas.
using Primaries = std::span<const std::uint32_t>;

// Servers, and how they are known.
struct NamedServers {
  std::span<const NodeConfig> servers;
  Primaries primaries{};
  std::string_view named_by{};  // the identity of the server that named them; empty: none did
};

class Topology {
 public:
  // Makes one from a checked configuration. The epochs of one table's snapshots must ascend.
  static std::shared_ptr<const Topology> make(const ClusterConfig& config, NodeEntries& table,
                                              std::uint64_t epoch);
  // Without a table: the node of each server is its position in the configuration.
  static std::shared_ptr<const Topology> make(const ClusterConfig& config, std::uint64_t epoch = 1);
  // Makes one from at least one server, with distinct identities, and a locator of their positions.
  static std::shared_ptr<const Topology> make(const NamedServers& list,
                                              std::unique_ptr<const ClientNodeLocator> locator,
                                              NodeEntries& table, std::uint64_t epoch);

  // A copy with additional members, in which slots have other owners among all its members. Only
  // for a topology whose slots are assigned. A replica that gets a slot is no longer a replica.
  std::shared_ptr<const Topology> changed(const NamedServers& joining,
                                          std::span<const SlotMove> moving, NodeEntries& table,
                                          std::uint64_t epoch) const;

  std::uint64_t epoch() const noexcept { return epoch_; }
  // The identity of the server that named those members that are not in the configuration.
  const std::string& named_by() const noexcept { return named_by_; }
  Location locate(std::string_view key) const noexcept {
    const Location found = locator_->locate(key);
    return {index_at(found.node), found.point};
  }
  // Only the node, or `nobody`. If one node owns all keys, nothing is hashed.
  std::uint32_t owner(std::string_view key) const noexcept {
    return sole_ != nobody ? sole_ : index_at(locator_->locate(key).node);
  }
  // The node that owns every key; `nobody` if no single node does.
  std::uint32_t sole() const noexcept { return sole_; }
  void owners(std::span<const std::string_view> keys,
              std::span<std::uint32_t> nodes) const noexcept;
  // The first node in the key's order of owners that takes requests; the owner if none does.
  std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept;

  // In the order of the configuration.
  std::span<const Member> members() const noexcept { return members_; }
  // Null if the node is not a member.
  const Member* member(std::uint32_t node) const noexcept {
    const bool known = node < positions_.size() && positions_[node] != nobody;
    return known ? &members_[positions_[node]] : nullptr;
  }
  // Null if no member has this identity.
  const Member* find(std::string_view identity) const noexcept;
  // The identity of a member.
  const std::string& identity(std::uint32_t node) const noexcept {
    return members_[positions_[node]].identity();
  }
  // The nodes that own keys, in the order of the members: those with slots; all if slots are not
  // assigned.
  std::vector<std::uint32_t> owning_nodes() const;
  // The nodes that copy a member. Reads of its keys may go to them.
  std::span<const std::uint32_t> replicas(std::uint32_t node) const noexcept {
    if (node >= replicas_.size()) return {};
    return replicas_[node];
  }
  // True if a node has a member's keys: it is that member or copies it.
  bool has_keys_of(std::uint32_t node, std::uint32_t owner) const noexcept {
    return node == owner || std::ranges::find(replicas(owner), node) != replicas(owner).end();
  }
  // Every member's index is below this.
  std::uint32_t index_limit() const noexcept {
    return static_cast<std::uint32_t>(positions_.size());
  }
  // The owner of every slot: its position among the members + 1, or 0 without an owner. Empty if
  // there are no slots (`ring`). May compute them all if they are not assigned.
  std::vector<std::uint16_t> slots() const { return locator_->slots(); }
  // The identity of a slot's owner; empty if it has no owner.
  std::string_view owner_of_slot(std::uint32_t slot) const noexcept {
    const std::uint32_t position = locator_->owner_of(slot);
    return position == nobody ? std::string_view() : members_[position].identity();
  }
  const ClientNodeLocator& locator() const noexcept { return *locator_; }
  // True if the owners of slots are assigned, not computed, so that they may change.
  bool assigned() const noexcept { return locator_->assigned(); }

 private:
  Topology(const NamedServers& list, std::unique_ptr<const ClientNodeLocator> locator,
           NodeEntries& table, std::uint64_t epoch);
  // `nobody` + 1 is 0.
  std::uint32_t index_at(std::uint32_t position) const noexcept { return indices_[position + 1]; }

  std::uint64_t epoch_;
  std::string named_by_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> indices_;                // by position + 1; the first is `nobody`
  std::vector<std::uint32_t> positions_;              // by index; `nobody`: not a member
  std::vector<std::vector<std::uint32_t>> replicas_;  // by index; empty: there are no replicas
  std::unique_ptr<const ClientNodeLocator> locator_;
  std::uint32_t sole_ = nobody;  // the node that owns every key, if one does
};

}  // namespace sheaf::cluster
