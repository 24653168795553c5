#pragma once

// ClientNode: one server. Lends pooled sockets to requests, keeps the pool between its bounds,
// decides by a pure health machine whether the node takes traffic, and asks on a socket outside the
// pool whether a node that is down has come back: no user request is ever spent on probing.
//
// A request is in one of three places: waiting (no room yet), submitted (on a socket), or done.
//
// Thread rule: belongs to one lane.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <sheaf/stats.h>

#include "base/random.h"
#include "node/backoff.h"
#include "node/event_log.h"
#include "node/health.h"
#include "node/pool_plan.h"
#include "node/request.h"
#include "node/socket_lease.h"
#include "node/window.h"
#include "protocol/session_factory.h"
#include "socket/client_socket.h"

namespace sheaf::node {

struct NodeOptions {
  std::string identity;  // host:port as configured
  socket::Endpoint endpoint;
  unsigned index = 0;  // in the topology
  std::uint32_t weight = 1;
  std::chrono::milliseconds connect_timeout{500};
  // The first attempt may take as long as an operation may: failing those that wait any sooner
  // would help nobody.
  std::chrono::milliseconds first_connect_timeout{1'000};
  PoolBounds pool;
  std::uint32_t max_in_flight = 1'024;
  std::uint64_t max_bytes_in_flight = 8u << 20;
  std::uint32_t max_waiting = 65'536;
};

// What a node needs from outside; all outlive it.
struct NodeParts {
  socket::Loop& loop;
  socket::Dialer& dialer;
  protocol::SessionFactory& sessions;
  EventLog& events;
};

class NodeOwner {
 public:
  // Before the request's sink is told: the cluster takes it off its deadline queue.
  virtual void on_request_done(Request& request) = 0;
  // A request that was not sent: true if the owner starts it elsewhere instead of failing it.
  virtual bool reroute(Request& request, Now now) = 0;
  // A connection of the pool is ready.
  virtual void on_connection_ready(unsigned /*node*/, Now) {}
  // A connection of the pool that was ready is gone, and all that was on it has ended.
  virtual void on_connection_ended(std::uint64_t connection, Now now) = 0;

 protected:
  ~NodeOwner() = default;
};

class ClientNode final : private socket::ClientSocketOwner,
                         private socket::TimerSink,
                         private socket::RequestSink {
 public:
  // Opens connections up to the pool's lower bound at once.
  ClientNode(NodeOptions options, NodeParts parts, NodeOwner& owner, Seed seed);
  ~ClientNode();
  ClientNode(const ClientNode&) = delete;
  ClientNode& operator=(const ClientNode&) = delete;

  // Takes the request; may end it before it returns.
  void start(Request& request, Now now);
  // Its deadline has come. `late`: our own process was not running, the node is not to blame.
  void expire(Request& request, bool late, Now now);
  // Opens a connection if there is none, as if a request waited, and not to a node that is down.
  // The owner is told when one is ready, or that one is.
  void connect(Now now);
  // The node that a connection (Completion::connection) leads to.
  static unsigned index_of(std::uint64_t connection) noexcept {
    return static_cast<unsigned>(connection >> connection_bits) - 1;
  }
  // A ready socket with room, the least loaded one; empty if there is none now.
  SocketLease acquire();
  // A socket outside the pool; the caller owns it and hears of it. Not counted in the pool's
  // bounds.
  std::unique_ptr<socket::ClientSocket> create_unpooled(socket::ClientSocketOwner& owner, Now now);
  // Ends every request and closes every socket; nothing may be started any more.
  void shut_down(Now now);
  // True once a shut down node has no socket left.
  bool empty() const noexcept { return pool_.empty() && probe_ == nullptr && retiring_.empty(); }

  const NodeOptions& options() const noexcept { return options_; }
  // Whether requests are taken; else they fail at once.
  bool usable() const noexcept { return health_.usable(); }
  NodeHealth health() const noexcept { return health_.state(); }
  // The health of a moment ago. Any thread.
  NodeHealth last_health() const noexcept { return reported_; }
  std::size_t pool_size() const noexcept { return pool_.size(); }
  NodeStats stats() const;

 private:
  friend class SocketLease;
  static constexpr unsigned connection_bits = 40;  // of an id; the others tell the node

  void on_socket_ready(socket::ClientSocket& socket, Now now) override;
  void on_socket_reply(socket::ClientSocket& socket, socket::Request& request,
                       const protocol::Reply& reply, Now now) override;
  void on_socket_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
                      Now now) override;
  void on_socket_failed(socket::ClientSocket& socket, socket::Request& request, protocol::Sent sent,
                        Now now) override;
  void on_socket_closed(socket::ClientSocket& socket, const protocol::CloseReason& reason,
                        Now now) override;
  void on_timer(Now now) override;
  void on_done(socket::Request&, const socket::Completion&) override {}  // of the probe's request

  // Requests.
  void bound_window(Now now);
  bool try_submit(Request& request, Now now);
  void pump(Now now);
  void end_loan(socket::ClientSocket& socket, const Request& request) noexcept;
  void answer(const socket::ClientSocket& socket, Request& request, const protocol::Reply& reply,
              Now now);
  void fail(Request& request, Outcome outcome, Reason reason, std::string_view text, Now now);
  void fail_waiting(Outcome outcome, Reason reason, const std::string& text, Now now);
  void log(const Request& request, const socket::Completion& completion);

  // Pool.
  socket::ClientSocket* best_socket() const;
  socket::ClientSocket* socket_for(const Request& request) const;
  bool has_lost(const Request& request) const;
  void give_back(socket::ClientSocket& socket) noexcept;
  void maintain(Now now);
  void arm(Deadline at);
  void gather_facts();
  std::unique_ptr<socket::ClientSocket> make_socket(socket::ClientSocketOwner& owner, Now now);
  std::unique_ptr<socket::ClientSocket> take_out(socket::ClientSocket& socket);
  void retire(const socket::ClientSocket& socket);

  // Health.
  void act(Now now);
  void start_probe(Now now);
  void end_probe(bool good, bool permanent, Now now);
  void drop_pool(Now now);
  void note_failure(const protocol::CloseReason& why);
  void log_health();

  NodeOptions options_;
  NodeParts parts_;
  NodeOwner& owner_;
  Random random_;
  Health health_;
  Backoff backoff_;
  Window window_;
  bool shut_down_ = false;
  bool pumping_ = false;
  std::vector<std::unique_ptr<socket::ClientSocket>> pool_;
  std::uint64_t made_ = 0;  // connections
  IntrusiveList<socket::Request> waiting_;
  Deadline reconnect_at_{0};  // not before, unless a probe says otherwise
  std::vector<SocketFacts> facts_;
  PoolPlan plan_;
  std::atomic<NodeHealth> reported_ = NodeHealth::connecting;
  std::string last_failure_;  // why the last connection failed or ended, for people
  Reason last_reason_ = Reason::node_down;
  std::unique_ptr<socket::ClientSocket> probe_;
  std::vector<std::unique_ptr<socket::ClientSocket>> retiring_;  // probes on their way out
  socket::Request probe_request_;
  Deadline probe_deadline_ = never;  // a probe is under way until then
  Deadline armed_ = never;           // what the timer is set to
  std::unique_ptr<socket::Timer> timer_;
  NodeStats stats_;
};

}  // namespace sheaf::node
