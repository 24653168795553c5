#include "cluster/nodes/cluster_nodes.h"

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::cluster {
namespace {

// If more nodes than this are leaving, the others do not wait until what is in flight has ended.
constexpr std::size_t most_leaving = 1'024;

// So many of the nodes that are made together connect at once, and so many more each millisecond. A
// TLS handshake takes the lane 0.3 ms.
constexpr std::size_t first_to_connect = 8;
constexpr std::size_t connect_together = 4;
// So many nodes close their connections together.
constexpr std::size_t close_together = 8;
constexpr std::chrono::milliseconds between_parts{1};
// How often nodes that have left are checked.
constexpr std::chrono::milliseconds tidy_interval{20};

// When the node connects that is made after so many others.
Deadline connects_at(std::size_t others, Now now) noexcept {
  if (others < first_to_connect) return now.mono;
  const std::size_t part = 1 + (others - first_to_connect) / connect_together;
  return now.mono + static_cast<int>(part) * between_parts;
}

node::NodeOptions model_of(const ClusterConfig& config) {
  node::NodeOptions options;
  options.connect_timeout = config.connect_timeout;
  // With rehash another server could serve the waiting requests.
  const bool alone = config.failover == FailoverMode::owner;
  options.first_connect_timeout =
      alone ? std::max(config.connect_timeout, config.timeout) : config.connect_timeout;
  options.pool = {config.pool_min, config.pool_max, config.idle_timeout, config.busy_timeout};
  options.names_connections = protocol::traits_of(config.kind).binds_connections;
  options.max_in_flight = config.max_in_flight;
  options.max_bytes_in_flight = config.max_bytes_in_flight;
  options.max_waiting = config.max_waiting;
  return options;
}

// True if servers may name others.
bool names_servers(const ClusterConfig& config) {
  return protocol::traits_of(config.kind).make_map != nullptr;
}

node::Role role_of(const Member& member) noexcept {
  return member.is_replica() ? node::Role::replica : node::Role::primary;
}

}  // namespace

ClusterNodes::ClusterNodes(const ClusterConfig& config, std::shared_ptr<const Topology> topology,
                           const node::NodeParts& parts, node::NodeOwner& owner, const Seed& seed,
                           const ClusterControls& controls)
    : model_(model_of(config)),
      configured_(names_servers(config) ? config.nodes : std::vector<NodeConfig>()),
      parts_(parts),
      owner_(owner),
      controls_(controls),
      random_(seed),
      topology_(std::move(topology)),
      nodes_(topology_->index_limit()) {
  for (std::size_t made = 0; const Member& member : topology_->members())
    make(member, topology_->named_by(), connects_at(made++, parts_.loop.now()));
}

ClusterNodes::~ClusterNodes() = default;

std::uint32_t ClusterNodes::fastest_of(std::uint32_t owner, std::uint32_t except,
                                       Now now) const noexcept {
  std::uint32_t best = nobody;
  std::optional<std::chrono::nanoseconds> least;
  const auto consider = [&](std::uint32_t node) {
    if (node == except) return;
    const auto expected = nodes_[node]->expected_latency(now);
    if (!expected || (least && *expected >= *least)) return;
    best = node;
    least = expected;
  };
  consider(owner);
  for (const std::uint32_t replica : topology_->replicas(owner)) consider(replica);
  return best;
}

// ---- following the topology

void ClusterNodes::follow(std::shared_ptr<const Topology> topology, Now now) {
  std::size_t made = 0;
  for (const Member& member : topology->members()) {
    if (add(member, topology->named_by(), connects_at(made, now), now)) ++made;
  }
  const auto previous = topology_;
  {
    const sync::MutexLock lock(mutex_);
    topology_ = std::move(topology);
  }
  for (const Member& member : previous->members()) {
    if (topology_->member(member.index()) == nullptr) remove(member, now);
  }
  for (std::size_t i = 0; i < nodes_.size() && controls_.move_waiting; ++i) {
    if (nodes_[i] != nullptr) nodes_[i]->on_topology(now);
  }
  for (std::size_t i = 0; i + most_leaving < leavers_.size(); ++i) close(leavers_[i], now);
}

void ClusterNodes::remove(const Member& member, Now now) {
  record(member.identity(), "left the cluster");
  nodes_[member.index()]->set_role(node::Role::none, now);
  leavers_.push_back({member.entry});
}

bool ClusterNodes::add(const Member& member, const std::string& named_by, Deadline connects_at,
                       Now now) {
  const std::uint32_t index = member.index();
  if (index >= nodes_.size()) {
    const sync::MutexLock lock(mutex_);
    nodes_.resize(index + 1);
  }
  if (topology_->member(index) != nullptr) {
    nodes_[index]->set_role(role_of(member), now);
    return false;
  }
  record(member.identity(), "joined the cluster");
  if (nodes_[index] != nullptr) {
    const auto leaver = std::ranges::find_if(leavers_, [&](const Leaver& l) {
      return l.entry->index == index && l.replaced == nullptr;
    });
    SHEAF_CHECK(leaver != leavers_.end());
    if (!leaver->closing) {
      leavers_.erase(leaver);
      nodes_[index]->set_role(role_of(member), now);
      return false;
    }
    const sync::MutexLock lock(mutex_);
    leaver->replaced = std::move(nodes_[index]);
  }
  make(member, named_by, connects_at);
  return true;
}

bool ClusterNodes::is_configured(const Member& member) const {
  return std::ranges::any_of(configured_, [&](const NodeConfig& node) {
    return node.port == member.port && node.host == member.host;
  });
}

void ClusterNodes::make(const Member& member, const std::string& named_by, Deadline connects_at) {
  node::NodeOptions options = model_;
  options.identity = member.identity();
  options.endpoint = {member.host, member.port};
  options.index = member.index();
  options.weight = member.weight;
  options.role = role_of(member);
  if (!named_by.empty() && !is_configured(member)) options.named_by = named_by;
  auto made =
      std::make_unique<node::ClientNode>(options, parts_, owner_, random_.fork(), connects_at);
  if (member.index() < hedges_.size()) hedges_[member.index()] = {};
  const sync::MutexLock lock(mutex_);
  nodes_[member.index()] = std::move(made);
}

// ---- nodes that have left

void ClusterNodes::close(Leaver& leaver, Now now) {
  if (!std::exchange(leaver.closing, true)) node_of(leaver).shut_down(now);
}

bool ClusterNodes::may_go(const Leaver& leaver, NodeUser* user) const {
  const node::ClientNode& node = node_of(leaver);
  const bool used = user != nullptr && !user->lets_go(node);
  return node.empty() && !used;
}

Deadline ClusterNodes::tidy(NodeUser* user, Now now) {
  std::size_t closed = 0;
  for (std::size_t i = 0; i < leavers_.size();) {
    Leaver& leaver = leavers_[i];
    if (!leaver.closing && (node_of(leaver).idle() || !controls_.wait_for_end)) {
      if (closed++ == close_together) return now.mono + between_parts;
      close(leaver, now);
    }
    if (!leaver.closing || !may_go(leaver, user)) {
      ++i;
      continue;
    }
    Leaver gone = std::move(leaver);
    leavers_.erase(leavers_.begin() + static_cast<std::ptrdiff_t>(i));
    destroy(std::move(gone));
  }
  return leavers_.empty() ? never : now.mono + tidy_interval;
}

// The sessions forget the server together with its last node.
void ClusterNodes::destroy(Leaver leaver) {
  const std::uint32_t index = leaver.entry->index;
  if (leaver.replaced == nullptr) {
    const sync::MutexLock lock(mutex_);
    leaver.replaced = std::move(nodes_[index]);
  }
  leaver.replaced.reset();
  const bool others =
      nodes_[index] != nullptr ||
      std::ranges::any_of(leavers_, [&](const Leaver& l) { return l.entry->index == index; });
  if (!others) parts_.sessions.forget(index);
}

void ClusterNodes::record(std::string_view node, std::string_view text) const {
  if (!parts_.events.listening()) return;
  LogRecord record;
  record.node = node;
  record.operation = "topology";
  record.text = text;
  parts_.events.record(std::move(record));
}

// ---- all nodes

void ClusterNodes::renew_logins(Now now) {
  for (const auto& node : nodes_) {
    if (node != nullptr) node->renew_login(now);
  }
}

void ClusterNodes::shut_down(Now now) {
  for (const auto& node : nodes_) {
    if (node != nullptr) node->shut_down(now);
  }
}

bool ClusterNodes::empty() const {
  return std::ranges::all_of(nodes_,
                             [](const auto& node) { return node == nullptr || node->empty(); }) &&
         std::ranges::all_of(leavers_, [&](const Leaver& l) { return node_of(l).empty(); });
}

std::size_t ClusterNodes::size() const {
  const auto there =
      std::ranges::count_if(nodes_, [](const auto& node) { return node != nullptr; });
  const auto replaced = std::ranges::count_if(
      leavers_, [](const Leaver& leaver) { return leaver.replaced != nullptr; });
  return static_cast<std::size_t>(there + replaced);
}

ClusterNodes::HedgeCounts& ClusterNodes::hedges(unsigned index) {
  if (index >= hedges_.size()) hedges_.resize(index + 1);
  return hedges_[index];
}

std::vector<NodeStats> ClusterNodes::stats() const {
  std::vector<NodeStats> all;
  for (const Member& member : topology_->members()) {
    all.push_back(nodes_[member.index()]->stats());
    all.back().weight = member.weight;
    if (member.index() >= hedges_.size()) continue;
    all.back().hedges = hedges_[member.index()].sent;
    all.back().hedges_won = hedges_[member.index()].won;
  }
  return all;
}

std::vector<NodeMetrics> ClusterNodes::metrics() const {
  std::vector<NodeMetrics> all;
  for (NodeStats& stats : this->stats()) all.push_back({std::move(stats), {}});
  for (std::size_t i = 0; const Member& member : topology_->members())
    all[i++].operations = nodes_[member.index()]->operations();
  return all;
}

std::shared_ptr<const Topology> ClusterNodes::snapshot() const {
  const sync::MutexLock lock(mutex_);
  return topology_;
}

node::NodeSigns ClusterNodes::last_signs(unsigned index) const {
  const sync::MutexLock lock(mutex_);
  if (index >= nodes_.size() || nodes_[index] == nullptr) return {};
  return nodes_[index]->last_signs();
}

}  // namespace sheaf::cluster
