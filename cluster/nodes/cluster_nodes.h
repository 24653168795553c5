#pragma once

// ClusterNodes: the nodes of a cluster, by index. They follow the topology:
//
// | node    | input                                    | then                          | next    |
// |---------|------------------------------------------|-------------------------------|---------|
// | none    | a topology names its server              | is made, connects soon        | member  |
// | member  | a topology does not name it              | takes nothing more            | leaving |
// | leaving | a topology names it again                | takes requests                | member  |
// | leaving | nothing waits or is in flight on it, or  | closes its connections        | closing |
// |         | too many are leaving                     |                               |         |
// | closing | a topology names it again                | is replaced by a new node     | member  |
// | member  | becomes a replica, or stops being one    | replaces its connections      | member  |
// | closing | no connection is left, and no NodeUser   | is destroyed; once the last   | none    |
// |         | uses it                                  | has gone, the index is free   |         |
//
// Calls wait while the lane connects or closes, so it does so for a few nodes at a time.
//
// Thread rule: belongs to one lane, except for snapshot() and last_signs().

#include <memory>
#include <vector>

#include <sheaf/cluster_config.h>
#include <sheaf/metrics.h>

#include "base/mutex.h"
#include "cluster/nodes/cluster_controls.h"
#include "cluster/placement/topology.h"
#include "node/client_node.h"

namespace sheaf::cluster {

// Another user of nodes.
class NodeUser {
 public:
  // Returns true if it no longer uses a node that has left. Asked repeatedly until it does.
  virtual bool lets_go(const node::ClientNode& node) = 0;

 protected:
  ~NodeUser() = default;
};

class ClusterNodes {
 public:
  // Makes the members, which connect up to their pool's lower bound.
  ClusterNodes(const ClusterConfig& config, std::shared_ptr<const Topology> topology,
               const node::NodeParts& parts, node::NodeOwner& owner, const Seed& seed,
               const ClusterControls& controls);
  ~ClusterNodes();
  ClusterNodes(const ClusterNodes&) = delete;
  ClusterNodes& operator=(const ClusterNodes&) = delete;

  // A member, or a node that is leaving.
  node::ClientNode& operator[](unsigned index) const noexcept { return *nodes_[index]; }
  const Topology& topology() const noexcept { return *topology_; }
  // The connected node that is expected to answer first, of an owner of keys and its replicas, but
  // not `except`; `nobody` if there is none.
  std::uint32_t fastest_of(std::uint32_t owner, std::uint32_t except, Now now) const noexcept;

  // A new topology applies. First all nodes are adapted to it; then requests may end and start.
  void follow(std::shared_ptr<const Topology> topology, Now now);
  // Closes and destroys what can go, or a part of it. Must not be called within a call of a node.
  // Returns when to call it again.
  Deadline tidy(NodeUser* user, Now now);
  bool all_gone() const noexcept { return leavers_.empty(); }

  void renew_logins(Now now);
  void shut_down(Now now);
  bool empty() const;
  // The second attempts of hedged reads at a node. Its users count them.
  struct HedgeCounts {
    std::uint64_t sent = 0;
    std::uint64_t won = 0;
  };
  HedgeCounts& hedges(unsigned index);
  // Statistics of the members.
  std::vector<NodeStats> stats() const;
  std::vector<NodeMetrics> metrics() const;
  // The number of all nodes, members or not.
  std::size_t size() const;

  // The topology of a moment ago. Any thread.
  std::shared_ptr<const Topology> snapshot() const;
  // The state of a node a moment ago; down if there is no such node. Any thread.
  node::NodeSigns last_signs(unsigned index) const;

 private:
  // A node that has left.
  struct Leaver {
    std::shared_ptr<const NodeEntry> entry;
    std::unique_ptr<node::ClientNode> replaced{};  // null: it is in nodes_
    bool closing = false;
  };

  // Returns true if it made a node, which connects then.
  bool add(const Member& member, const std::string& named_by, Deadline connects_at, Now now);
  void remove(const Member& member, Now now);
  bool is_configured(const Member& member) const;
  void make(const Member& member, const std::string& named_by, Deadline connects_at);
  node::ClientNode& node_of(const Leaver& leaver) const noexcept {
    return leaver.replaced != nullptr ? *leaver.replaced : *nodes_[leaver.entry->index];
  }
  void close(Leaver& leaver, Now now);
  bool may_go(const Leaver& leaver, NodeUser* user) const;
  void destroy(Leaver leaver);
  void record(std::string_view node, std::string_view text) const;

  const node::NodeOptions model_;             // for every node, apart from its own values
  const std::vector<NodeConfig> configured_;  // no server has named these; empty if none may
  const node::NodeParts parts_;
  node::NodeOwner& owner_;
  const ClusterControls controls_;
  Random random_;
  // Both are changed under the baton and the mutex, and read under one of them.
  mutable sync::Mutex mutex_;
  std::shared_ptr<const Topology> topology_;
  std::vector<std::unique_ptr<node::ClientNode>> nodes_;  // by index; null: no node
  std::vector<Leaver> leavers_;                           // the first to leave comes first
  std::vector<HedgeCounts> hedges_;                       // by index; none: no read was hedged
};

}  // namespace sheaf::cluster
