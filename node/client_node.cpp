#include "node/client_node.h"

#include <algorithm>

#include "node/ramp.h"

namespace sheaf::node {

using protocol::CloseReason;
using protocol::Reply;
using protocol::Sent;
using protocol::Status;
using socket::ClientSocket;
using socket::Completion;

namespace {

// All requests on the pool's sockets have come through start().
Request& ours(socket::Request& request) noexcept { return static_cast<Request&>(request); }

}  // namespace

SocketLease::SocketLease(ClientNode& node, ClientSocket& socket) noexcept
    : node_(&node), socket_(&socket) {
  ++socket.leases;
}

void SocketLease::give_back() noexcept {
  if (socket_ != nullptr) node_->give_back(*socket_);
  node_ = nullptr;
  socket_ = nullptr;
}

ClientNode::ClientNode(NodeOptions options, NodeParts parts, NodeOwner& owner, Seed seed)
    : options_(std::move(options)),
      parts_(parts),
      owner_(owner),
      random_(seed),
      health_(random_.fork()),
      window_(options_.max_in_flight, options_.max_bytes_in_flight),
      timer_(parts_.loop.timer(*this)) {
  stats_.node = options_.identity;
  stats_.weight = options_.weight;
  probe_request_.sink = this;
  probe_request_.operation.verb = protocol::Verb::probe;
  maintain(parts_.loop.now());
}

ClientNode::~ClientNode() = default;

// ---- requests

void ClientNode::start(Request& request, Now now) {
  request.items_ = 0;
  stats_.requests += request.width();
  if (shut_down_) {
    fail(request, Outcome::shutdown, Reason::closed, "the client is closing", now);
    return;
  }
  if (!health_.usable()) {
    fail(request, Outcome::not_sent, last_reason_, last_failure_, now);
    return;
  }
  if (request.operation.deadline <= now.mono) {
    stats_.timed_out += request.width();
    fail(request, Outcome::not_sent, Reason::timed_out, "no room before the deadline", now);
    return;
  }
  if (waiting_.empty() && try_submit(request, now)) return;
  if (waiting_.size() >= options_.max_waiting) {
    fail(request, Outcome::overloaded, Reason::queue_full,
         "max_waiting (" + std::to_string(options_.max_waiting) + ") requests wait for this node",
         now);
    return;
  }
  const bool first = waiting_.empty();
  waiting_.push_back(request);
  if (first || pool_.size() < options_.pool.max) maintain(now);
}

// A node that has come back gets a part of its window that grows; what does not fit waits.
void ClientNode::bound_window(Now now) {
  const std::uint64_t full = options_.max_in_flight;
  const bool ramp = health_.state() == NodeHealth::recovering;
  window_.set_bounds(ramp ? ramp_limit(full, health_.since(), health_.ramp(), now) : full,
                     options_.max_bytes_in_flight);
}

// False: no room yet. True: the request is on a socket, or has ended because the session refused
// it.
bool ClientNode::try_submit(Request& request, Now now) {
  if (has_lost(request)) {
    fail(request, Outcome::not_sent, Reason::connection_lost,
         "the connection that this request belongs to has ended", now);
    return true;
  }
  bound_window(now);
  if (!window_.fits(request.cost(), request.width())) return false;
  ClientSocket* const socket = socket_for(request);
  if (socket == nullptr) return false;
  const SocketLease lease(*this, *socket);
  if (auto submitted = lease->submit(request, now); !submitted) {
    const protocol::LocalError error = std::move(submitted.error());
    fail(request, error.outcome, error.reason, error.text, now);
    return true;
  }
  ++lease->leases;  // the request's own loan, until end_loan()
  window_.admit(request.cost(), request.width());
  arm(now.mono + options_.pool.busy_timeout);
  return true;
}

void ClientNode::end_loan(ClientSocket& socket, const Request& request) noexcept {
  window_.release(request.cost(), request.width());
  give_back(socket);
}

void ClientNode::pump(Now now) {
  if (pumping_) return;  // a completion started another request: the outer loop takes it
  pumping_ = true;
  bound_window(now);
  while (auto* const request = static_cast<Request*>(waiting_.front())) {
    // Submitting may end the request, whose owner may then start others: it leaves the list first.
    const bool room =
        window_.fits(request->cost(), request->width()) && socket_for(*request) != nullptr;
    if (!room && !has_lost(*request)) break;
    waiting_.remove(*request);
    try_submit(*request, now);
  }
  pumping_ = false;
}

void ClientNode::expire(Request& request, bool late, Now now) {
  stats_.timed_out += request.unanswered();
  if (waiting_.contains(request)) {
    waiting_.remove(request);
    const bool connected = std::ranges::any_of(pool_, [](const auto& s) { return s->ready(); });
    fail(request, Outcome::not_sent, Reason::timed_out,
         connected ? "no room on the node" : "no connection yet", now);
    return;
  }
  ClientSocket& socket = *request.socket;
  const Sent sent = socket.cancel(request, now);
  health_.on_timeout(request.submitted_at, socket.last_received(), late, now);
  end_loan(socket, request);
  fail(request, sent == Sent::no ? Outcome::not_sent : Outcome::unknown, Reason::timed_out, {},
       now);
  act(now);
  if (!waiting_.empty()) pump(now);
}

void ClientNode::answer(const ClientSocket& socket, Request& request, const Reply& reply, Now now) {
  stats_.replies += request.unanswered();
  const auto trip = now.mono - request.submitted_at;
  stats_.round_trip += stats_.round_trip.count() == 0 ? trip : (trip - stats_.round_trip) / 8;
  if (reply.status == Status::refused) {
    fail(request, Outcome::refused, reply.reason, reply.text, now);
    return;
  }
  Completion completion;
  completion.answered = true;
  completion.reply = reply;
  completion.node = options_.identity;
  completion.connection = socket.id;
  completion.now = now;
  owner_.on_request_done(request);
  request.sink->on_done(request, completion);
}

void ClientNode::fail(Request& request, Outcome outcome, Reason reason, std::string_view text,
                      Now now) {
  if (outcome == Outcome::not_sent && owner_.reroute(request, now)) return;
  switch (outcome) {
    case Outcome::refused:
      stats_.refused += request.unanswered();
      break;
    case Outcome::not_sent:
      stats_.not_sent += request.unanswered();
      break;
    case Outcome::unknown:
      stats_.unknown += request.unanswered();
      break;
    case Outcome::overloaded:
      stats_.overloaded += request.unanswered();
      break;
    default:
      break;
  }
  Completion completion;
  completion.outcome = outcome;
  completion.reason = reason;
  completion.text = text;
  completion.node = options_.identity;
  completion.now = now;
  if (parts_.events.listening()) log(request, completion);
  owner_.on_request_done(request);
  request.sink->on_done(request, completion);
}

void ClientNode::fail_waiting(Outcome outcome, Reason reason, const std::string& text, Now now) {
  // Only those that wait now: a completion may start new ones.
  for (unsigned left = waiting_.size(); left > 0; --left) {
    auto* const request = static_cast<Request*>(waiting_.pop_front());
    if (request == nullptr) break;
    fail(*request, outcome, reason, text, now);
  }
}

void ClientNode::log(const Request& request, const Completion& completion) {
  LogRecord record;
  const bool lost = completion.outcome == Outcome::unknown;
  record.level = lost ? LogLevel::error : LogLevel::warning;
  record.node = options_.identity;
  record.operation = protocol::to_string(request.operation.verb);
  const auto& keys = request.operation.keys;
  record.key = parts_.events.show_key(keys.empty() ? request.operation.key : keys.front());
  record.outcome = completion.outcome;
  record.text = to_string(completion.reason);
  if (!completion.text.empty()) record.text.append(": ").append(completion.text);
  if (keys.size() > 1) {
    record.text.append(" (and ").append(std::to_string(keys.size() - 1)).append(" other keys)");
  }
  record.elapsed = completion.now.mono - request.started_at;
  parts_.events.record(std::move(record));
}

// ---- events of sockets

void ClientNode::on_socket_ready(ClientSocket& socket, Now now) {
  ++stats_.connects;
  last_failure_.clear();
  if (&socket == probe_.get()) {
    if (!socket.submit(probe_request_, now)) end_probe(false, true, now);
    return;
  }
  backoff_.on_ready(now);
  health_.on_ready(now);
  act(now);
  owner_.on_connection_ready(options_.index, now);
  pump(now);
}

void ClientNode::on_socket_reply(ClientSocket& socket, socket::Request& request, const Reply& reply,
                                 Now now) {
  if (&request == &probe_request_) {
    end_probe(reply.status != Status::refused, false, now);
    return;
  }
  window_.release(request.cost(), request.width());
  health_.on_answer(now);
  answer(socket, ours(request), reply, now);
  give_back(socket);
  if (pool_.size() > options_.pool.min) arm(now.mono + options_.pool.idle_timeout);
  if (!waiting_.empty()) pump(now);
}

void ClientNode::on_socket_item(socket::Request& request, std::uint32_t index, const Reply& reply,
                                Now now) {
  ++ours(request).items_;
  ++stats_.replies;
  if (reply.status == Status::refused) ++stats_.refused;
  request.sink->on_item(request, index, reply, now);
}

void ClientNode::on_socket_failed(ClientSocket& socket, socket::Request& request, Sent sent,
                                  Now now) {
  if (&request == &probe_request_) return;  // on_socket_closed follows
  window_.release(request.cost(), request.width());
  const CloseReason& why = socket.close_reason();
  if (shut_down_ && sent == Sent::no) {
    fail(ours(request), Outcome::shutdown, Reason::closed, "the client is closing", now);
  } else {
    fail(ours(request), sent == Sent::no ? Outcome::not_sent : Outcome::unknown, why.reason,
         why.text, now);
  }
  give_back(socket);
}

void ClientNode::on_socket_closed(ClientSocket& socket, const CloseReason& why, Now now) {
  const bool was_ready = socket.was_ready();
  if (&socket == probe_.get()) {
    if (!was_ready) ++stats_.connect_failures;
    note_failure(why);
    retire(socket);
    const auto gone = std::move(probe_);
    end_probe(false, why.permanent, now);
    return;
  }
  const auto gone = take_out(socket);
  retire(socket);
  if (why.renegotiates) {
    reconnect_at_ = now.mono;
  } else if (!shut_down_ && why.reason != Reason::closed && why.reason != Reason::node_down) {
    note_failure(why);
    ++(was_ready ? stats_.connections_lost : stats_.connect_failures);
    reconnect_at_ = backoff_.on_failed(now, random_);
    if (!was_ready) health_.on_connect_failed(socket.created(), why.permanent, now);
  }
  act(now);
  maintain(now);
  if (was_ready) owner_.on_connection_ended(gone->id, now);
}

// What users read in `not_sent` errors while the node is down.
void ClientNode::note_failure(const CloseReason& why) {
  if (why.reason == Reason::closed) return;
  last_failure_ = why.text;
  last_reason_ = why.reason == Reason::authentication ? why.reason : Reason::node_down;
}

void ClientNode::on_timer(Now now) {
  armed_ = never;
  if (probe_deadline_ <= now.mono) end_probe(false, false, now);
  act(now);
  maintain(now);
  if (!waiting_.empty()) pump(now);
}

// ---- shutting down, statistics

void ClientNode::shut_down(Now now) {
  shut_down_ = true;
  timer_->cancel();
  fail_waiting(Outcome::shutdown, Reason::closed, "the client is closing", now);
  for (const auto& socket : pool_) socket->close(now);
  if (probe_ != nullptr) probe_->close(now);
}

NodeStats ClientNode::stats() const {
  NodeStats stats = stats_;
  stats.health = health_.state();
  stats.downs = health_.downs();
  stats.probes = health_.probes();
  stats.waiting = waiting_.size();
  for (const auto& socket : pool_) {
    stats.connections += socket->ready() ? 1 : 0;
    stats.in_flight += socket->in_flight();
    stats.bytes_sent += socket->bytes_sent();
    stats.bytes_received += socket->bytes_received();
    stats.late_replies += socket->counters().late_replies;
    stats.bad_timestamps += socket->counters().bad_timestamps;
  }
  return stats;
}

}  // namespace sheaf::node
