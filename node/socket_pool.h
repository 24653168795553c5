#pragma once

// SocketPool: the connections of a node that its requests share. It opens and closes them as the
// pool plan says, waits between attempts as the backoff says, and picks the one that carries a
// request.
//
// A socket may be lent many times at once. When the last loan ends and the socket is not as good as
// new, it is closed, never kept.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "node/backoff.h"
#include "node/pool_plan.h"
#include "node/request.h"
#include "node/socket_maker.h"
#include "node/socket_totals.h"

namespace sheaf::node {

// What the node asks of its pool now.
struct PoolNeeds {
  std::size_t waiting = 0;  // requests that found no room
  bool usable = true;       // false: no connection is opened
  std::chrono::nanoseconds connect_timeout{0};
};

class SocketPool {
 public:
  // `owner` hears of every socket of the pool and passes the ends on to on_closed().
  SocketPool(const PoolBounds& bounds, SocketMaker& maker, socket::Loop& loop,
             socket::ClientSocketOwner& owner, const Seed& seed)
      : bounds_(bounds), maker_(maker), loop_(loop), owner_(owner), random_(seed) {}
  SocketPool(const SocketPool&) = delete;
  SocketPool& operator=(const SocketPool&) = delete;

  // The ready socket with room that carries the fewest requests; null if there is none.
  socket::ClientSocket* least_loaded() const;
  // The socket that shall carry a request; null if it has no room now. While the pool stays as it
  // is, each key has one connection, so that operations on a key leave in the order of their start.
  socket::ClientSocket* socket_for(const Request& request) const;
  // Whether the request is bound to a connection that is no longer there.
  bool has_lost(const Request& request) const;
  bool any_ready() const noexcept;
  std::vector<std::uint64_t> ready_connections() const;
  // Of the server, as the latest connection that is ready was shown it; on the wall clock.
  std::optional<std::chrono::milliseconds> certificate_end() const;
  // Nothing is in flight, and nothing is lent.
  bool idle() const noexcept;

  void lend(socket::ClientSocket& socket) noexcept { ++socket.leases; }
  void give_back(socket::ClientSocket& socket) noexcept;

  // Closes what has been idle or busy for too long and opens what is needed. The pool is to be
  // looked at again at the moment that is returned, or earlier.
  Deadline maintain(const PoolNeeds& needs, Now now);
  // Opens a connection if there is none and the backoff allows one now.
  void open_first(const PoolNeeds& needs, Now now);
  // Ready sockets that were made until `stale` carry nothing more, but for requests that are bound
  // to them, and close when nothing is lent any more.
  void retire_ready(Deadline stale, Now now);
  // The same of all that there are; those that are not ready yet close at once.
  void retire_all(Now now);
  // Another login holds: what cannot go on with it retires.
  void renew_login(Now now);
  // The next attempt to connect need not wait: something has shown that the node answers.
  void skip_backoff(Now now) noexcept;
  // A socket of the pool has become ready.
  void on_ready(Now now) noexcept;
  // A socket of the pool has ended: it is the caller's now.
  std::unique_ptr<socket::ClientSocket> on_closed(const socket::ClientSocket& socket,
                                                  const protocol::CloseReason& why, Now now);
  void close_all(Now now);
  void abort_all(Reason reason, const std::string& text, Now now);

  bool empty() const noexcept { return sockets_.empty(); }
  std::size_t size() const noexcept { return sockets_.size(); }
  const PoolBounds& bounds() const noexcept { return bounds_; }
  void add_to(NodeStats& stats) const;

 private:
  void open(std::chrono::nanoseconds timeout, Now now);
  void retire(socket::ClientSocket& socket, Now now);

  PoolBounds bounds_;
  SocketMaker& maker_;
  socket::Loop& loop_;
  socket::ClientSocketOwner& owner_;
  Random random_;
  Backoff backoff_;
  Deadline reconnect_at_{0};  // no attempt to connect before
  unsigned other_ways_ = 0;   // that were gone since a connection was ready
  std::vector<std::unique_ptr<socket::ClientSocket>> sockets_;
  std::vector<SocketFacts> facts_;
  PoolPlan plan_;
  SocketTotals totals_;
};

// Whether a connection ended by the fault of the node or of the way to it.
inline bool is_failure(const protocol::CloseReason& why) noexcept {
  return !why.renegotiates && why.reason != Reason::closed && why.reason != Reason::node_down;
}

}  // namespace sheaf::node
