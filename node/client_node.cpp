#include "node/client_node.h"

#include <algorithm>
#include <utility>

#include "node/node_records.h"
#include "node/ramp.h"

namespace sheaf::node {

using protocol::CloseReason;
using protocol::Reply;
using protocol::Sent;
using protocol::Status;
using socket::ClientSocket;
using socket::Completion;

namespace {

// How often requests are tried again that wait for the growing window of a returning node, or
// because the server is slow.
constexpr std::chrono::milliseconds retry_step{20};
// A connection that is younger is not replaced because its server has another role: its name was
// resolved just now.
constexpr std::chrono::milliseconds youngest_outdated{250};

// All requests on the pool's sockets have come through start().
Request& ours(socket::Request& request) noexcept { return static_cast<Request&>(request); }

// The number of requests that may be in flight. A node that has come back gets a growing part of
// its window; requests that do not fit wait.
std::uint64_t window_of(const Health& health, std::uint64_t full, Now now) {
  const bool ramp = health.state() == NodeHealth::recovering;
  return ramp ? ramp_limit(full, health.since(), health.ramp(), now) : full;
}

std::chrono::nanoseconds connect_timeout(const Health& health, const NodeOptions& options) {
  const bool first = health.state() == NodeHealth::connecting;
  return first ? options.first_connect_timeout : options.connect_timeout;
}

PoolNeeds needs_of(const RequestQueue& queue, const Health& health, const NodeOptions& options) {
  return {queue.size(), health.usable() && options.role != Role::none,
          connect_timeout(health, options)};
}

// Takes a request off its connection, where its place is kept until its reply has passed. Returns
// what is known about its effect.
Outcome take_back(Request& request, RequestQueue& queue, SocketPool& pool, LateRequests& late,
                  Now now) {
  ClientSocket& socket = *request.socket;
  const Sent sent = socket.cancel(request, now);
  queue.release(request);
  pool.give_back(socket);
  if (sent == Sent::no) return Outcome::not_sent;
  late.add(socket.id, now.mono);
  return Outcome::unknown;
}

std::optional<std::chrono::system_clock::time_point> time_point_of(
    std::optional<std::chrono::milliseconds> wall) {
  if (!wall) return std::nullopt;
  // Far ends are cut to the latest time that the clock can express.
  using Time = std::chrono::system_clock::time_point;
  const auto latest = std::chrono::floor<std::chrono::milliseconds>(Time::max().time_since_epoch());
  return Time(std::min(*wall, latest));
}

void observe(const Request& request, const socket::Completion& completion,
             const socket::Endpoint& server, EventLog& events) {
  if (request.counted && events.observing()) events.observe(event_of(request, completion, server));
}

// The client's own requests are always sent. `admission`: null if none was sent yet.
Admission::Ruling judge(const Request& request, Admission* admission, const RequestQueue& queue,
                        Now now) {
  if (!request.counted || admission == nullptr) return Admission::Ruling::send;
  Admission::Wish wish;
  wish.width = request.width();
  wish.started = request.arrived_at();
  wish.deadline = request.operation.deadline;
  wish.last = queue.empty() || queue.contains_only(request);
  wish.idle = queue.in_flight() == 0;
  return admission->judge(wish, now);
}

// Why a request did not leave before its deadline.
std::string_view why_it_waits(const Request& request, const RequestQueue& queue,
                              const SocketPool& pool) noexcept {
  if (queue.gave_up(request)) return "the server is asked for more than it can answer in time";
  if (pool.any_ready()) return "the node had no room for the request";
  if (!pool.any_greeting()) return "the node has no connection yet";
  return "connected, but the server has not answered the greeting: it hangs, or speaks another "
         "protocol";
}

}  // namespace

ClientNode::ClientNode(NodeOptions options, NodeParts parts, NodeOwner& owner, Seed seed,
                       Deadline connects_at)
    : options_(std::move(options)),
      parts_(parts),
      owner_(owner),
      health_(Random(seed).fork()),
      queue_({options_.max_in_flight, options_.max_bytes_in_flight, options_.max_waiting}),
      maker_(options_, parts_),
      pool_(options_.pool, maker_, parts_.loop, *this, Random(seed, seed.size()).fork(),
            connects_at),
      prober_(maker_, *this, options_.connect_timeout),
      copies_(options_.role == Role::replica),
      timer_(parts_.loop, *this) {
  maintain(parts_.loop.now());
}

// ---- requests

void ClientNode::start(Request& request, Now now) {
  request.items_ = 0;
  request.arrived_at_ = now.mono;
  tallies_.on_start(request.unanswered());
  if (shut_down_) {
    fail(request, Outcome::shutdown, Reason::closed, "the client is closing", now);
    return;
  }
  if (!health_.usable()) {
    fail(request, Outcome::not_sent, failure_.reason(), failure_.text(), now);
    return;
  }
  if (request.operation.deadline <= now.mono) {
    tallies_.on_timeout(request.unanswered());
    fail(request, Outcome::not_sent, Reason::timed_out,
         "the deadline passed before the request could be sent", now);
    return;
  }
  const bool first = queue_.empty();
  const bool may_go =
      first && judge(request, admission_.get(), queue_, now) == Admission::Ruling::send;
  if (may_go && try_submit(request, now)) return;
  if (!queue_.push(request)) {
    fail(request, Outcome::overloaded, Reason::queue_full,
         "max_waiting (" + std::to_string(options_.max_waiting) + ") requests wait for this node",
         now);
    return;
  }
  if (first || pool_.size() < options_.pool.max) maintain(now);
}

// Returns false if there is no room yet. True: the request is on a socket, or has ended because the
// session refused it.
bool ClientNode::try_submit(Request& request, Now now) {
  if (pool_.has_lost(request)) {
    fail(request, Outcome::not_sent, Reason::connection_lost,
         "the connection that this request must use has ended", now);
    return true;
  }
  queue_.narrow(window_of(health_, options_.max_in_flight, now));
  if (!queue_.has_room_for(request)) return false;
  ClientSocket* const socket = pool_.socket_for(request);
  if (socket == nullptr) return false;
  const SocketLease lease(pool_, *socket);
  if (auto submitted = lease->submit(request, now); !submitted) {
    const protocol::LocalError error = std::move(submitted.error());
    fail(request, error.outcome, error.reason, error.text, now);
    return true;
  }
  request.place_ = admission_->on_sent(request.width(), now);
  pool_.lend(*socket);  // the request gives it back when it ends
  queue_.admit(request);
  timer_.need(now.mono + options_.pool.busy_timeout);
  return true;
}

void ClientNode::pump(Now now) {
  if (pumping_) return;  // a completion started another request: the outer loop takes it
  pumping_ = true;
  queue_.narrow(window_of(health_, options_.max_in_flight, now));
  while (Request* request = queue_.front()) {
    if (!pool_.has_lost(*request)) {
      if (!queue_.has_room_for(*request) || pool_.socket_for(*request) == nullptr) break;
      const Admission::Ruling ruling = judge(*request, admission_.get(), queue_, now);
      if (ruling == Admission::Ruling::hold) break;
      if (ruling == Admission::Ruling::give_up) {
        queue_.give_up(*request);
        continue;
      }
    }
    // Submitting may end the request, and its owner may then start others, so it leaves the queue
    // first.
    queue_.remove(*request);
    try_submit(*request, now);
  }
  pumping_ = false;
}

void ClientNode::expire(Request& request, bool late, Now now) {
  tallies_.on_timeout(request.unanswered());
  if (queue_.contains(request)) {
    const std::string_view why = why_it_waits(request, queue_, pool_);
    queue_.remove(request);
    fail(request, Outcome::not_sent, Reason::timed_out, why, now, late);
    return;
  }
  latency_.on_timeout(now.mono - request.submitted_at, now);
  if (!late) admission_->on_timeout(now);
  health_.on_timeout(request.submitted_at, request.socket->times().last_received, late, now);
  const Outcome outcome = take_back(request, queue_, pool_, late_, now);
  maintain(now);  // another connection may be needed
  fail(request, outcome, Reason::timed_out, {}, now, late);
  act(now);
  if (!queue_.empty()) pump(now);
}

void ClientNode::cancel(Request& request, Now now) {
  if (queue_.contains(request)) {
    queue_.remove(request);
    fail(request, Outcome::not_sent, Reason::cancelled, {}, now);
    return;
  }
  const Outcome outcome = take_back(request, queue_, pool_, late_, now);
  maintain(now);
  fail(request, outcome, Reason::cancelled, {}, now);
  if (!queue_.empty()) pump(now);
}

// So far it has waited in vain, which the next requests should know.
bool ClientNode::hand_over(Request& request, Request& heir, Now now) {
  if (queue_.contains(request)) {
    queue_.remove(request);
    return false;
  }
  latency_.on_timeout(now.mono - request.submitted_at, now);
  if (&heir == &request) return true;
  heir.place_ = request.place_;
  request.socket->hand_over(request, heir);
  return true;
}

void ClientNode::answer(const ClientSocket& socket, Request& request, const Reply& reply, Now now) {
  tallies_.on_reply(request.unanswered());
  latency_.on_answer(now.mono - request.submitted_at, now);
  admission_->on_answer(request.place_, request.width(), now.mono - request.submitted_at, now);
  const bool goes_on = reply.redirect || (request.provisional && reply.status != Status::done);
  if (goes_on && owner_.redirect(request, reply, now)) return;
  if (reply.status == Status::refused) {
    const Outcome outcome = reply.executed ? Outcome::unknown : Outcome::refused;
    fail(request, outcome, reply.reason, reply.text, now);
    return;
  }
  if (request.counted) {
    tallies_.on_answer(request.operation.verb, reply.status, request.unanswered(),
                       now.mono - request.submitted_at);
  }
  Completion completion;
  completion.answered = true;
  completion.reply = reply;
  completion.node = options_.identity;
  if (options_.names_connections) completion.connection = socket.id;
  completion.now = now;
  observe(request, completion, options_.endpoint, parts_.events);
  owner_.on_request_done(request, completion);
  request.sink->on_done(request, completion);
}

// A cancelled request is neither sent elsewhere nor logged.
void ClientNode::fail(Request& request, Outcome outcome, Reason reason, std::string_view text,
                      Now now, bool paused) {
  const bool cancelled = reason == Reason::cancelled;
  const bool lost = outcome == Outcome::unknown && request.provisional;
  // Nothing ends a request that is moved after its deadline.
  const bool over = cancelled || reason == Reason::timed_out;
  const bool movable = (outcome == Outcome::not_sent || lost) && !over;
  if (movable && owner_.reroute(request, now)) return;
  tallies_.on_failure(request.operation.verb, outcome, request.unanswered());
  Completion completion;
  completion.outcome = outcome;
  completion.reason = reason;
  completion.text = text;
  completion.node = options_.identity;
  if (!cancelled) completion.history = history_.text(now);
  completion.paused = paused;
  completion.not_understood =
      outcome == Outcome::not_sent && !health_.usable() && failure_.not_understood();
  completion.now = now;
  if (parts_.events.listening() && !cancelled) {
    parts_.events.record(record_of(request, completion, parts_.events));
  }
  observe(request, completion, options_.endpoint, parts_.events);
  owner_.on_request_done(request, completion);
  request.sink->on_done(request, completion);
}

// ---- events of the pool's sockets

void ClientNode::on_socket_ready(ClientSocket& socket, Now now) {
  failure_.clear();
  if (admission_ == nullptr) admission_ = std::make_unique<Admission>();
  if (pool_.on_ready(socket, now)) {
    late_.on_caught_up(socket.id);
    maintain(now);
  }
  health_.on_ready(now);
  certificates_.on_connection(now);
  act(now);
  owner_.on_connection_ready(options_.index, now);
  pump(now);
}

void ClientNode::on_socket_reply(ClientSocket& socket, socket::Request& request, const Reply& reply,
                                 Now now) {
  queue_.release(ours(request));
  health_.on_answer(now);
  late_.on_answer(socket.id, socket.times().created, request.submitted_at);
  answer(socket, ours(request), reply, now);
  pool_.give_back(socket);
  if (pool_.size() > options_.pool.min) timer_.need(now.mono + options_.pool.idle_timeout);
  if (!queue_.empty()) pump(now);
}

void ClientNode::on_socket_item(socket::Request& request, std::uint32_t index, const Reply& reply,
                                Now now) {
  ++ours(request).items_;
  const bool asked_again = reply.unsure && reply.status == Status::absent;  // and counted then
  tallies_.on_item(request.operation.verb, reply.status, ours(request).counted && !asked_again);
  request.sink->on_item(request, index, reply, now);
}

void ClientNode::on_socket_failed(ClientSocket& socket, socket::Request& request, Sent sent,
                                  Now now) {
  queue_.release(ours(request));
  if (sent != Sent::no && !socket.peer_left) late_.add(socket.id, now.mono);
  const CloseReason& why = socket.close_reason();
  const bool member = options_.role != Role::none;
  if (shut_down_ && member && sent == Sent::no) {
    fail(ours(request), Outcome::shutdown, Reason::closed, "the client is closing", now);
  } else {
    fail(ours(request), sent == Sent::no ? Outcome::not_sent : Outcome::unknown, why.reason,
         why.text, now);
  }
  pool_.give_back(socket);
}

// A name may lead to another server by now. As long as it does not, a young connection stays.
void ClientNode::on_socket_outdated(ClientSocket& socket, Now now) {
  if (now.mono - socket.times().created < youngest_outdated) return;
  pool_.leave(socket, now);
  maintain(now);
}

void ClientNode::on_socket_closed(ClientSocket& socket, const CloseReason& why, Now now) {
  const bool was_ready = socket.was_ready();
  const auto gone = pool_.on_closed(socket, why, now);
  late_.on_closed(gone->id, gone->behind ? gone->times().idle_since : now.mono);
  if (!shut_down_) {
    const Deadline created = socket.times().created;
    const std::string_view name = socket.session().own_name();
    const auto pause = takeovers_.on_ended(why, name, was_ready, created, now);
    if (pause && health_.usable()) {
      failure_.note(name_is_taken(name, socket.session().close_reason()), options_.named_by);
      health_.on_taken_over(*pause, now);
    } else if (!pause && is_failure(why)) {
      failure_.note(why, options_.named_by);
      if (!was_ready) health_.on_connect_failed(created, why.permanent, now);
    }
  }
  act(now);
  maintain(now);
  if (was_ready) owner_.on_connection_ended(gone->id, now);
}

// ---- connections

SocketLease ClientNode::acquire() {
  ClientSocket* const socket = pool_.least_loaded();
  return socket != nullptr ? SocketLease(pool_, *socket) : SocketLease();
}

std::unique_ptr<ClientSocket> ClientNode::create_unpooled(socket::ClientSocketOwner& owner,
                                                          Now now) {
  return maker_.make(protocol::SessionUse::watches, owner, connect_timeout(health_, options_), now);
}

void ClientNode::connect(Now now, Deadline stale) {
  if (shut_down_ || options_.role == Role::none || !health_.usable()) return;
  pool_.retire_ready(stale, now);
  if (pool_.any_ready()) return owner_.on_connection_ready(options_.index, now);
  pool_.open_first(needs_of(queue_, health_, options_), now);
  maintain(now);
}

void ClientNode::maintain(Now now) {
  if (shut_down_) return;
  Deadline next = std::min({pool_.maintain(needs_of(queue_, health_, options_), now),
                            health_.poll_deadline(), prober_.deadline(), certificates_.deadline()});
  const bool held_back = health_.state() == NodeHealth::recovering ||
                         (admission_ != nullptr && admission_->strict(now));
  if (held_back && !queue_.empty()) next = std::min(next, now.mono + retry_step);
  timer_.set(next);
}

void ClientNode::on_timer(Now now) {
  timer_.clear();
  if (certificates_.deadline() <= now.mono) {
    const CertificateEnds ends{pool_.certificate_end(), parts_.dialer.certificate_end()};
    for (std::string& text : certificates_.due(ends, now)) {
      if (!parts_.events.listening()) break;
      parts_.events.record(record_of_certificate(options_.identity, std::move(text)));
    }
  }
  prober_.on_deadline(now);
  act(now);
  maintain(now);
  if (!queue_.empty()) pump(now);
}

// ---- health

// Carries out what the health machine asks for, and reports a change.
void ClientNode::act(Now now) {
  if (shut_down_) return;
  for (;;) {
    switch (health_.next_action(now)) {
      case HealthAction::none:
        timer_.need(now.mono);  // the next turn plans again
        if (health_.state() == reported_) return;
        reported_ = health_.state();
        history_.note(reported_, failure_.text(), now);
        if (reported_ == NodeHealth::down) ++outages_;
        if (parts_.events.listening()) {
          parts_.events.record(record_of(options_.identity, health_.state(), failure_.text()));
        }
        return;
      case HealthAction::start_probe:
        prober_.ask(now.mono + health_.probe_timeout(), now);
        break;
      case HealthAction::connect_pool:
        prober_.close(now);
        pool_.skip_backoff(now);
        maintain(now);
        break;
      case HealthAction::drop_pool:  // its connections are worthless, and its waiting requests fail
        pool_.abort_all(Reason::node_down, failure_.text(), now);
        queue_.drain([&](Request& request) {
          fail(request, Outcome::not_sent, failure_.reason(), failure_.text(), now);
        });
        break;
    }
  }
}

void ClientNode::on_probe_result(bool good, const CloseReason* why, Now now) {
  if (why != nullptr) failure_.note(*why, options_.named_by);
  health_.on_probe_result(good, why != nullptr && why->permanent, now);
  act(now);
}

// ---- role, login and topology

void ClientNode::set_role(Role role, Now now) {
  if (std::exchange(options_.role, role) == role) return;
  const bool copies = role == Role::replica;
  if (role != Role::none && std::exchange(copies_, copies) != copies) pool_.retire_all(now);
  maintain(now);
}

void ClientNode::renew_login(Now now) {
  if (shut_down_) return;
  pool_.renew_login(now);
  pool_.skip_backoff(now);
  prober_.renew_login(now);
  health_.on_new_login(now);
  act(now);
  maintain(now);
}

// The requests that must leave are moved to the front, and each stays in the queue until its turn,
// because a completion may cancel others. Nothing else is taken from the queue meanwhile.
void ClientNode::on_topology(Now now) {
  if (parts_.sessions.known() != nullptr) pool_.leave_strangers(*parts_.sessions.known(), now);
  queue_.bring_forward([this](const Request& request) { return !owner_.belongs(request); });
  const bool pumping = std::exchange(pumping_, true);
  for (Request* next = queue_.front(); next != nullptr && !owner_.belongs(*next);
       next = queue_.front()) {
    queue_.remove(*next);
    fail(*next, Outcome::not_sent, Reason::connection_lost,
         "the topology has changed, and the request may not go to another node", now);
  }
  pumping_ = pumping;
  if (!queue_.empty()) pump(now);
  if (options_.role != Role::none) return;
  for (const std::uint64_t id : pool_.ready_connections()) owner_.on_connection_ended(id, now);
}

// ---- shutting down, statistics

void ClientNode::shut_down(Now now) {
  shut_down_ = true;
  timer_.cancel();
  queue_.restore();
  queue_.drain([&](Request& request) {
    fail(request, Outcome::shutdown, Reason::closed, "the client is closing", now);
  });
  pool_.close_all(now);
  prober_.close(now);
}

NodeStats ClientNode::stats() const {
  NodeStats stats;
  stats.node = options_.identity;
  stats.weight = options_.weight;
  tallies_.add_to(stats);
  stats.health = health_.state();
  stats.round_trip = latency_.mean();
  stats.downs = health_.downs();
  stats.probes = health_.probes();
  stats.waiting = queue_.size() + queue_.given_up();
  stats.user = parts_.sessions.user();
  stats.certificate_end = time_point_of(pool_.certificate_end());
  stats.own_certificate_end = time_point_of(parts_.dialer.certificate_end());
  pool_.add_to(stats);
  prober_.add_to(stats);
  return stats;
}

}  // namespace sheaf::node
