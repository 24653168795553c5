#pragma once

// ClientNode: one server. It puts requests on connections, ends them, and decides by a pure machine
// (node/health.h) whether the node takes traffic. It is made of
//
//   RequestQueue   who waits for room, and how much of the window is taken
//   SocketPool     the connections that requests share
//   Prober         the connection that asks a node that is down whether it is back
//   Health         up, down, recovering
//
// A request is in one of three places: waiting (in the queue), submitted (on a socket), or done.
//
// Thread rule: belongs to one lane, except for last_signs().

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <sheaf/metrics.h>
#include <sheaf/stats.h>

#include "node/certificate_warnings.h"
#include "node/earliest_timer.h"
#include "node/health.h"
#include "node/health_history.h"
#include "node/last_failure.h"
#include "node/latency.h"
#include "node/node_options.h"
#include "node/prober.h"
#include "node/request_queue.h"
#include "node/socket_lease.h"
#include "node/tallies.h"

namespace sheaf::node {

struct NodeSigns {
  NodeHealth health = NodeHealth::down;
  unsigned outages = 0;  // how often the node went down
};

class NodeOwner {
 public:
  // Comes before the request's sink is notified.
  virtual void on_request_done(Request& request) = 0;
  // A request was not sent, or a provisional one ended with its connection: true if the owner
  // starts it elsewhere, else it fails.
  virtual bool reroute(Request& request, Now now) = 0;
  // The server has not carried out a request, which has left its connection: the reply has a
  // Redirect, and its views live during the call. Or the request is provisional, and this is not
  // the value that it wants. True if the owner ends it, or starts it later, else it ends as
  // refused. Not started from within the call.
  virtual bool redirect(Request&, const protocol::Reply&, Now) { return false; }
  // Whether a request that waits on a node is still to go there.
  virtual bool belongs(const Request&) const { return true; }
  // A connection of the pool is ready.
  virtual void on_connection_ready(unsigned /*node*/, Now) {}
  // A connection of the pool that was ready is gone, and all that was on it has ended. Or it was
  // disowned: then this comes once more when it is gone.
  virtual void on_connection_ended(std::uint64_t connection, Now now) = 0;

 protected:
  ~NodeOwner() = default;
};

class ClientNode final : private socket::ClientSocketOwner,
                         private socket::TimerSink,
                         private ProberOwner {
 public:
  // Opens connections up to the pool's lower bound at once.
  ClientNode(NodeOptions options, NodeParts parts, NodeOwner& owner, Seed seed);
  ClientNode(const ClientNode&) = delete;
  ClientNode& operator=(const ClientNode&) = delete;

  // Takes the request; may end it before it returns.
  void start(Request& request, Now now);
  // Its deadline has come. `late`: our own process was not running, the node is not to blame.
  void expire(Request& request, bool late, Now now);
  // Its submitter wants no answer any more; says nothing about the node.
  void cancel(Request& request, Now now);
  // Opens a connection if there is none, as if a request waited; not to a node that is down. The
  // owner hears when one is ready, also if one is ready already. Those that were made until `stale`
  // do not count: they take nothing more, and close when nothing is in flight on them.
  void connect(Now now, Deadline stale = Deadline{0});
  // A ready socket with room, the least loaded one; empty if there is none now.
  SocketLease acquire();
  // A socket outside the pool; the caller owns it and receives its events. It does not count in the
  // pool's bounds.
  std::unique_ptr<socket::ClientSocket> create_unpooled(socket::ClientSocketOwner& owner, Now now);
  // If it is no member, nothing is started on it, and it opens no connection; what is in flight
  // goes on. If it is read from now on, or no longer, its connections take nothing more, and others
  // are made in their place.
  void set_role(Role role, Now now);
  // The sessions have another login. Connections that cannot go on with it are replaced, and finish
  // what is in flight; what has waited after a failure is tried at once.
  void renew_login(Now now);
  // The topology has changed. Waiting requests that no longer belong here are started elsewhere by
  // the owner, or fail. If the node is not a member, its connections count as ended.
  void on_topology(Now now);
  // Nothing waits or is in flight.
  bool idle() const noexcept { return queue_.empty() && pool_.idle(); }

  // Ends every request and closes every socket; nothing may be started any more.
  void shut_down(Now now);
  // True once a node that was shut down has no socket left.
  bool empty() const noexcept { return pool_.empty() && prober_.empty(); }

  const NodeOptions& options() const noexcept { return options_; }
  // Whether requests are taken; else they fail at once.
  bool usable() const noexcept { return health_.usable(); }
  // What a request is to expect here; none if there is no connection to carry it.
  std::optional<std::chrono::nanoseconds> expected_latency(Now now) const noexcept {
    if (!usable() || !pool_.any_ready()) return std::nullopt;
    return latency_.expected(queue_.in_flight() + queue_.size(), now);
  }
  // What it was like a moment ago. Any thread.
  NodeSigns last_signs() const noexcept { return {reported_, outages_}; }
  NodeStats stats() const;
  std::vector<OperationMetrics> operations() const { return tallies_.snapshot(); }

 private:
  // Events of the pool's sockets.
  void on_socket_ready(socket::ClientSocket& socket, Now now) override;
  void on_socket_reply(socket::ClientSocket& socket, socket::Request& request,
                       const protocol::Reply& reply, Now now) override;
  void on_socket_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
                      Now now) override;
  void on_socket_failed(socket::ClientSocket& socket, socket::Request& request, protocol::Sent sent,
                        Now now) override;
  void on_socket_closed(socket::ClientSocket& socket, const protocol::CloseReason& reason,
                        Now now) override;
  void on_probe_result(bool good, const protocol::CloseReason* why, Now now) override;
  void on_timer(Now now) override;

  // Requests.
  bool try_submit(Request& request, Now now);
  void pump(Now now);
  void answer(const socket::ClientSocket& socket, Request& request, const protocol::Reply& reply,
              Now now);
  // `paused`: our own process did not run for a while.
  void fail(Request& request, Outcome outcome, Reason reason, std::string_view text, Now now,
            bool paused = false);
  void fail_waiting(Outcome outcome, Reason reason, const std::string& text, Now now);

  // Connections and health.
  PoolNeeds needs() const noexcept;
  void maintain(Now now);
  void act(Now now);

  NodeOptions options_;
  NodeParts parts_;
  NodeOwner& owner_;
  Random random_;
  Health health_;
  RequestQueue queue_;
  SocketMaker maker_;
  SocketPool pool_;
  Prober prober_;
  CertificateWarnings certificates_;
  bool copies_;  // its connections are those of a replica
  bool shut_down_ = false;
  bool pumping_ = false;
  LastFailure failure_;
  Latency latency_;
  HealthHistory history_;
  std::atomic<NodeHealth> reported_ = NodeHealth::connecting;
  std::atomic<unsigned> outages_ = 0;
  EarliestTimer timer_;
  NodeStats stats_;  // of requests
  Tallies tallies_;
};

}  // namespace sheaf::node
