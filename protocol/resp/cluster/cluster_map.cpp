// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/cluster/cluster_map.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "protocol/resp/wire/reply_reader.h"
#include "protocol/resp/wire/server_error.h"

namespace sheaf::protocol::resp {
namespace {

using AskedWords = std::array<std::string_view, 2>;
constexpr AskedWords ask_nodes{"CLUSTER", "NODES"};
constexpr AskedWords ask_shards{"CLUSTER", "SHARDS"};
constexpr AskedWords ask_slots{"CLUSTER", "SLOTS"};

NodeConfig config_of(const TopologyNode& node) { return {node.host, node.port, 1}; }

// Afterwards redirects by address are those that need a translation.
void call_by_name(TopologyView& view) {
  for (TopologyNode& node : view.nodes) {
    if (!node.hostname.empty()) std::swap(node.host, node.hostname);
  }
}

// In a view without IDs, servers are called by their addresses.
bool is_address(std::string_view id) noexcept { return id.find(':') != id.npos; }

bool has_address(const TopologyNode& node) noexcept { return node.port != 0 && !node.host.empty(); }

}  // namespace

ClusterMap::ClusterMap(std::span<const NodeConfig> seeds, const MapRules& rules)
    : rules_(rules), owners_(slot_count, unassigned) {
  if (seeds.size() == 1) sole_seed_ = seeds.front();
}

ServerMap::SlotOf ClusterMap::slot_of() const { return hash_slot; }

std::vector<ClusterServer> ClusterMap::listing() const {
  std::vector<ClusterServer> list;
  for (const NodeConfig& server : servers_) list.push_back({.node = server.identity()});
  for (const NodeConfig& server : others_) list.push_back({.node = server.identity()});
  std::unordered_map<std::string_view, const TopologyNode*> by_id;
  std::unordered_map<std::string, const TopologyNode*> by_address;
  for (const TopologyNode& node : slots_.nodes()) {
    if (!has_address(node)) continue;
    by_id.emplace(node.id, &node);
    const TopologyNode*& there = by_address[config_of(node).identity()];
    if (there == nullptr || there->epoch < node.epoch) there = &node;
  }
  for (ClusterServer& server : list) {
    const auto found = by_address.find(server.node);
    if (found == by_address.end()) continue;
    server.epoch = found->second->epoch;
    server.replica = found->second->role == Role::replica;
    const auto primary = by_id.find(found->second->primary);
    if (server.replica && primary != by_id.end()) {
      server.primary = config_of(*primary->second).identity();
    }
  }
  return list;
}

std::span<const std::string_view> ClusterMap::question() const {
  if (half_) return ask_slots;
  switch (form_) {
    case Form::nodes:
      return ask_nodes;
    case Form::shards:
      return ask_shards;
    case Form::slots:
      break;
  }
  return ask_slots;
}

void ClusterMap::next_form() noexcept {
  switch (form_) {
    case Form::nodes:
      form_ = Form::shards;
      break;
    case Form::shards:
      form_ = Form::slots;
      break;
    case Form::slots:
      form_ = Form::nodes;
      break;
  }
}

std::expected<ServerMap::Taken, ServerMap::Useless> ClusterMap::on_reply(
    const protocol::Reply& reply, const Source& from) {
  if (half_) return on_endpoints(reply);
  if (reply.status == Status::refused) return on_refusal(reply);
  ParsedView view = parse(reply.value, from);
  if (!view) {
    next_form();
    return std::unexpected(Useless{std::move(view.error())});
  }
  if (is_foreign(*view)) {
    return std::unexpected(Useless{
        "the server belongs to another cluster: it names none of the servers that are known"});
  }
  view->asked = from.asked;
  if (may_lack_hosts(*view, from.host)) {
    half_ = {std::move(*view), std::string(from.host)};
    return Taken::half;
  }
  translate(*view, {});
  return take(std::move(*view));
}

// Only a server that was asked at another address than its own may be behind one that all share.
bool ClusterMap::may_lack_hosts(const TopologyView& view, std::string_view host) const {
  if (form_ != Form::nodes || rules_.hosts == HostKind::names || view.claims.empty()) return false;
  const auto self = std::ranges::find(view.nodes, true, &TopologyNode::answering);
  return self != view.nodes.end() && self->host != host &&
         !rules_.addresses.find(self->host, self->port);
}

// A server that refuses to list its slots may refuse that of its users: then addresses count.
std::expected<ServerMap::Taken, ServerMap::Useless> ClusterMap::on_endpoints(
    const protocol::Reply& reply) {
  HalfKnown known = std::move(*std::exchange(half_, std::nullopt));
  ReplyReader reader;
  const bool read = reply.status != Status::refused &&
                    reader.read(reply.value) == ReplyReader::Progress::complete;
  translate(known.view, read && names_no_hosts(reader.root()) ? known.host : std::string_view());
  return take(std::move(known.view));
}

std::expected<ServerMap::Taken, ServerMap::Useless> ClusterMap::take(TopologyView view) {
  note_importers(view);
  slots_ = SlotMap::merge({&view, 1}, known_ ? slots_ : SlotMap());
  write_down();
  known_ = known_ || !servers_.empty();
  if (known_) note_ids();
  // The servers that it names may know more: they are others().
  if (!known_) return std::unexpected(Useless{"the server knows no owner of any slot"});
  return Taken::whole;
}

// Calls servers by what they are reached by. `only_host`: the host of all servers; empty: each has
// its own.
void ClusterMap::translate(TopologyView& view, std::string_view only_host) {
  translated_.clear();
  if (rules_.hosts == HostKind::names) call_by_name(view);
  for (TopologyNode& node : view.nodes) {
    if (node.port == 0) continue;
    auto reached = rules_.addresses.find(node.host, node.port);
    if (!reached) reached = rules_.addresses.find(node.hostname, node.port);
    if (!reached && only_host.empty()) continue;
    if (!reached) reached = NodeConfig{std::string(only_host), node.port, 1};
    for (const std::string& announced : {node.host, node.hostname}) {
      if (announced.empty()) continue;
      translated_.insert_or_assign(NodeConfig{announced, node.port, 1}.identity(), *reached);
    }
    node.host = reached->host;
    node.port = reached->port;
  }
}

// Its sender and its epochs do not matter.
bool ClusterMap::is_foreign(const TopologyView& view) const noexcept {
  if (known_servers_->empty()) return false;
  return std::ranges::none_of(view.nodes, [&](const TopologyNode& node) {
    return is_address(node.id) || known_servers_->has(node.id);
  });
}

// Nodes that only a MOVED has named have no ID.
void ClusterMap::note_ids() {
  std::vector<std::string> ids;
  for (const TopologyNode& node : slots_.nodes()) {
    if (is_address(node.id)) return;
    if (!node.id.empty()) ids.push_back(node.id);
  }
  known_servers_->assign(std::move(ids));
}

// What a server outside of clusters refuses, it always will; a proxy for a fleet may know no
// CLUSTER at all.
std::expected<ServerMap::Taken, ServerMap::Useless> ClusterMap::on_refusal(
    const protocol::Reply& reply) {
  const ServerError error = ServerError::parse(reply.text);
  if (error.kind == ErrorKind::cluster_disabled) {
    if (!sole_seed_) {
      return std::unexpected(
          Useless{"the server is not in cluster mode; routing=ring is for such servers", true});
    }
    // It was part of a cluster before: other servers may know more.
    if (known_ && !slots_.nodes().empty()) {
      return std::unexpected(Useless{"the server left cluster mode"});
    }
    known_ = true;
    servers_ = {*sole_seed_};
    std::ranges::fill(owners_, 0);
    return Taken::whole;
  }
  const std::string asked(question()[1]);
  Useless useless{"the server refused CLUSTER " + asked + ": " + printable(reply.text, 200)};
  if (!reply.redirect) {
    next_form();
    useless.lasting = true;
    if (error.execution() == Execution::refused && error.kind != ErrorKind::no_perm) {
      useless.text.append("; routing=ring is for servers and proxies without CLUSTER");
    }
  }
  return std::unexpected(std::move(useless));
}

ParsedView ClusterMap::parse(std::string_view bytes, const Source& from) const {
  ReplyReader reader;
  if (reader.read(bytes) != ReplyReader::Progress::complete) {
    return std::unexpected("the map is above the limits of a reply");
  }
  const AnsweringNode answering{.host = from.host, .tls = rules_.tls};
  switch (form_) {
    case Form::nodes:
      return parse_cluster_nodes(reader.root(), answering);
    case Form::shards:
      return parse_cluster_shards(reader.root(), answering);
    case Form::slots:
      break;
  }
  return parse_cluster_slots(reader.root(), answering);
}

std::optional<NodeConfig> ClusterMap::importer(std::uint16_t slot) const {
  const auto found = importers_.find(slot);
  if (found == importers_.end()) return std::nullopt;
  return found->second;
}

std::optional<NodeConfig> ClusterMap::server_called(std::string_view name,
                                                    std::uint16_t port) const {
  if (auto reached = rules_.addresses.find(name, port)) return reached;
  const auto found = translated_.find(NodeConfig{std::string(name), port, 1}.identity());
  if (found != translated_.end()) return found->second;
  std::string host = host_called(name, port);
  if (host.empty()) return std::nullopt;
  return NodeConfig{std::move(host), port, 1};
}

// A server that the map does not know yet may have the same name as a known one on the same
// machine, and then the same address.
std::string ClusterMap::host_called(std::string_view name, std::uint16_t port) const {
  const auto nodes = slots_.nodes();
  if (std::ranges::find(nodes, name, &TopologyNode::host) != nodes.end()) return {};
  std::string_view at_port;
  std::string_view anywhere;
  bool several_at_port = false;
  bool several = false;
  for (const TopologyNode& node : nodes) {
    if (node.hostname != name || !has_address(node)) continue;
    several = several || (!anywhere.empty() && anywhere != node.host);
    anywhere = node.host;
    if (node.port != port) continue;
    several_at_port = several_at_port || (!at_port.empty() && at_port != node.host);
    at_port = node.host;
  }
  if (!at_port.empty()) return several_at_port ? std::string() : std::string(at_port);
  return several ? std::string() : std::string(anywhere);
}

// Only the two servers involved know of a migration, so it is in the view of one of them or in
// none. Migrations of earlier views may be over.
void ClusterMap::note_importers(const TopologyView& view) {
  importers_.clear();
  for (const SlotMigration& migration : view.migrations) {
    const TopologyNode& teller = view.nodes[migration.node];
    const auto peer = std::ranges::find(view.nodes, migration.peer, &TopologyNode::id);
    if (!migration.importing && peer == view.nodes.end()) continue;
    const TopologyNode& importer = migration.importing ? teller : *peer;
    if (has_address(importer)) importers_.insert_or_assign(migration.slot, config_of(importer));
  }
}

// Two nodes may have one address: a server that was recreated, and its former self.
void ClusterMap::write_down() {
  servers_.clear();
  others_.clear();
  replicas_.clear();
  const auto nodes = slots_.nodes();
  std::vector<bool> owns(nodes.size());
  for (const std::uint16_t owner : slots_.owners()) {
    if (owner != SlotMap::nobody) owns[owner] = true;
  }
  std::unordered_map<std::string, std::uint16_t> positions;          // by identity
  std::unordered_map<std::string_view, std::uint16_t> owners_by_id;  // their positions
  std::vector<std::uint16_t> position_of(nodes.size(), unassigned);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!owns[i] || !has_address(nodes[i])) continue;
    const NodeConfig server = config_of(nodes[i]);
    const auto next = static_cast<std::uint16_t>(servers_.size());
    const auto [found, is_new] = positions.try_emplace(server.identity(), next);
    if (is_new) servers_.push_back(server);
    position_of[i] = found->second;
    owners_by_id.emplace(nodes[i].id, found->second);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (owns[i] || !has_address(nodes[i])) continue;
    const NodeConfig server = config_of(nodes[i]);
    if (!positions.try_emplace(server.identity(), unassigned).second) continue;
    others_.push_back(server);
    const auto primary = owners_by_id.find(nodes[i].primary);
    const bool copies = nodes[i].role == Role::replica && primary != owners_by_id.end();
    if (copies) replicas_.push_back({server, primary->second});
  }
  for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
    const std::uint16_t owner = slots_.owner(slot);
    owners_[slot] = owner == SlotMap::nobody ? unassigned : position_of[owner];
  }
}

}  // namespace sheaf::protocol::resp
