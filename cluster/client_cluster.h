#pragma once

// ClientCluster: many servers as one. It finds the node that owns a key, starts the request there,
// and ends every request by its deadline.
//
// Failover mode `owner`: a key's owner stays its owner, and requests to a node that is down fail at
// once. `rehash`: while a node is down, its keys go to the next nodes in each key's order. If more
// than a third of all nodes is down, the client itself is probably cut off, and no key moves.
//
// A new topology may replace the present one at any time, all at once. A waiting request whose key
// has another node by then goes there. A request that may only go to the node it was started for
// (at_owner, only_on, start_on) is then not sent. Requests in flight end where they are.
//
// With reads=replicas a request that may lag goes to whichever of the owner and its replicas is
// connected and expected to answer first. If a replica does not have the value, the owner is asked
// next. For a request with many keys, its submitter does that. With hedged_reads a get may have two
// attempts at once (hedges.h).
//
// A request that a server redirects is followed after follow_redirects() (redirects.h). Operations
// on one key keep their order meanwhile (key_order.h).
//
// Thread rule: belongs to one lane; nodes() says which of its functions any thread may call.

#include <memory>
#include <vector>

#include <sheaf/cluster_config.h>
#include <sheaf/stats.h>

#include "cluster/hedging/hedges.h"
#include "cluster/moving/redirects.h"
#include "cluster/moving/request.h"
#include "cluster/nodes/cluster_controls.h"
#include "cluster/nodes/cluster_nodes.h"
#include "cluster/placement/topology.h"
#include "node/client_node.h"

namespace sheaf::cluster {

class ConnectionListener {
 public:
  // A connection of a node's pool is ready. The listener must only take note.
  virtual void on_connection_ready(unsigned /*node*/, Now) {}
  // A connection that was ready is gone (Completion::connection). It counts as gone when its node
  // leaves the cluster; when it closes later, this is called again. May start requests.
  virtual void on_connection_ended(std::uint64_t connection, Now now) = 0;

 protected:
  ~ConnectionListener() = default;
};

class TopologyListener : public NodeUser {
 public:
  // A new topology applies. May start requests.
  virtual void on_topology(Now now) = 0;
  // The sessions have another login: pass it on to connections of your own.
  virtual void on_login(Now /*now*/) {}

 protected:
  ~TopologyListener() = default;
};

class ClientCluster final : private socket::TimerSink,
                            private SenderOwner,
                            private HedgeOwner,
                            private NodeFilter,
                            private TopologyHolder {
 public:
  // Creates the nodes, which connect at once up to their pool's lower bound.
  ClientCluster(const ClusterConfig& config, std::shared_ptr<const Topology> topology,
                const node::NodeParts& parts, Seed seed, const ClusterControls& controls = {});
  ~ClientCluster();
  ClientCluster(const ClientCluster&) = delete;
  ClientCluster& operator=(const ClientCluster&) = delete;

  // Applies a newer topology of the same table. Must not be called within a completion or another
  // call of this cluster: defer it (Loop::defer).
  void apply(std::shared_ptr<const Topology> topology, Now now) override;
  // Follows redirects from now on. Call it once, before the first request.
  void follow_redirects(RedirectRules rules, const Seed& seed);
  // Null if redirects are not followed.
  Redirects* redirects() noexcept { return redirects_.get(); }

  // Routes by the operation's key. The request may end before start() returns.
  void start(Request& request, Now now);
  // The same for a caller that found the owner in the topology of an epoch. If that topology is no
  // longer the present one, the owner is looked up again.
  void start_at(std::uint64_t epoch, unsigned owner, Request& request, Now now);
  // True while requests for this owner's keys may go to other nodes, each key to its own. Requests
  // with many keys must not be started then.
  bool scatters(std::uint64_t epoch, unsigned owner) const noexcept;
  // Sends the request to a given member, whatever the key.
  void start_on(unsigned node, Request& request, Now now);
  // Its submitter no longer wants an answer: ends the request as its deadline would, but as
  // cancelled, and before it returns. Does nothing if the request is not in progress.
  void cancel(Request& request, Now now);

  // One of each. It must outlive the cluster or be removed by setting null.
  void set_listener(ConnectionListener* listener) noexcept { listener_ = listener; }
  void set_topology_listener(TopologyListener* listener) noexcept { user_ = listener; }

  // The sessions have another login (SessionFactory::set_login). Connections continue with it or
  // are replaced, and nodes that wait after a failure are tried at once. No request fails because
  // of it.
  void renew_logins(Now now);

  // Ends every request and closes every connection. Turn the loop until empty().
  void shut_down(Now now);
  bool empty() const { return nodes_.empty(); }

  // A member, or a node on which something is in flight.
  node::ClientNode& node(unsigned index) { return nodes_[index]; }
  const Topology& topology() const noexcept { return nodes_.topology(); }
  const ClusterNodes& nodes() const noexcept { return nodes_; }
  Sender& sender() noexcept { return sender_; }

 private:
  void on_timer(Now now) override;
  void try_again(Request& parked, Now now) override;
  void on_request_done(node::Request& request, const socket::Completion& completion) override;
  void on_connection_ready(unsigned node, Now now) override;
  void on_connection_ended(std::uint64_t connection, Now now) override;
  bool takes(std::uint32_t node) const noexcept override { return nodes_[node].usable(); }
  bool reroute(node::Request& request, Now now) override;
  bool redirect(node::Request& request, const protocol::Reply& reply, Now now) override;
  bool belongs(const node::Request& request) const override;
  unsigned home_of(unsigned owner, const Request& request) const noexcept;
  bool ask_owner(Request& request, Now now) override;
  bool await_owner(Request& request, Now now);
  bool knows(std::uint64_t epoch) const noexcept;
  void begin(unsigned node, Request& request, Now now);

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
  Sender sender_;
  std::unique_ptr<Redirects> redirects_;  // null: redirects are not followed
  std::unique_ptr<Hedges> hedges_;        // null: reads are not hedged
  ConnectionListener* listener_ = nullptr;
  TopologyListener* user_ = nullptr;
};

}  // namespace sheaf::cluster
