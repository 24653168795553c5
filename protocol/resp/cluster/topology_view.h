#pragma once

// TopologyView: what one server of a Redis protocol cluster says about all of them. It is read from
// the reply to CLUSTER NODES, which alone has configuration epochs, or to CLUSTER SHARDS or CLUSTER
// SLOTS. Garnet, Valkey and Redis differ in each of them; the view has no such differences. Views
// of several servers become a map in topology_merge.h.
//
// What servers say about the health of others is left out: a server lists what it has lost touch
// with, and Garnet lists itself, as offline. Only a connection shows whether a server is there.
//
// Thread rule: plain values; parsers are pure functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {

enum class Role : std::uint8_t { primary, replica };

struct TopologyNode {
  std::string id;
  std::string host;        // to connect to; empty if nobody knows one
  std::string hostname;    // announced beside the address; empty if none. What certificates name
  std::uint16_t port = 0;  // 0: it cannot be reached
  Role role = Role::primary;
  std::string primary;      // of a replica: the id of its primary, empty if unknown
  std::uint64_t epoch = 0;  // 0 where the reply has none
  bool answering = false;   // it is the server that gave the view
  friend bool operator==(const TopologyNode&, const TopologyNode&) = default;
};

// The slots first .. last are listed with a node. A replica's mean nothing.
struct SlotClaim {
  std::uint32_t node = 0;  // index in the view
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  friend bool operator==(const SlotClaim&, const SlotClaim&) = default;
};

// A slot that is on its way. Only the two nodes concerned know, each its own half.
struct SlotMigration {
  std::uint32_t node = 0;  // who says so
  std::uint16_t slot = 0;
  bool importing = false;  // from `peer`, else to it
  std::string peer;        // an id
  friend bool operator==(const SlotMigration&, const SlotMigration&) = default;
};

struct TopologyView {
  std::vector<TopologyNode> nodes;  // distinct ids
  std::vector<SlotClaim> claims;    // no slot twice
  std::vector<SlotMigration> migrations;
  bool has_epochs = false;
  std::uint64_t asked =
      0;  // the caller's number of the moment when it asked; later ones are larger
};

// Whose reply it is.
struct AnsweringNode {
  std::string_view host;  // that we connected to: stands in where the reply has no host
  std::string_view id{};  // if known (CLUSTER MYID); CLUSTER NODES says it itself
  bool tls = false;       // which of two ports is meant
};

// A sentence about what is wrong with the reply: no part of it can be relied on then.
using ParsedView = std::expected<TopologyView, std::string>;

ParsedView parse_cluster_nodes(const Value& reply, const AnsweringNode& from);
ParsedView parse_cluster_shards(const Value& reply, const AnsweringNode& from);
ParsedView parse_cluster_slots(const Value& reply, const AnsweringNode& from);

}  // namespace sheaf::protocol::resp
