#pragma once

// ClientNode: one server. It puts requests on connections, ends them, and lets a pure state machine
// (node/health.h) decide if the node takes traffic. Its parts:
//
//   RequestQueue   the requests that wait for room, and the use of the window
//   SocketPool     the connections that requests share
//   Prober         the connection that probes a node that is down
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

#include "node/admission.h"
#include "node/certificate_warnings.h"
#include "node/earliest_timer.h"
#include "node/health.h"
#include "node/health_history.h"
#include "node/last_failure.h"
#include "node/late_requests.h"
#include "node/latency.h"
#include "node/node_options.h"
#include "node/prober.h"
#include "node/request_queue.h"
#include "node/socket_lease.h"
#include "node/takeovers.h"
#include "node/tallies.h"

namespace sheaf::node {

struct NodeSigns {
  NodeHealth health = NodeHealth::down;
  unsigned outages = 0;  // how often the node has gone down
  bool owes = false;     // a request that has ended may still be carried out (late_requests.h)
};

class NodeOwner {
 public:
  // Called before the request's sink is notified.
  virtual void on_request_done(Request& request, const socket::Completion& completion) = 0;
  // A request was not sent, or the connection of a provisional request ended. Returns true if the
  // owner starts the request elsewhere; otherwise it fails.
  virtual bool reroute(Request& request, Now now) = 0;
  // The server did not carry out a request, which has left its connection. The reply has a
  // Redirect, and its views live during the call. Or the request is provisional, and this reply is
  // not the value that it wants. Returns true if the owner ends the request or starts it later, but
  // not within this call; otherwise it ends as refused.
  virtual bool redirect(Request&, const protocol::Reply&, Now) { return false; }
  // True if a request that waits on a node should still go there.
  virtual bool belongs(const Request&) const { return true; }
  // A connection of the pool is ready.
  virtual void on_connection_ready(unsigned /*node*/, Now) {}
  // A connection of the pool that was ready is gone, and all its requests have ended. For a
  // connection that was disowned before, this is called once more when it is gone.
  virtual void on_connection_ended(std::uint64_t connection, Now now) = 0;

 protected:
  ~NodeOwner() = default;
};

class ClientNode final : private socket::ClientSocketOwner,
                         private socket::TimerSink,
                         private ProberOwner {
 public:
  // Opens connections up to the pool's lower bound at once, or from `connects_at` on. Those that
  // requests wait for are opened before that, too.
  ClientNode(NodeOptions options, NodeParts parts, NodeOwner& owner, Seed seed,
             Deadline connects_at = Deadline{0});

  // Takes the request, and may end it before it returns.
  void start(Request& request, Now now);
  // The request's deadline has come. `late`: our own process was not running, so the node is not to
  // blame.
  void expire(Request& request, bool late, Now now);
  // Its submitter no longer wants an answer. This says nothing about the node.
  void cancel(Request& request, Now now);
  // Its submitter has the answer of another node. What is still to come for it comes for `heir`, a
  // copy of it or itself. Returns false if nothing is: it was not sent yet and has left the queue.
  bool hand_over(Request& request, Request& heir, Now now);
  // Opens a connection if the node has none, as for a waiting request, unless the node is down. The
  // owner is notified when one is ready, even if one is ready already. Connections made until
  // `stale` do not count: they take no more requests, and close when nothing is in flight on them.
  void connect(Now now, Deadline stale = Deadline{0});
  // The least loaded ready socket that has room; empty if no socket has room now.
  SocketLease acquire();
  // Makes a socket outside the pool, for watches, which does not count in the pool's bounds. The
  // caller owns it and receives its events.
  std::unique_ptr<socket::ClientSocket> create_unpooled(socket::ClientSocketOwner& owner, Now now);
  // Role::none: no request is started on the node, and it opens no connection; requests in flight
  // continue. If the node becomes a replica or stops being one, its connections take no more
  // requests and are replaced.
  void set_role(Role role, Now now);
  // The sessions have another login. Connections that cannot continue with it finish what is in
  // flight and are replaced. Attempts that were waiting after a failure are made at once.
  void renew_login(Now now);
  // The topology has changed. The owner starts waiting requests that no longer belong here
  // elsewhere, or they fail. If the node is not a member, its connections count as ended; if they
  // lead to a stranger, they are replaced.
  void on_topology(Now now);
  // True if nothing waits or is in flight.
  bool idle() const noexcept { return queue_.empty() && queue_.given_up() == 0 && pool_.idle(); }

  // Ends every request and closes every socket. Nothing may be started afterwards.
  void shut_down(Now now);
  // True once a node that was shut down has no socket left.
  bool empty() const noexcept { return pool_.empty() && prober_.empty(); }

  const NodeOptions& options() const noexcept { return options_; }
  // True if requests are taken; otherwise they fail at once.
  bool usable() const noexcept { return health_.usable(); }
  // The latency that a request should expect here; nothing if no connection can carry it. `alone`:
  // as if no other request were here.
  std::optional<std::chrono::nanoseconds> expected_latency(Now now,
                                                           bool alone = false) const noexcept {
    if (!usable() || !pool_.any_ready()) return std::nullopt;
    return latency_.expected(alone ? 0 : queue_.in_flight() + queue_.size(), now);
  }
  // The state of a moment ago. Any thread.
  NodeSigns last_signs() const noexcept { return {reported_, outages_, late_.any()}; }
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
  void on_socket_outdated(socket::ClientSocket& socket, Now now) override;
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

  // Connections and health.
  void maintain(Now now);
  void act(Now now);

  NodeOptions options_;
  NodeParts parts_;
  NodeOwner& owner_;
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
  Takeovers takeovers_;
  Latency latency_;
  std::unique_ptr<Admission> admission_;  // null: no connection has been ready
  LateRequests late_;
  HealthHistory history_;
  std::atomic<NodeHealth> reported_ = NodeHealth::connecting;
  std::atomic<unsigned> outages_ = 0;
  EarliestTimer timer_;
  Tallies tallies_;
};

}  // namespace sheaf::node
