#include "cluster/client_cluster.h"

#include <algorithm>

#include "node/node_records.h"
#include "socket/own_pause.h"

namespace sheaf::cluster {
namespace {

// Nodes know only a part of the requests that they are given.
Request& ours(node::Request& request) noexcept { return static_cast<Request&>(request); }
const Request& ours(const node::Request& request) noexcept {
  return static_cast<const Request&>(request);
}

// If more nodes are down, the client itself is probably cut off.
bool may_rehash(const ClusterNodes& nodes) noexcept {
  const auto members = nodes.topology().members();
  const auto down = std::ranges::count_if(
      members, [&](const Member& member) { return !nodes[member.index()].usable(); });
  return static_cast<std::size_t>(down) <= std::max<std::size_t>(1, members.size() / 3);
}

}  // namespace

ClientCluster::ClientCluster(const ClusterConfig& config, std::shared_ptr<const Topology> topology,
                             const node::NodeParts& parts, Seed seed,
                             const ClusterControls& controls)
    : loop_(parts.loop),
      events_(parts.events),
      rehash_(config.failover == FailoverMode::rehash),
      reads_(config.reads),
      replica_misses_(config.replica_misses),
      controls_(controls),
      timer_(loop_, *this),
      nodes_(config, std::move(topology), parts, *this, seed, controls),
      sender_({nodes_, *this, *this, timer_, loop_, events_, deadlines_}, controls.keep_order) {
  if (!config.hedged_reads) return;
  hedges_ =
      std::make_unique<Hedges>(Hedges::Parts{nodes_, *this, sender_, timer_, loop_, deadlines_});
}

ClientCluster::~ClientCluster() = default;

// ---- the topology

void ClientCluster::apply(std::shared_ptr<const Topology> topology, Now now) {
  SHEAF_CHECK(topology->epoch() > this->topology().epoch());
  if (shut_down_) return;
  sender_.keep_order();
  nodes_.follow(std::move(topology), now);
  if (redirects_ != nullptr) redirects_->on_topology();
  if (user_ != nullptr) user_->on_topology(now);
  if (!nodes_.all_gone()) timer_.need(now.mono);
}

void ClientCluster::follow_redirects(RedirectRules rules, const Seed& seed) {
  const Redirects::Parts parts{nodes_, *this, sender_, timer_, loop_};
  redirects_ = std::make_unique<Redirects>(parts, std::move(rules), seed);
}

// A replica's statements about other servers may be long out of date, so nothing is learned from
// them.
bool ClientCluster::redirect(node::Request& sent, const protocol::Reply& reply, Now now) {
  Request& request = ours(sent);
  const bool certain = !request.from_replica() || replica_misses_ == ReplicaMiss::trust;
  if (certain && reply.status == protocol::Status::absent) return false;
  if (request.hedged_ != nullptr && hedges_->on_useless(request, reply, now)) return true;
  if (request.from_replica()) return ask_owner(request, now);
  if (redirects_ == nullptr || !reply.redirect) return false;
  sender_.keep_order();
  return redirects_->take(request, reply, now);
}

bool ClientCluster::knows(std::uint64_t epoch) const noexcept {
  return epoch == topology().epoch() || !controls_.check_epoch;
}

bool ClientCluster::scatters(std::uint64_t epoch, unsigned owner) const noexcept {
  return !knows(epoch) || owner == nobody || (rehash_ && !takes(owner));
}

// The owner, or its stand-in while it is down.
unsigned ClientCluster::home_of(unsigned owner, const Request& request) const noexcept {
  if (!rehash_ || request.at_owner || owner == nobody) return owner;
  if (takes(owner) || !may_rehash(nodes_)) return owner;
  return topology().stand_in(request.route_or_key(), *this);
}

// A replica has no value for the request, or is gone. Returns true if the key's owner is asked.
bool ClientCluster::ask_owner(Request& request, Now now) {
  if (shut_down_ || request.operation.key.empty()) return false;
  if (request.operation.deadline <= now.mono) return false;
  request.go_to(request.node_, false);
  const unsigned owner = topology().owner(request.route_or_key());
  if (owner == nobody) return await_owner(request, now);
  sender_.send(request, owner, now);
  return true;
}

bool ClientCluster::await_owner(Request& request, Now now) {
  if (redirects_ == nullptr) return false;
  sender_.keep_order();
  return redirects_->await_owner(request, now);
}

// Requests that waited for a node need not fail when it goes down, or when their key gets another
// node.
bool ClientCluster::reroute(node::Request& lost, Now now) {
  Request& request = ours(lost);
  if (request.hedged_ != nullptr && hedges_->on_lost(request, now)) return true;
  if (request.from_replica() && ask_owner(request, now)) return true;
  if (request.on_node_ || request.at_owner || request.only_on != 0) return false;
  if (request.operation.key.empty()) return false;  // it has many keys
  const unsigned home = home_of(topology().owner(request.route_or_key()), request);
  if (home == nobody) return await_owner(request, now);
  if (redirects_ != nullptr) sender_.keep_order();
  if (home == request.node_ && !takes(home)) {
    return redirects_ != nullptr && redirects_->ask_around(request, now);
  }
  if (home == request.node_ || !takes(home)) return false;
  if (request.redirected_ != nullptr && redirects_->return_later(request, home, now)) return true;
  request.operation.asking = false;  // the owner does not import the slot
  sender_.send(request, home, now);
  return true;
}

bool ClientCluster::belongs(const node::Request& waiting) const {
  const Request& request = ours(waiting);
  const Topology& topology = this->topology();
  const bool goes_there = request.on_node_ || request.redirected_ != nullptr;
  if (goes_there) return topology.member(request.node_) != nullptr;
  const auto& keys = request.operation.keys;
  if (request.from_replica()) {
    const std::string_view key = keys.empty() ? request.route_or_key() : keys.front();
    if (!topology.has_keys_of(request.node_, topology.owner(key))) return false;
    return topology.member(request.node_) != nullptr;
  }
  if (keys.empty()) {
    return home_of(topology.owner(request.route_or_key()), request) == request.node_;
  }
  return std::ranges::all_of(
      keys, [&](std::string_view key) { return topology.owner(key) == request.node_; });
}

// ---- requests

void ClientCluster::start(Request& request, Now now) {
  const unsigned owner = topology().owner(request.route_or_key());
  request.on_node_ = false;
  begin(home_of(owner, request), request, now);
}

void ClientCluster::start_at(std::uint64_t epoch, unsigned owner, Request& request, Now now) {
  if (!knows(epoch)) return start(request, now);
  request.on_node_ = false;
  begin(home_of(owner, request), request, now);
}

void ClientCluster::start_on(unsigned node, Request& request, Now now) {
  request.on_node_ = true;
  begin(node, request, now);
}

void ClientCluster::begin(unsigned node, Request& request, Now now) {
  request.go_to(node, false);
  if (reads_ == ReadTarget::replicas && request.may_lag && node != nobody && !request.on_node_) {
    const unsigned owner = node;
    node = nodes_.fastest_of(owner, nobody, now);
    if (node == nobody) node = owner;  // none is connected
    request.go_to(node, topology().member(node)->is_replica());
    if (hedges_ != nullptr) hedges_->begin(request, owner, now);
  }
  request.started_at = now.mono;
  sender_.order().begin(request);
  deadlines_.push(request, request.operation.deadline);
  if (node != nobody) {
    sender_.send(request, node, now);
  } else if (!await_owner(request, now)) {
    return sender_.end_unowned(request, now);
  }
  timer_.need(deadlines_.next());
}

// A request that may only go to the node that it was started for does not follow its key.
void ClientCluster::try_again(Request& parked, Now now) {
  if (parked.redirected_ != nullptr) return redirects_->resume(*parked.redirected_, now);
  const auto& keys = parked.operation.keys;
  if (!keys.empty() || parked.at_owner || parked.only_on != 0) {
    if (belongs(parked)) return sender_.send(parked, parked.node_, now);
    return sender_.end_parked(parked, Reason::connection_lost, now);
  }
  const unsigned home = home_of(topology().owner(parked.route_or_key()), parked);
  if (home != nobody) return sender_.send(parked, home, now);
  if (!await_owner(parked, now)) sender_.end_unowned(parked, now);
}

void ClientCluster::cancel(Request& request, Now now) {
  if (!deadlines_.contains(request)) return;
  if (redirects_ != nullptr && redirects_->holds(request)) return redirects_->cancel(request, now);
  if (sender_.order().parked(request)) {
    return sender_.end_parked(request, Reason::cancelled, now);
  }
  Request& attempt = Hedges::attempt_of(request);
  nodes_[attempt.node_].cancel(attempt, now);
}

void ClientCluster::on_request_done(node::Request& done, const socket::Completion& completion) {
  Request& request = ours(done);
  deadlines_.remove(request);
  sender_.forget(request, completion);
  if (request.redirected_ != nullptr) redirects_->forget(request);
  if (request.hedged_ != nullptr) hedges_->on_end(request, completion);
}

void ClientCluster::on_connection_ready(unsigned node, Now now) {
  if (listener_ != nullptr) listener_->on_connection_ready(node, now);
}

void ClientCluster::on_connection_ended(std::uint64_t connection, Now now) {
  if (listener_ != nullptr) listener_->on_connection_ended(connection, now);
}

void ClientCluster::on_timer(Now now) {
  const bool late = socket::was_paused(loop_);
  while (Request* const request = deadlines_.pop_due(now.mono)) {
    if (redirects_ != nullptr && redirects_->holds(*request)) {
      redirects_->expire(*request, now);
    } else if (sender_.order().parked(*request)) {
      sender_.end_parked(*request, Reason::timed_out, now);
    } else {
      Request& attempt = Hedges::attempt_of(*request);
      nodes_[attempt.node_].expire(attempt, late, now);
    }
  }
  if (redirects_ != nullptr) redirects_->advance(now);
  sender_.advance(now);
  const Deadline tidy_next = nodes_.tidy(user_, now);
  timer_.clear();
  timer_.need(tidy_next);
  if (hedges_ != nullptr) hedges_->advance(now);
  if (redirects_ != nullptr) timer_.need(redirects_->poll_deadline());
  timer_.need(sender_.poll_deadline());
  timer_.need(deadlines_.next());
}

void ClientCluster::renew_logins(Now now) {
  if (shut_down_) return;
  nodes_.renew_logins(now);
  if (user_ != nullptr) user_->on_login(now);
}

void ClientCluster::shut_down(Now now) {
  shut_down_ = true;
  if (redirects_ != nullptr) redirects_->shut_down(now);
  sender_.shut_down(now);
  nodes_.shut_down(now);
}

}  // namespace sheaf::cluster
