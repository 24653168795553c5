#include "cluster/moving/redirects.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster/placement/assigned_slots.h"

namespace sheaf::cluster {
namespace {

// How often one request may ask another server about the slots of a server that is down, and how
// long all may do so after one has learned of another owner.
constexpr std::chrono::seconds ask_around_interval{1};
constexpr std::size_t longest_host = 255;  // in an error

RedirectAnswer::Kind kind_of(protocol::Redirect::Kind kind) noexcept {
  switch (kind) {
    case protocol::Redirect::Kind::moved:
      return RedirectAnswer::Kind::moved;
    case protocol::Redirect::Kind::ask:
      return RedirectAnswer::Kind::ask;
    case protocol::Redirect::Kind::later:
      break;
  }
  return RedirectAnswer::Kind::later;
}

// The only other member with this port; null if there is not exactly one.
const Member* other_at_port(std::span<const Member> members, std::uint16_t port,
                            const std::string& identity) {
  const Member* found = nullptr;
  for (const Member& member : members) {
    if (member.port != port || member.identity() == identity) continue;
    if (found != nullptr) return nullptr;
    found = &member;
  }
  return found;
}

// True if the target has a slot of an owner that is down. It then probably has all of them, and
// requests for the others would not learn of that.
bool has_taken_over(const ClusterNodes& nodes, const std::string& target, const Request& request) {
  const Topology& topology = nodes.topology();
  const Member* const owner = topology.member(topology.owner(request.route_or_key()));
  return owner != nullptr && owner->identity() != target && !nodes[owner->index()].usable();
}

// For a submitter who sends the request over another path.
socket::Completion not_carried_out(const protocol::Reply& reply, std::string_view node, Now now) {
  socket::Completion completion;
  completion.outcome = Outcome::not_sent;
  completion.reason = Reason::connection_lost;
  completion.text = reply.text;
  completion.node = node;
  completion.now = now;
  return completion;
}

}  // namespace

Redirects::Redirects(const Parts& parts, RedirectRules rules, const Seed& seed)
    : parts_(parts), rules_(std::move(rules)), calm_(seed, parts.loop.now(), rules_.calm) {
  parts_.timer.need(poll_deadline());
}

Redirects::~Redirects() { parts_.loop.forget(*this); }

// ---- redirects from servers

// Only a request for one key that may go to any owner of that key is redirected.
bool Redirects::take(Request& request, const protocol::Reply& reply, Now now) {
  const protocol::Operation& operation = request.operation;
  if (shut_down_ || request.on_node_ || !operation.keys.empty() || operation.key.empty()) {
    return false;
  }
  if (rules_.returns) {
    const std::string& node = parts_.nodes[request.node_].options().identity;
    parts_.sender.give_back(request, not_carried_out(reply, node, now));
    return true;
  }
  if (request.redirected_ == nullptr) request.redirected_ = std::make_unique<Redirected>(request);
  Redirected& redirected = *request.redirected_;
  redirected.from = parts_.nodes[request.node_].options().identity;
  redirected.text = reply.text;
  redirected.cause.reset();
  if (!rules_.stays.empty() && reply.redirect->kind != protocol::Redirect::Kind::later) {
    redirected.text.append(" (").append(rules_.stays).append(")");
    end(request, Outcome::refused, reply.reason, redirected.text, now);
    return true;
  }
  follow(redirected, plan(redirected, reply, now), now);
  return true;
}

// Until then the request waits as if its server had said "later". If every server permanently
// refuses the client, it does not wait.
bool Redirects::await_owner(Request& request, Now now) {
  if (shut_down_ || rules_.source == nullptr || !request.operation.keys.empty()) return false;
  if (request.redirected_ == nullptr) request.redirected_ = std::make_unique<Redirected>(request);
  Redirected& redirected = *request.redirected_;
  redirected.text.clear();
  const MapSource::Problem problem = rules_.source->problem();
  if (!problem.text.empty()) {
    redirected.text = problem.text;
    redirected.text += "; so the map of the cluster could not be fetched, and ";
    redirected.cause = problem.reason;
  }
  redirected.text += parts_.sender.unowned(request);
  if (problem.lasting) {
    end(request, Outcome::refused, problem.reason, redirected.text, now);
    return true;
  }
  RedirectAnswer answer;
  answer.text = redirected.text;
  answer.cause = redirected.cause;
  const bool bound = request.only_on != 0;
  RedirectStep step = redirected.plan.next(answer, {request.operation.deadline, bound}, now);
  step.need_map = true;
  follow(redirected, step, now);
  return true;
}

bool Redirects::wants_owner() const {
  const Topology& topology = parts_.nodes.topology();
  bool wants = false;
  waiting_.for_each([&](const Redirected& redirected) {
    wants = wants || topology.owner(redirected.request.route_or_key()) == nobody;
  });
  return wants;
}

bool Redirects::return_later(Request& request, std::uint32_t owner, Now now) {
  Redirected& redirected = *request.redirected_;
  const Topology& topology = parts_.nodes.topology();
  const Member* const from = topology.find(redirected.from);
  const Member* const target = topology.member(request.node_);
  if (shut_down_ || from == nullptr || from->index() != owner || target == nullptr) return false;
  redirected.text.append(" (").append(target->identity()).append(" could not be reached)");
  RedirectAnswer answer;
  answer.from = redirected.from;
  answer.text = redirected.text;
  follow(redirected, redirected.plan.next(answer, {request.operation.deadline, false}, now), now);
  return true;
}

bool Redirects::ask_around(Request& request, Now now) {
  if (shut_down_ || !learns()) return false;
  want_map(now);
  if (now.mono < ask_around_at_ && now.mono >= all_ask_until_) return false;
  const Topology& topology = parts_.nodes.topology();
  const std::size_t members = topology.members().size();
  for (std::size_t i = 0; i < members; ++i) {
    const std::size_t at = (asked_around_ + i) % members;
    const std::uint32_t place = topology.members()[at].index();
    const bool is_replica = topology.members()[at].is_replica();  // it would answer from its copy
    if (place == request.node_ || is_replica || !parts_.nodes[place].usable()) continue;
    ask_around_at_ = now.mono + ask_around_interval;
    ++asked_around_;
    request.operation.asking = false;
    parts_.sender.send(request, place, now);
    return true;
  }
  return false;
}

void Redirects::follow(Redirected& redirected, const RedirectStep& step, Now now) {
  redirected.step = step;
  if (step.need_map) {
    need_map(now);
  } else if (step.want_map) {
    want_map(now);
  }
  if (step.kind == RedirectStep::Kind::fail) {
    return end(redirected.request, step.outcome, step.reason, step.text, now);
  }
  parts_.sender.hold(redirected.request);
  waiting_.push(redirected, step.at);
  if (step.at > now.mono) parts_.timer.need(step.at);
  if (step.at <= now.mono || !moves_.empty() || !joins_.empty()) parts_.loop.defer(*this);
}

// Plans the next step, and learns from the reply.
RedirectStep Redirects::plan(Redirected& redirected, const protocol::Reply& reply, Now now) {
  const Request& request = redirected.request;
  const Topology& topology = parts_.nodes.topology();
  RedirectAnswer answer;
  answer.kind = kind_of(reply.redirect->kind);
  answer.from = redirected.from;
  answer.text = reply.text;
  const std::uint32_t slot = reply.redirect->slot;
  answer.other_slot = topology.assigned() && topology.locate(request.operation.key).point != slot;
  const NodeConfig server = target_of(*reply.redirect, request.node_, request.route_or_key());
  const std::string target = server.host.empty() ? std::string() : server.identity();
  const bool is_member = topology.find(target) != nullptr;
  if (is_member || may_join(target)) {
    answer.target = target;
    answer.allowed = is_member || is_allowed(server.host);
  }
  std::string obstacle;
  if (!answer.target.empty() && !answer.allowed) {
    answer.may_be_named = may_be_named(server.host, obstacle);
    answer.obstacle = obstacle;
    if (ask_first_.empty()) ask_first_ = redirected.from;
  }
  RedirectStep step =
      redirected.plan.next(answer, {request.operation.deadline, request.only_on != 0}, now);
  if (answer.kind != RedirectAnswer::Kind::later && target.empty()) {
    step.need_map = true;
    if (ask_first_.empty()) ask_first_ = redirected.from;
  }
  const bool follows = !target.empty() && step.target == target;
  if (!follows || !learns()) return step;
  if (!is_member) {
    joins_.insert_or_assign(target, server);
    named_by_ = redirected.from;
  }
  if (!step.mend) return step;
  moves_.insert_or_assign(slot, server);
  if (has_taken_over(parts_.nodes, target, request)) {
    step.need_map = true;
    all_ask_until_ = now.mono + ask_around_interval;
  }
  return step;
}

bool Redirects::is_allowed(std::string_view host) const {
  return rules_.allowed.allows(host, parts_.nodes.topology().members()) ||
         (rules_.source != nullptr && rules_.source->names(host));
}

// For a host that is not allowed: true if the next map may allow it. `obstacle` says why it is not
// allowed.
bool Redirects::may_be_named(const std::string& host, std::string& obstacle) {
  const MapSource* const source = rules_.source;
  obstacle = source != nullptr ? source->ban(host) : std::string_view();
  const bool banned = !obstacle.empty();
  if (!banned) {
    obstacle =
        "no map of the cluster names it; to allow it, add it to the nodes of the configuration";
  }
  obstacle.insert(0, "redirects to " + printable(host, longest_host) + " are not allowed: ");
  return source != nullptr && !banned && strangers_.may_be_named(host);
}

// There are at most as many servers as slots.
bool Redirects::may_join(const std::string& identity) const {
  const std::size_t members = parts_.nodes.topology().members().size() + joins_.size();
  return learns() && (members < AssignedSlots::slot_count || joins_.contains(identity));
}

// Where a redirect sends the request; without a host if nowhere. If a redirect names no host, it
// means the server that the map names, provided that it has the redirect's port: for MOVED the
// present owner, for ASK the server that the slot is moving to, which only the maps of these two
// servers say. Otherwise it means the only other member with that port. If that is the wrong
// server, it redirects to the same port in turn, and then is not meant itself.
NodeConfig Redirects::target_of(const protocol::Redirect& to, std::uint32_t node,
                                std::string_view key) const {
  NodeConfig server;
  if (to.kind == protocol::Redirect::Kind::later) return server;
  const node::NodeOptions& from = parts_.nodes[node].options();
  server.port = to.port;
  if (!to.host_unknown) {
    if (!to.host.empty()) return server_called(to);
    server.host = from.endpoint.host;
    return server;
  }
  const Topology& topology = parts_.nodes.topology();
  server.host = named_by_map(to, key);
  if (!server.host.empty() && server.identity() != from.identity) return server;
  const Member* const other = other_at_port(topology.members(), to.port, from.identity);
  server.host = other != nullptr ? other->host : std::string();
  return server;
}

// Uses the map's name for the server, so that it is one member under all its names.
NodeConfig Redirects::server_called(const protocol::Redirect& to) const {
  std::optional<NodeConfig> known;
  if (rules_.source != nullptr) known = rules_.source->server_called(to.host, to.port);
  return known.value_or(NodeConfig{std::string(to.host), to.port, 1});
}

// The map's host for a redirect without a host; empty if none has its port.
std::string Redirects::named_by_map(const protocol::Redirect& to, std::string_view key) const {
  if (to.kind == protocol::Redirect::Kind::ask) {
    if (rules_.source == nullptr) return {};
    const std::optional<NodeConfig> importer = rules_.source->importer(to.slot);
    return importer && importer->port == to.port ? importer->host : std::string();
  }
  const Topology& topology = parts_.nodes.topology();
  const Member* const owner = topology.member(topology.owner(key));
  return owner != nullptr && owner->port == to.port ? owner->host : std::string();
}

void Redirects::learn(std::string_view key, std::uint32_t from, const protocol::Redirect& to,
                      Now now) {
  const Topology& topology = parts_.nodes.topology();
  if (shut_down_ || !learns() || to.kind == protocol::Redirect::Kind::ask) return;
  want_map(now);
  if (to.kind != protocol::Redirect::Kind::moved || topology.locate(key).point != to.slot) return;
  const NodeConfig server = target_of(to, from, key);
  if (server.host.empty()) return;
  const std::string target = server.identity();
  const bool is_member = topology.find(target) != nullptr;
  if (!is_member && !(may_join(target) && is_allowed(server.host))) return;
  if (!is_member) {
    joins_.insert_or_assign(target, server);
    named_by_ = parts_.nodes[from].options().identity;
  }
  moves_.insert_or_assign(to.slot, server);
  parts_.loop.defer(*this);
}

// ---- waiting requests

bool Redirects::holds(const Request& request) const noexcept {
  if (request.redirected_ == nullptr) return false;
  return waiting_.contains(*request.redirected_) || parts_.sender.order().parked(request);
}

void Redirects::expire(Request& request, Now now) {
  end(request, Outcome::refused, request.redirected_->cause.value_or(Reason::timed_out),
      request.redirected_->text + " (no time is left for another attempt)", now);
}

void Redirects::cancel(Request& request, Now now) {
  end(request, Outcome::refused, Reason::cancelled, request.redirected_->text, now);
}

void Redirects::forget(Request& request) noexcept {
  request.operation.asking = false;
  waiting_.remove(*request.redirected_);
  request.redirected_.reset();
}

// The request drops its redirect and returns to its submitter. A cancelled request is not logged.
void Redirects::end(Request& request, Outcome outcome, Reason reason, std::string text, Now now) {
  const std::string node = std::move(request.redirected_->from);
  const std::string words = std::move(text);
  socket::Completion completion;
  const bool never_sent = node.empty() && outcome == Outcome::refused;
  completion.outcome = never_sent ? Outcome::not_sent : outcome;
  completion.reason = reason;
  completion.text = words;
  completion.node = node;
  completion.now = now;
  parts_.sender.end(request, completion);
}

// The node that the request goes to.
std::uint32_t Redirects::place_of(const Redirected& redirected) const {
  const Topology& topology = parts_.nodes.topology();
  const std::uint32_t owner = topology.owner(redirected.request.route_or_key());
  const Member* const target = topology.find(redirected.step.target);
  if (target == nullptr) return owner;
  const bool repeats = redirected.step.target == redirected.from && !redirected.step.reconnect;
  const bool is_free = redirected.request.only_on == 0 && owner != nobody;
  return repeats && is_free ? owner : target->index();
}

void Redirects::resume(Redirected& redirected, Now now) {
  Request& request = redirected.request;
  if (parts_.sender.order().overtaken(request)) {
    return end(request, Outcome::refused, Reason::overtaken, redirected.text.append(overtaken_text),
               now);
  }
  const std::uint32_t place = place_of(redirected);
  if (place == nobody) {
    if (await_owner(request, now)) return;
    return end(request, Outcome::refused, Reason::node_down,
               redirected.text + " (the server has left, and no server owns the slot)", now);
  }
  if (!parts_.sender.admits(request, place, now)) return;
  node::ClientNode& node = parts_.nodes[place];
  const RedirectStep& step = redirected.step;
  const bool there = node.options().identity == step.target;
  request.operation.asking = there && step.kind == RedirectStep::Kind::send_asking;
  if (there && step.reconnect) node.connect(now, request.submitted_at);
  node.start(request, now);
}

void Redirects::advance(Now now) {
  if (shut_down_) return;
  mend(now);
  while (Redirected* const due = waiting_.pop_due(now.mono)) resume(*due, now);
  if (rules_.source != nullptr && calm_.poll_deadline() <= now.mono) {
    calm_.on_asked(now);
    asking_ = true;
    strangers_.on_asked();
    rules_.source->fetch_map(std::exchange(ask_first_, {}), now);
  }
  parts_.timer.need(poll_deadline());
}

Deadline Redirects::poll_deadline() const noexcept {
  const Deadline map = rules_.source != nullptr ? calm_.poll_deadline() : never;
  return shut_down_ ? never : std::min(waiting_.next(), map);
}

void Redirects::shut_down(Now now) {
  shut_down_ = true;
  while (Redirected* const next = waiting_.front()) {
    end(next->request, Outcome::shutdown, Reason::closed, "the client is closing", now);
  }
}

// ---- changes of the topology

// Skips what the map already says.
void Redirects::mend(Now now) {
  if (moves_.empty() && joins_.empty()) return;
  const Topology& topology = parts_.nodes.topology();
  std::vector<SlotMove> moving;
  for (const auto& [slot, server] : std::exchange(moves_, {})) {
    if (asking_) since_asked_.insert_or_assign(slot, server);
    std::string identity = server.identity();
    if (topology.owner_of_slot(slot) == identity) continue;
    joins_.try_emplace(identity, server);
    moving.push_back({slot, std::move(identity)});
  }
  std::vector<NodeConfig> joining;
  for (const auto& [identity, server] : std::exchange(joins_, {})) {
    if (topology.find(identity) == nullptr) joining.push_back(server);
  }
  if (joining.empty() && moving.empty()) return;
  const NamedServers list{joining, {}, named_by_};
  parts_.holder.apply(topology.changed(list, moving, *rules_.table, topology.epoch() + 1), now);
  if (rules_.source != nullptr) rules_.source->on_mended(now);
}

// A map that was requested before a slot moved may not know of the move.
void Redirects::on_topology() {
  if (since_asked_.empty()) return;
  for (const auto& [slot, server] : since_asked_) moves_.try_emplace(slot, server);
  parts_.loop.defer(*this);
}

void Redirects::want_map(Now now) {
  calm_.want(parts_.nodes.topology().members().size(), now);
  parts_.timer.need(poll_deadline());
}

void Redirects::need_map(Now now) {
  calm_.need(parts_.nodes.topology().members().size(), now);
  parts_.timer.need(poll_deadline());
}

void Redirects::on_map(bool good, Now now) {
  asking_ = false;
  since_asked_.clear();
  if (good) strangers_.on_map();
  calm_.on_answer(good, now);
  parts_.timer.need(poll_deadline());
}

}  // namespace sheaf::cluster
