#include "node/socket_pool.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "base/hash.h"

namespace sheaf::node {

using socket::ClientSocket;

namespace {

// An attempt that negotiates differently from the last one need not wait. But a client that gets a
// new login for each attempt, all of them wrong, would do so forever.
constexpr unsigned most_ways = 4;

// True if a socket carries any request, once it is ready.
bool takes_all(const ClientSocket& socket) noexcept { return !socket.retired && !socket.behind; }

}  // namespace

// ---- picking

ClientSocket* SocketPool::least_loaded() const {
  ClientSocket* best = nullptr;
  for (const auto& socket : sockets_) {
    if (socket->room() == 0 || !takes_all(*socket)) continue;
    if (best == nullptr || socket->in_flight() < best->in_flight()) best = socket.get();
  }
  return best;
}

ClientSocket* SocketPool::socket_for(const Request& request) const {
  if (request.only_on != 0) {
    const auto at =
        std::ranges::find(sockets_, request.only_on, [](const auto& socket) { return socket->id; });
    return at != sockets_.end() && (*at)->room() > 0 ? at->get() : nullptr;
  }
  if (sockets_.size() <= 1) return least_loaded();
  const auto is_ready = [](const auto& socket) { return socket->ready() && takes_all(*socket); };
  const auto ready = static_cast<std::uint64_t>(std::ranges::count_if(sockets_, is_ready));
  if (ready == 0) return nullptr;
  std::uint64_t skip = hash64(request.operation.key) % ready;
  for (const auto& socket : sockets_) {
    if (is_ready(socket) && skip-- == 0) return socket->room() > 0 ? socket.get() : nullptr;
  }
  return nullptr;
}

bool SocketPool::has_lost(const Request& request) const {
  return request.only_on != 0 && std::ranges::none_of(sockets_, [&](const auto& socket) {
           return socket->id == request.only_on && socket->ready();
         });
}

bool SocketPool::any_ready() const noexcept {
  return std::ranges::any_of(
      sockets_, [](const auto& socket) { return socket->ready() && takes_all(*socket); });
}

bool SocketPool::any_greeting() const noexcept {
  return std::ranges::any_of(sockets_, [](const auto& socket) {
    return socket->state() == ClientSocket::State::handshaking;
  });
}

std::vector<std::uint64_t> SocketPool::ready_connections() const {
  std::vector<std::uint64_t> ids;
  for (const auto& socket : sockets_) {
    if (socket->ready()) ids.push_back(socket->id);
  }
  return ids;
}

std::optional<std::chrono::milliseconds> SocketPool::certificate_end() const {
  std::optional<std::chrono::milliseconds> latest;
  for (const auto& socket : sockets_) {
    if (socket->ready()) latest = socket->encryption().certificate_end;
  }
  return latest;
}

bool SocketPool::idle() const noexcept {
  return std::ranges::all_of(
      sockets_, [](const auto& socket) { return socket->in_flight() == 0 && socket->leases == 0; });
}

void SocketPool::give_back(ClientSocket& socket) noexcept {
  SHEAF_CHECK(socket.leases > 0);
  if (--socket.leases > 0) return;
  if (socket.retired) return socket.close(loop_.now());
  using Fitness = ClientSocket::Fitness;
  const Fitness fitness = socket.fitness();
  if (!socket.ready() || fitness == Fitness::as_new) return;
  // Where several connections share the keys, one that comes back would take over keys that have
  // requests in flight on others.
  const Now now = loop_.now();
  if (bounds_.max == 1 && fitness == Fitness::owes_late_replies &&
      now.mono - socket.times().silent_since() < bounds_.silence) {
    socket.behind = true;
    return;
  }
  // If the peer has ended it, its requests know that first. They wait for the next connection,
  // which is made without a pause.
  const bool over = socket.session().closed();
  const bool first =
      socket.abort(Reason::closed, "returned to the pool with a reply outstanding", now);
  if (over && first) ++totals_.lost;
}

// ---- opening and closing

void SocketPool::open(std::chrono::nanoseconds timeout, Now now) {
  begun_ = true;
  sockets_.push_back(maker_.make_pooled(owner_, timeout, now));
}

Deadline SocketPool::maintain(const PoolNeeds& needs, Now now) {
  facts_.clear();
  for (const auto& socket : sockets_) {
    facts_.push_back({socket->ready(), socket->times().idle_since, socket->busy_since(),
                      socket->in_flight(), socket->leases, socket->room(), socket->retired,
                      socket->behind ? socket->times().silent_since() : never});
  }
  plan_pool(facts_, bounds_, needs.waiting, now, plan_);
  for (std::size_t i = 0; i < plan_.verdicts.size(); ++i) {
    if (plan_.verdicts[i] == Verdict::close_idle) sockets_[i]->close(now);
    if (plan_.verdicts[i] == Verdict::end_silent) {
      sockets_[i]->abort(Reason::closed, "a late reply has not come", now);
    }
    if (plan_.verdicts[i] == Verdict::end_busy) {
      sockets_[i]->abort(Reason::connection_lost, "a request was in flight for busy_timeout", now);
    }
  }
  if (plan_.create == 0 || !needs.usable) return plan_.next;
  if (!may_open(needs.waiting > 0, now)) return std::min(plan_.next, reconnect_at_);
  for (unsigned i = 0; i < plan_.create; ++i) open(needs.connect_timeout, now);
  return plan_.next;
}

void SocketPool::open_first(const PoolNeeds& needs, Now now) {
  const bool none =
      std::ranges::all_of(sockets_, [](const auto& socket) { return socket->behind; });
  if (none && may_open(true, now)) open(needs.connect_timeout, now);
}

void SocketPool::retire_ready(Deadline stale, Now now) {
  for (const auto& socket : sockets_) {
    if (socket->ready() && socket->times().created <= stale) retire(*socket, now);
  }
}

void SocketPool::retire(ClientSocket& socket, Now now) {
  if (std::exchange(socket.retired, true)) return;
  if (socket.leases == 0) socket.close(now);
}

void SocketPool::leave(ClientSocket& socket, Now now) {
  if (socket.retired) return;
  socket.misled = true;
  retire(socket, now);
}

void SocketPool::leave_strangers(const protocol::KnownServers& known, Now now) {
  for (const auto& socket : sockets_) {
    if (socket->ready() && known.is_stranger(socket->session().peer().id)) leave(*socket, now);
  }
}

void SocketPool::retire_all(Now now) {
  retire_ready(now.mono, now);
  for (const auto& socket : sockets_) {
    if (!socket->ready()) socket->close(now);
  }
}

void SocketPool::renew_login(Now now) {
  for (const auto& socket : sockets_) {
    if (!socket->retired && !socket->renew_login(now)) retire(*socket, now);
  }
}

void SocketPool::skip_backoff(Now now) noexcept {
  backoff_.reset();
  reconnect_at_ = now.mono;
}

bool SocketPool::on_ready(ClientSocket& socket, Now now) noexcept {
  if (std::exchange(socket.behind, false)) return true;
  ++totals_.connects;
  other_ways_ = 0;
  backoff_.on_ready(now);
  const auto replaced = std::ranges::find_if(
      sockets_, [](const auto& other) { return other->behind && !other->retired; });
  if (replaced != sockets_.end()) retire(**replaced, now);
  return false;
}

std::unique_ptr<ClientSocket> SocketPool::on_closed(const ClientSocket& socket,
                                                    const protocol::CloseReason& why, Now now) {
  totals_.add(socket);
  const auto backoff = [&] {
    return random_.draw([&](Random& random) { return backoff_.on_failed(now, random); });
  };
  if (why.renegotiates) {
    reconnect_at_ = ++other_ways_ <= most_ways ? now.mono : backoff();
  } else if (is_failure(why)) {
    ++(socket.was_ready() ? totals_.lost : totals_.connect_failures);
    if (!socket.behind) reconnect_at_ = backoff();  // it is replaced already
  }
  const auto at = std::ranges::find(sockets_, &socket, [](const auto& own) { return own.get(); });
  SHEAF_CHECK(at != sockets_.end());
  auto gone = std::move(*at);
  sockets_.erase(at);
  return gone;
}

void SocketPool::close_all(Now now) {
  for (const auto& socket : sockets_) socket->close(now);
}

void SocketPool::abort_all(Reason reason, const std::string& text, Now now) {
  for (const auto& socket : sockets_) socket->abort(reason, text, now);
}

void SocketPool::add_to(NodeStats& stats) const {
  SocketTotals totals = totals_;
  for (const auto& socket : sockets_) {
    stats.connections += socket->ready() ? 1 : 0;
    if (socket->ready()) {
      stats.tls = socket->encryption().name;
      protocol::Peer peer = socket->session().peer();
      stats.server = std::move(peer.software);
      stats.server_id = std::move(peer.id);
      stats.role = peer.role;
    }
    stats.in_flight += socket->in_flight();
    totals.add(*socket);
  }
  totals.add_to(stats);
}

}  // namespace sheaf::node
