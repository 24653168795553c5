#pragma once

// SocketPool: the connections of a node that its requests share. It opens and closes them by the
// pool plan, waits between attempts by the backoff, and picks the connection for each request.
//
// A socket may be lent many times at once. If it is not as good as new when the last loan ends, it
// is closed. One that only owes replies to requests that have ended, in a protocol that pairs by
// order, is `behind`, if it is the only one that the pool may have:
//
//   given back --owes late replies--> behind --they have come--> as before
//                                            --nothing has come for 250 ms, or another connection
//                                              is ready--> closed
//
// Another one is opened in its place at once, as if it had been closed, and the first of the two
// that can be used is. Meanwhile it takes only requests that are bound to it.
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

// What the node needs from its pool now.
struct PoolNeeds {
  std::size_t waiting = 0;  // requests that found no room
  bool usable = true;       // false: no connection is opened
  std::chrono::nanoseconds connect_timeout{0};
};

class SocketPool {
 public:
  // `owner` receives the events of every socket of the pool, and must pass each end on to
  // on_closed(). Bounds, maker, loop and owner must outlive it. Until `begins_at` connections are
  // opened only for requests.
  SocketPool(const PoolBounds& bounds, SocketMaker& maker, socket::Loop& loop,
             socket::ClientSocketOwner& owner, const Seed& seed, Deadline begins_at = Deadline{0})
      : bounds_(bounds),
        maker_(maker),
        loop_(loop),
        owner_(owner),
        random_(seed),
        reconnect_at_(begins_at) {}
  SocketPool(const SocketPool&) = delete;
  SocketPool& operator=(const SocketPool&) = delete;

  // The ready socket with room that carries the fewest requests; null if no socket has room.
  socket::ClientSocket* least_loaded() const;
  // The socket that should carry a request; null if it has no room now. While the pool does not
  // change, each key has one connection, so that operations on a key are sent in the order of their
  // start.
  socket::ClientSocket* socket_for(const Request& request) const;
  // True if the request is bound to a connection that has ended.
  bool has_lost(const Request& request) const;
  bool any_ready() const noexcept;
  // True if a server has been reached, and has not answered the greeting yet.
  bool any_greeting() const noexcept;
  std::vector<std::uint64_t> ready_connections() const;
  // When the server's certificate expires, by the wall clock, as the latest ready connection was
  // shown it.
  std::optional<std::chrono::milliseconds> certificate_end() const;
  // True if nothing is in flight and nothing is lent.
  bool idle() const noexcept;

  void lend(socket::ClientSocket& socket) noexcept { ++socket.leases; }
  void give_back(socket::ClientSocket& socket) noexcept;

  // Closes what has been idle or busy for too long and opens what is needed. Returns when to call
  // it again at the latest.
  Deadline maintain(const PoolNeeds& needs, Now now);
  // Opens a connection if the pool has none, or only such as are behind, and the backoff allows it.
  void open_first(const PoolNeeds& needs, Now now);
  // Retires ready sockets made until `stale`: they carry nothing more except requests that are
  // bound to them, and close when nothing is lent any more.
  void retire_ready(Deadline stale, Now now);
  // Retires a socket that leads to the wrong server.
  void leave(socket::ClientSocket& socket, Now now);
  // The same for all that lead to strangers.
  void leave_strangers(const protocol::KnownServers& known, Now now);
  // Retires all sockets; those that are not ready yet close at once.
  void retire_all(Now now);
  // The login has changed: retires connections that cannot continue with it.
  void renew_login(Now now);
  // The next attempt to connect need not wait, because something has shown that the node answers.
  void skip_backoff(Now now) noexcept;
  // A socket of the pool has become ready. Returns true if it was behind: then the next maintain()
  // closes what was to take its place.
  bool on_ready(socket::ClientSocket& socket, Now now) noexcept;
  // A socket of the pool has ended: returns it to the caller, who now owns it.
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
  bool may_open(bool for_requests, Now now) const noexcept {
    return now.mono >= reconnect_at_ || (for_requests && !begun_);
  }
  void retire(socket::ClientSocket& socket, Now now);

  const PoolBounds& bounds_;  // the node's
  SocketMaker& maker_;
  socket::Loop& loop_;
  socket::ClientSocketOwner& owner_;
  RareRandom random_;
  Backoff backoff_;
  Deadline reconnect_at_;    // no attempt to connect before this
  unsigned other_ways_ = 0;  // new ways tried since a connection was last ready
  bool begun_ = false;       // a connection was opened
  std::vector<std::unique_ptr<socket::ClientSocket>> sockets_;
  std::vector<SocketFacts> facts_;
  PoolPlan plan_;
  SocketTotals totals_;
};

// True if a connection ended because of the node or the network.
inline bool is_failure(const protocol::CloseReason& why) noexcept {
  return !why.renegotiates && why.reason != Reason::closed && why.reason != Reason::node_down;
}

}  // namespace sheaf::node
