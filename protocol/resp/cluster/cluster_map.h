#pragma once

// ClusterMap: the map of a Redis protocol cluster (server_map.h): asks for views in the form that
// its servers have, and merges each with what was known (topology_merge.h).
//
// | form | command        | next form, if the answer is of no use |
// |------|----------------|---------------------------------------|
// | 1    | CLUSTER NODES  | 2; only this one has epochs           |
// | 2    | CLUSTER SHARDS | 3; Redis 7 and Valkey                 |
// | 3    | CLUSTER SLOTS  | 1                                     |
//
// Of no use, too, are SHARDS with two primaries in one shard. Redis 8 and Valkey send that after a
// failover whose old primary does not answer: it stands beside the new one, in any order, both
// healthy, and the slots are there (Valkey 8.1, 9.1) or missing (Redis 8.0).
//
// An answer by which the server asks for patience (it is loading, ...) changes no form.
//
// A server that stands alone knows no slots. If it is the only one of the configuration, it owns
// all of them. Several of that sort are no cluster: `routing=ring` spreads keys over them.
//
// CLUSTER NODES has the addresses of servers, and beside them the names that they announce. The
// configuration says which of both to connect to. Redirects have the names with
// `cluster-preferred-endpoint-type hostname`, else the addresses.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <map>
#include <optional>

#include "protocol/resp/cluster/topology_merge.h"
#include "protocol/server_map.h"

namespace sheaf::protocol::resp {

// By what the servers of a map are reached, beyond those of the configuration.
struct MapRules {
  HostKind hosts = HostKind::addresses;
  bool tls = false;  // at their ports for TLS
};

class ClusterMap final : public ServerMap {
 public:
  // Of a configuration with these servers.
  explicit ClusterMap(std::span<const NodeConfig> seeds, const MapRules& rules = {});

  std::span<const std::string_view> question() const override;
  std::expected<void, std::string> on_reply(const protocol::Reply& reply,
                                            const Source& from) override;
  bool known() const override { return known_; }
  std::vector<NodeConfig> servers() const override { return servers_; }
  std::vector<std::uint16_t> owners() const override { return owners_; }
  std::vector<NodeConfig> others() const override { return others_; }
  std::vector<Replica> replicas() const override { return replicas_; }
  std::optional<NodeConfig> importer(std::uint16_t slot) const override;
  std::string host_called(std::string_view name, std::uint16_t port) const override;
  SlotOf slot_of() const override;
  std::vector<ClusterServer> listing() const override;

  // What servers say of each other, replicas included.
  const SlotMap& slots() const noexcept { return slots_; }

 private:
  enum class Form : std::uint8_t { nodes, shards, slots };

  std::expected<void, std::string> on_refusal(const protocol::Reply& reply);
  ParsedView parse(std::string_view bytes, const Source& from) const;
  void next_form() noexcept;
  void write_down();
  void note_importers(const TopologyView& view);

  const MapRules rules_;
  std::optional<NodeConfig> sole_seed_;
  Form form_ = Form::nodes;
  bool known_ = false;
  SlotMap slots_;
  std::vector<NodeConfig> servers_;
  std::vector<NodeConfig> others_;
  std::vector<Replica> replicas_;
  std::vector<std::uint16_t> owners_;
  std::map<std::uint16_t, NodeConfig> importers_;  // of the latest view; by slot
};

}  // namespace sheaf::protocol::resp
