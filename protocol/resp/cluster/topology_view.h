#pragma once

// TopologyView: what one server of a Redis protocol cluster says about all of them. It is read from
// the reply to CLUSTER NODES, which alone has configuration epochs, or to CLUSTER SHARDS or CLUSTER
// SLOTS. Garnet, Valkey and Redis differ in each of them; the view hides the differences. Views of
// several servers become a map in topology_merge.h.
//
// What servers say about the health of others is left out: a server lists servers that it has lost
// contact with, and Garnet lists itself, as offline. Only a connection shows whether a server
// works.
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
  std::string host;        // to connect to; empty if unknown
  std::string hostname;    // announced next to the address; empty if none. Certificates contain it
  std::uint16_t port = 0;  // 0: it cannot be reached
  Role role = Role::primary;
  std::string primary;      // a replica's primary, by id; empty if unknown
  std::uint64_t epoch = 0;  // 0 if the reply has none
  bool answering = false;   // true for the server that gave the view
  friend bool operator==(const TopologyNode&, const TopologyNode&) = default;
};

// The slots first .. last are listed with a node. Those of a replica mean nothing.
struct SlotClaim {
  std::uint32_t node = 0;  // index in the view
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  friend bool operator==(const SlotClaim&, const SlotClaim&) = default;
};

// A slot that is moving. Only the two nodes involved know, each its own half.
struct SlotMigration {
  std::uint32_t node = 0;  // the node that says so
  std::uint16_t slot = 0;
  bool importing = false;  // true: from `peer`; false: to it
  std::string peer;        // an id
  friend bool operator==(const SlotMigration&, const SlotMigration&) = default;
};

struct TopologyView {
  std::vector<TopologyNode> nodes;  // distinct ids
  std::vector<SlotClaim> claims;    // no slot twice
  std::vector<SlotMigration> migrations;
  bool has_epochs = false;
  std::uint64_t asked = 0;  // a number that grows with the caller's time of asking
};

// The server that sent the reply.
struct AnsweringNode {
  std::string_view host;  // that we connected to: replaces a missing host in the reply
  std::string_view id{};  // if known (CLUSTER MYID); CLUSTER NODES says it itself
  bool tls = false;       // which of two ports to use
};

// The error is a sentence about what is wrong with the reply: then no part of it is reliable.
using ParsedView = std::expected<TopologyView, std::string>;

ParsedView parse_cluster_nodes(const Value& reply, const AnsweringNode& from);
ParsedView parse_cluster_shards(const Value& reply, const AnsweringNode& from);
ParsedView parse_cluster_slots(const Value& reply, const AnsweringNode& from);
// True if a reply to CLUSTER SLOTS names no host of any server: each is at the host that was asked.
bool names_no_hosts(const Value& reply) noexcept;

}  // namespace sheaf::protocol::resp
