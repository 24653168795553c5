// The half of ClientNode that keeps connections: pool, probe, health.

#include <algorithm>

#include "base/checks.h"
#include "base/hash.h"
#include "node/client_node.h"

namespace sheaf::node {
namespace {

// How often requests that wait for a returning node's growing window look again.
constexpr std::chrono::milliseconds ramp_step{20};

}  // namespace

using socket::ClientSocket;

// ---- pool

ClientSocket* ClientNode::best_socket() const {
  ClientSocket* best = nullptr;
  for (const auto& socket : pool_) {
    if (socket->room() == 0) continue;
    if (best == nullptr || socket->in_flight() < best->in_flight()) best = socket.get();
  }
  return best;
}

// One key, one connection, while the pool stays as it is: so operations on a key leave in the order
// in which they were started. Null if that connection has no room.
ClientSocket* ClientNode::socket_for(const Request& request) const {
  if (request.only_on != 0) {
    const auto at = std::ranges::find(pool_, request.only_on, [](const auto& s) { return s->id; });
    return at != pool_.end() && (*at)->room() > 0 ? at->get() : nullptr;
  }
  if (pool_.size() <= 1) return best_socket();
  const auto is_ready = [](const auto& socket) { return socket->ready(); };
  const auto ready = static_cast<std::uint64_t>(std::ranges::count_if(pool_, is_ready));
  if (ready == 0) return nullptr;
  std::uint64_t skip = hash64(request.operation.key) % ready;
  for (const auto& socket : pool_) {
    if (socket->ready() && skip-- == 0) return socket->room() > 0 ? socket.get() : nullptr;
  }
  return nullptr;
}

// It may only go on a connection that is no longer there.
bool ClientNode::has_lost(const Request& request) const {
  return request.only_on != 0 && std::ranges::none_of(pool_, [&](const auto& socket) {
           return socket->id == request.only_on && socket->ready();
         });
}

SocketLease ClientNode::acquire() {
  ClientSocket* best = best_socket();
  return best != nullptr ? SocketLease(*this, *best) : SocketLease();
}

// The end of a loan. A socket that nobody uses any more must be as good as new, or it goes.
void ClientNode::give_back(ClientSocket& socket) noexcept {
  SHEAF_CHECK(socket.leases > 0);
  if (--socket.leases > 0) return;
  const Now now = parts_.loop.now();
  if (socket.ready() && !socket.reset()) {
    socket.abort(Reason::closed, "given back with a reply still owed", now);
  }
}

std::unique_ptr<ClientSocket> ClientNode::create_unpooled(socket::ClientSocketOwner& owner,
                                                          Now now) {
  return make_socket(owner, now);
}

std::unique_ptr<ClientSocket> ClientNode::make_socket(socket::ClientSocketOwner& owner, Now now) {
  const auto timeout = health_.state() == NodeHealth::connecting ? options_.first_connect_timeout
                                                                 : options_.connect_timeout;
  auto socket = std::make_unique<ClientSocket>(parts_.loop, parts_.dialer, options_.endpoint,
                                               parts_.sessions.make(options_.index, now), owner,
                                               now.mono + timeout);
  socket->id = (std::uint64_t{options_.index} + 1) << connection_bits | ++made_;
  return socket;
}

void ClientNode::gather_facts() {
  facts_.clear();
  for (const auto& socket : pool_) {
    facts_.push_back({socket->ready(), socket->idle_since(), socket->busy_since(),
                      socket->in_flight(), socket->leases, socket->room()});
  }
}

// Carries out what the pool plan says: fill up to the lower bound and to what the waiting need, end
// what has been idle or busy for too long. Then sets the timer to whatever comes first.
void ClientNode::maintain(Now now) {
  if (shut_down_) return;
  gather_facts();
  plan_pool(facts_, options_.pool, waiting_.size(), now, plan_);
  for (std::size_t i = 0; i < plan_.verdicts.size(); ++i) {
    if (plan_.verdicts[i] == Verdict::close_idle) pool_[i]->close(now);
    if (plan_.verdicts[i] == Verdict::end_busy) {
      pool_[i]->abort(Reason::connection_lost, "a request was in flight for busy_timeout", now);
    }
  }
  Deadline next = std::min({plan_.next, health_.poll_deadline(), probe_deadline_});
  if (plan_.create > 0 && health_.usable()) {
    if (now.mono >= reconnect_at_) {
      for (unsigned i = 0; i < plan_.create; ++i) pool_.push_back(make_socket(*this, now));
    } else {
      next = std::min(next, reconnect_at_);
    }
  }
  if (health_.state() == NodeHealth::recovering && !waiting_.empty()) {
    next = std::min(next, now.mono + ramp_step);
  }
  armed_ = next;
  timer_->set(next);
}

void ClientNode::connect(Now now) {
  if (shut_down_ || !health_.usable()) return;
  if (!pool_.empty()) {
    if (pool_.front()->ready()) owner_.on_connection_ready(options_.index, now);
    return;
  }
  if (now.mono < reconnect_at_) return;
  pool_.push_back(make_socket(*this, now));
  maintain(now);
}

// At the latest then, the pool is looked at again. Most requests find an earlier setting and cost
// nothing here.
void ClientNode::arm(Deadline at) {
  if (at >= armed_) return;
  armed_ = at;
  timer_->set(at);
}

std::unique_ptr<ClientSocket> ClientNode::take_out(ClientSocket& socket) {
  for (auto* list : {&pool_, &retiring_}) {
    const auto at = std::ranges::find(*list, &socket, [](const auto& s) { return s.get(); });
    if (at == list->end()) continue;
    auto taken = std::move(*at);
    list->erase(at);
    return taken;
  }
  SHEAF_CHECK(false && "a socket of this node");
  return nullptr;
}

// Keeps what a socket counted.
void ClientNode::retire(const ClientSocket& socket) {
  stats_.bytes_sent += socket.bytes_sent();
  stats_.bytes_received += socket.bytes_received();
  stats_.late_replies += socket.counters().late_replies;
  stats_.bad_timestamps += socket.counters().bad_timestamps;
}

// ---- health

// Carries out what the health machine asks for, and reports a change.
void ClientNode::act(Now now) {
  if (shut_down_) return;
  for (;;) {
    switch (health_.next_action(now)) {
      case HealthAction::none:
        log_health();
        arm(now.mono);  // the next turn plans anew
        return;
      case HealthAction::start_probe:
        start_probe(now);
        break;
      case HealthAction::connect_pool:
        backoff_.reset();
        reconnect_at_ = now.mono;
        maintain(now);
        break;
      case HealthAction::drop_pool:
        drop_pool(now);
        break;
    }
  }
}

void ClientNode::start_probe(Now now) {
  probe_deadline_ = now.mono + health_.probe_timeout();
  probe_request_.operation.deadline = probe_deadline_;
  if (probe_ == nullptr) {
    probe_ = make_socket(*this, now);
    return;
  }
  if (!probe_->submit(probe_request_, now)) end_probe(false, false, now);
}

// The connection is kept only between good answers: a probe that failed may have left a reply
// behind.
void ClientNode::end_probe(bool good, bool permanent, Now now) {
  probe_deadline_ = never;
  health_.on_probe_result(good, permanent, now);
  if (probe_ != nullptr && (!good || health_.usable())) {
    if (probe_request_.socket != nullptr) probe_->cancel(probe_request_, now);
    probe_->close(now);
    retiring_.push_back(std::move(probe_));
  }
  act(now);
}

// The node is down: its connections are worth nothing, and nobody waits for it.
void ClientNode::drop_pool(Now now) {
  if (last_failure_.empty()) last_failure_ = "requests timed out without any answer";
  for (const auto& socket : pool_) socket->abort(Reason::node_down, last_failure_, now);
  fail_waiting(Outcome::not_sent, last_reason_, last_failure_, now);
}

void ClientNode::log_health() {
  if (health_.state() == reported_) return;
  reported_ = health_.state();
  if (!parts_.events.listening()) return;
  LogRecord record;
  const bool down = health_.state() == NodeHealth::down;
  record.level = down ? LogLevel::error : LogLevel::info;
  record.node = options_.identity;
  record.operation = "health";
  record.text = to_string(health_.state());
  if (down && !last_failure_.empty()) record.text += ": " + last_failure_;
  parts_.events.record(std::move(record));
}

}  // namespace sheaf::node
