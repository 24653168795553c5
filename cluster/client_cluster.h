#pragma once

// ClientCluster: many servers as one. Finds the node that owns a key, starts the request there, and
// ends by its deadline whatever has not ended before.
//
// Failover mode `owner`: a key's owner stays its owner; requests to a node that is down fail at
// once. `rehash`: while a node is down, its keys go to the next nodes in each key's order, unless
// more than a third of all nodes is down: then it is likely us who are cut off, and nothing moves.
//
// Another topology may take the place of the present one at any time, all at once. A request that
// waits and whose key has another node by then goes there; one that may go to no other node than
// the one that it was started for (at_owner, only_on, start_on) is not sent. What is in flight ends
// where it is.
//
// With reads=replicas a request that may lag goes to the owner or one of its replicas, whichever is
// connected and expected to answer first. Unless a replica has the value, the owner is asked next;
// of a request of many keys, by who made it.
//
// A request that a server sends elsewhere is followed if the cluster was asked to (redirects.h).
//
// Thread rule: belongs to one lane, except for nodes(), of which see there.

#include <memory>
#include <vector>

#include <sheaf/cluster_config.h>
#include <sheaf/stats.h>

#include "cluster/moving/redirects.h"
#include "cluster/moving/request.h"
#include "cluster/nodes/cluster_controls.h"
#include "cluster/nodes/cluster_nodes.h"
#include "cluster/placement/topology.h"
#include "node/client_node.h"

namespace sheaf::cluster {

class ConnectionListener {
 public:
  // A connection of a node's pool is ready. Must only take note.
  virtual void on_connection_ready(unsigned /*node*/, Now) {}
  // A connection that had been ready is gone (Completion::connection). It counts as gone when its
  // node leaves the cluster; when it closes after that, this comes again. May start requests.
  virtual void on_connection_ended(std::uint64_t connection, Now now) = 0;

 protected:
  ~ConnectionListener() = default;
};

class TopologyListener : public NodeUser {
 public:
  // Another topology holds. May start requests.
  virtual void on_topology(Now now) = 0;
  // The sessions have another login: connections of its own are to be told.
  virtual void on_login(Now /*now*/) {}

 protected:
  ~TopologyListener() = default;
};

class ClientCluster final : private socket::TimerSink,
                            private node::NodeOwner,
                            private NodeFilter,
                            private TopologyHolder {
 public:
  // Creates the nodes, which connect at once up to their pool's lower bound.
  ClientCluster(const ClusterConfig& config, std::shared_ptr<const Topology> topology,
                const node::NodeParts& parts, Seed seed, const ClusterControls& controls = {});
  ~ClientCluster();
  ClientCluster(const ClientCluster&) = delete;
  ClientCluster& operator=(const ClientCluster&) = delete;

  // A newer topology of the same table holds from now on. Not from within a completion or another
  // call of this cluster: put it off (Loop::defer).
  void apply(std::shared_ptr<const Topology> topology, Now now) override;
  // From now on redirects are followed. Once, before the first request.
  void follow_redirects(RedirectRules rules, const Seed& seed);
  // Null: they are not followed.
  Redirects* redirects() noexcept { return redirects_.get(); }

  // Routes by the operation's key. The request may end before start() returns.
  void start(Request& request, Now now);
  // The same, for who has found the owner in the topology of an epoch. The owner of one that no
  // longer holds does not count.
  void start_at(std::uint64_t epoch, unsigned owner, Request& request, Now now);
  // True while requests for this owner's keys may go to other nodes, each key to its own: requests
  // of many keys must not be started then.
  bool scatters(std::uint64_t epoch, unsigned owner) const noexcept;
  // To a given member, whatever the key.
  void start_on(unsigned node, Request& request, Now now);
  // Its submitter wants no answer any more: ends the request as its deadline would, but as
  // cancelled, and before it returns. Does nothing if it is not in progress.
  void cancel(Request& request, Now now);

  // The owner of a key.
  node::ClientNode& acquire_node(std::string_view key);

  // One of each, which outlives the cluster or is taken back with null.
  void set_listener(ConnectionListener* listener) noexcept { listener_ = listener; }
  void set_topology_listener(TopologyListener* listener) noexcept { user_ = listener; }

  // The sessions have another login (SessionFactory::set_login): connections go on with it or are
  // replaced, and who waits after a failure tries at once. No request fails by it.
  void renew_logins(Now now);

  // Ends every request and closes every connection; turn the loop until empty().
  void shut_down(Now now);
  bool empty() const { return nodes_.empty(); }

  // A member, or a node on which something is in flight.
  node::ClientNode& node(unsigned index) { return nodes_[index]; }
  const Topology& topology() const noexcept { return nodes_.topology(); }
  const ClusterNodes& nodes() const noexcept { return nodes_; }

 private:
  void on_timer(Now now) override;
  void on_request_done(node::Request& request) override;
  void on_connection_ready(unsigned node, Now now) override;
  void on_connection_ended(std::uint64_t connection, Now now) override;
  bool takes(std::uint32_t node) const noexcept override { return nodes_[node].usable(); }
  bool reroute(node::Request& request, Now now) override;
  bool redirect(node::Request& request, const protocol::Reply& reply, Now now) override;
  bool belongs(const node::Request& request) const override;
  unsigned home_of(unsigned owner, const Request& request) const noexcept;
  bool may_rehash() const noexcept;
  bool ask_owner(Request& request, Now now);
  bool knows(std::uint64_t epoch) const noexcept;
  void begin(unsigned node, Request& request, Now now);
  void end_unowned(Request& request, Now now);

  socket::Loop& loop_;
  node::EventLog& events_;
  bool rehash_;
  const ReadTarget reads_;
  const ReplicaMiss replica_misses_;
  ClusterControls controls_;
  bool shut_down_ = false;
  node::EarliestTimer timer_;
  ClusterNodes nodes_;
  DeadlineHeap<Request> deadlines_;
  std::unique_ptr<Redirects> redirects_;  // null: they are not followed
  ConnectionListener* listener_ = nullptr;
  TopologyListener* user_ = nullptr;
};

}  // namespace sheaf::cluster
