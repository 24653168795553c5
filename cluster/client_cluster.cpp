#include "cluster/client_cluster.h"

#include <algorithm>

namespace sheaf::cluster {
namespace {

// A time-out that our own process slept through says nothing about the node.
constexpr std::chrono::milliseconds own_pause{50};

// Nodes know of a part of what they were given to start.
Request& ours(node::Request& request) noexcept { return static_cast<Request&>(request); }

node::NodeOptions node_options(const ClusterConfig& config, unsigned index) {
  const NodeConfig& from = config.nodes[index];
  node::NodeOptions options;
  options.identity = from.identity();
  options.endpoint = {from.host, from.port};
  options.index = index;
  options.weight = from.weight;
  options.connect_timeout = config.connect_timeout;
  options.first_connect_timeout = std::max(config.connect_timeout, config.timeout);
  options.pool = {config.pool_min, config.pool_max, config.idle_timeout, config.busy_timeout};
  options.max_in_flight = config.max_in_flight;
  options.max_bytes_in_flight = config.max_bytes_in_flight;
  options.max_waiting = config.max_waiting;
  return options;
}

}  // namespace

ClientCluster::ClientCluster(const ClusterConfig& config, std::shared_ptr<const Topology> topology,
                             node::NodeParts parts, Seed seed)
    : loop_(parts.loop),
      rehash_(config.failover == FailoverMode::rehash),
      topology_(std::move(topology)),
      timer_(loop_.timer(*this)) {
  Random random(seed);
  node::NodeOwner& owner = *this;
  for (unsigned i = 0; i < config.nodes.size(); ++i) {
    nodes_.push_back(
        std::make_unique<node::ClientNode>(node_options(config, i), parts, owner, random.fork()));
  }
}

ClientCluster::~ClientCluster() = default;

void ClientCluster::start(Request& request, Now now) {
  start_at(topology_->owner(request.route_or_key()), request, now);
}

void ClientCluster::start_at(unsigned owner, Request& request, Now now) {
  start_on(home_of(owner, request), request, now);
}

// The owner, or while it is down who stands in for it.
unsigned ClientCluster::home_of(unsigned owner, const Request& request) const noexcept {
  if (!rehash_ || request.at_owner || takes(owner) || !may_rehash()) return owner;
  return topology_->locator().stand_in(request.route_or_key(), *this);
}

// Requests that waited for a node when it was found to be down need not fail with it.
bool ClientCluster::reroute(node::Request& lost, Now now) {
  Request& request = ours(lost);
  if (request.operation.key.empty()) return false;  // it was for that node, not for a key
  const unsigned home = home_of(request.node_, request);
  if (home == request.node_ || !takes(home)) return false;
  request.node_ = home;
  nodes_[home]->start(request, now);
  return true;
}

bool ClientCluster::may_rehash() const noexcept {
  const auto down = std::ranges::count_if(nodes_, [](const auto& node) { return !node->usable(); });
  return static_cast<std::size_t>(down) <= std::max<std::size_t>(1, nodes_.size() / 3);
}

void ClientCluster::start_on(unsigned node, Request& request, Now now) {
  request.node_ = node;
  request.started_at = now.mono;
  deadlines_.push(request, request.operation.deadline);
  nodes_[node]->start(request, now);
  arm();
}

void ClientCluster::cancel(Request& request, Now now) {
  if (deadlines_.contains(request)) nodes_[request.node_]->cancel(request, now);
}

node::ClientNode& ClientCluster::acquire_node(std::string_view key) {
  return *nodes_[topology_->owner(key)];
}

node::SocketLease ClientCluster::acquire_socket(std::string_view key) {
  return acquire_node(key).acquire();
}

void ClientCluster::on_request_done(node::Request& request) { deadlines_.remove(ours(request)); }

void ClientCluster::on_connection_ready(unsigned node, Now now) {
  if (listener_ != nullptr) listener_->on_connection_ready(node, now);
}

void ClientCluster::on_connection_ended(std::uint64_t connection, Now now) {
  if (listener_ != nullptr) listener_->on_connection_ended(connection, now);
}

// The timer is only ever moved forward in time when it fires: most requests are answered long
// before their deadline, and each answer would otherwise cost a change of the timer.
void ClientCluster::arm() {
  if (deadlines_.next() >= armed_) return;
  armed_ = deadlines_.next();
  timer_->set(armed_);
}

void ClientCluster::on_timer(Now now) {
  const bool late = loop_.lateness() > own_pause;
  while (Request* const request = deadlines_.pop_due(now.mono)) {
    nodes_[request->node_]->expire(*request, late, now);
  }
  armed_ = never;
  arm();
}

void ClientCluster::shut_down(Now now) {
  for (const auto& node : nodes_) node->shut_down(now);
}

bool ClientCluster::empty() const {
  return std::ranges::all_of(nodes_, [](const auto& node) { return node->empty(); });
}

std::vector<NodeStats> ClientCluster::stats() const {
  std::vector<NodeStats> all;
  for (const auto& node : nodes_) all.push_back(node->stats());
  return all;
}

}  // namespace sheaf::cluster
