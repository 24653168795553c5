#pragma once

// ClientCluster: many servers as one. Finds the node that owns a key, starts the request there, and
// ends by its deadline whatever has not ended before.
//
// Failover mode `owner`: a key's owner stays its owner; requests to a node that is down fail at
// once. `rehash`: while a node is down, its keys go to the next nodes in each key's order, unless
// more than a third of all nodes is down: then it is likely us who are cut off, and nothing moves.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <vector>

#include <sheaf/cluster_config.h>
#include <sheaf/stats.h>

#include "cluster/request.h"
#include "cluster/topology.h"
#include "node/client_node.h"

namespace sheaf::cluster {

class ConnectionListener {
 public:
  // A connection of a node's pool is ready. Must only take note.
  virtual void on_connection_ready(unsigned /*node*/, Now) {}
  // A connection that had been ready is gone (Completion::connection). May start requests.
  virtual void on_connection_ended(std::uint64_t connection, Now now) = 0;

 protected:
  ~ConnectionListener() = default;
};

class ClientCluster final : private socket::TimerSink, private node::NodeOwner, private NodeFilter {
 public:
  // Creates the nodes, which connect at once up to their pool's lower bound.
  ClientCluster(const ClusterConfig& config, std::shared_ptr<const Topology> topology,
                node::NodeParts parts, Seed seed);
  ~ClientCluster();
  ClientCluster(const ClientCluster&) = delete;
  ClientCluster& operator=(const ClientCluster&) = delete;

  // Routes by the operation's key. The request may end before start() returns.
  void start(Request& request, Now now);
  // The same, for who knows the owner already.
  void start_at(unsigned owner, Request& request, Now now);
  // True while requests for this owner's keys may go to other nodes, each key to its own: requests
  // of many keys must not be started then.
  bool scatters(unsigned owner) const noexcept { return rehash_ && !takes(owner); }
  // To a given node, whatever the key.
  void start_on(unsigned node, Request& request, Now now);
  // Its submitter wants no answer any more: ends the request as its deadline would, but as
  // cancelled, and before it returns. Does nothing if it is not in progress.
  void cancel(Request& request, Now now);

  // The owner of a key.
  node::ClientNode& acquire_node(std::string_view key);
  // A socket to the owner of a key; empty if there is none ready with room.
  node::SocketLease acquire_socket(std::string_view key);

  // One listener, which outlives the cluster or is taken back with null.
  void set_listener(ConnectionListener* listener) noexcept { listener_ = listener; }

  // Ends every request and closes every connection; turn the loop until empty().
  void shut_down(Now now);
  bool empty() const;

  unsigned size() const noexcept { return static_cast<unsigned>(nodes_.size()); }
  node::ClientNode& node(unsigned index) { return *nodes_[index]; }
  const Topology& topology() const noexcept { return *topology_; }
  std::vector<NodeStats> stats() const;

 private:
  void on_timer(Now now) override;
  void on_request_done(node::Request& request) override;
  void on_connection_ready(unsigned node, Now now) override;
  void on_connection_ended(std::uint64_t connection, Now now) override;
  bool takes(std::uint32_t node) const noexcept override { return nodes_[node]->usable(); }
  bool reroute(node::Request& request, Now now) override;
  unsigned home_of(unsigned owner, const Request& request) const noexcept;
  bool may_rehash() const noexcept;
  void arm();

  socket::Loop& loop_;
  bool rehash_;
  std::shared_ptr<const Topology> topology_;
  std::vector<std::unique_ptr<node::ClientNode>> nodes_;
  DeadlineHeap<Request> deadlines_;
  ConnectionListener* listener_ = nullptr;
  Deadline armed_ = never;
  std::unique_ptr<socket::Timer> timer_;
};

}  // namespace sheaf::cluster
