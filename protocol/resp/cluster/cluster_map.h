#pragma once

// ClusterMap: the map of a Redis protocol cluster (server_map.h). It asks for views in a form that
// the servers support, and merges each view with what was known (topology_merge.h).
//
// | form | command        | next form, if the answer is useless   |
// |------|----------------|---------------------------------------|
// | 1    | CLUSTER NODES  | 2; only this one has epochs           |
// | 2    | CLUSTER SHARDS | 3; Redis 7 and Valkey                 |
// | 3    | CLUSTER SLOTS  | 1                                     |
//
// SHARDS is also useless with two primaries in one shard. Redis 8 and Valkey send that after a
// failover whose old primary does not answer: they list it next to the new one, in any order, both
// healthy, with the slots present (Valkey 8.1, 9.1) or missing (Redis 8.0).
//
// An answer that asks for patience (the server is loading, ...) does not change the form.
//
// A server outside a cluster knows no slots. If it is the only one of the configuration, it owns
// all of them. Several such servers are not a cluster: `routing=ring` spreads keys over them.
//
// CLUSTER NODES lists the addresses of servers, and the names that they announce. The configuration
// says which of the two to connect to, and may translate them (protocol/address_map.h). Redirects
// contain names with `cluster-preferred-endpoint-type hostname`, else addresses; with
// `unknown-endpoint` they name no host: all servers are then at the host that was asked. Only SLOTS
// says so in advance. A server that calls itself by another address than the one that was asked is
// asked for SLOTS, too, before its map takes effect. The configuration goes first.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <map>
#include <optional>

#include "protocol/address_map.h"
#include "protocol/resp/cluster/topology_merge.h"
#include "protocol/server_map.h"

namespace sheaf::protocol::resp {

// How to reach the servers of a map that are not in the configuration.
struct MapRules {
  HostKind hosts = HostKind::addresses;
  bool tls = false;  // use their TLS ports
  AddressMap addresses{};
};

class ClusterMap final : public ServerMap {
 public:
  // A map for a configuration with these servers.
  explicit ClusterMap(std::span<const NodeConfig> seeds, const MapRules& rules = {});

  std::span<const std::string_view> question() const override;
  std::expected<Taken, Useless> on_reply(const protocol::Reply& reply, const Source& from) override;
  bool known() const override { return known_; }
  std::shared_ptr<const KnownServers> known_servers() const override { return known_servers_; }
  std::vector<NodeConfig> servers() const override { return servers_; }
  std::vector<std::uint16_t> owners() const override { return owners_; }
  std::vector<NodeConfig> others() const override { return others_; }
  std::vector<Replica> replicas() const override { return replicas_; }
  std::optional<NodeConfig> importer(std::uint16_t slot) const override;
  std::optional<NodeConfig> server_called(std::string_view name, std::uint16_t port) const override;
  SlotOf slot_of() const override;
  std::vector<ClusterServer> listing() const override;

  // What servers say about each other, replicas included.
  const SlotMap& slots() const noexcept { return slots_; }

 private:
  enum class Form : std::uint8_t { nodes, shards, slots };

  // A view that takes effect when it is known whether all servers are at `host`.
  struct HalfKnown {
    TopologyView view;
    std::string host;
  };

  std::expected<Taken, Useless> on_refusal(const protocol::Reply& reply);
  std::expected<Taken, Useless> on_endpoints(const protocol::Reply& reply);
  std::expected<Taken, Useless> take(TopologyView view);
  bool may_lack_hosts(const TopologyView& view, std::string_view host) const;
  void translate(TopologyView& view, std::string_view only_host);
  std::string host_called(std::string_view name, std::uint16_t port) const;
  ParsedView parse(std::string_view bytes, const Source& from) const;
  void next_form() noexcept;
  bool is_foreign(const TopologyView& view) const noexcept;
  void note_ids();
  void write_down();
  void note_importers(const TopologyView& view);

  const MapRules rules_;
  std::optional<NodeConfig> sole_seed_;
  Form form_ = Form::nodes;
  std::optional<HalfKnown> half_;
  bool known_ = false;
  SlotMap slots_;
  const std::shared_ptr<KnownServers> known_servers_ = std::make_shared<KnownServers>();
  std::vector<NodeConfig> servers_;
  std::vector<NodeConfig> others_;
  std::vector<Replica> replicas_;
  std::vector<std::uint16_t> owners_;
  std::map<std::uint16_t, NodeConfig> importers_;  // from the latest view; by slot
  std::map<std::string, NodeConfig> translated_;   // from the latest view; by announced identity
};

}  // namespace sheaf::protocol::resp
