#pragma once

// What a node is made from: its options, and the parts that it shares with the other nodes of its
// lane.

#include <memory>
#include <string>

#include "node/event_log.h"
#include "node/pool_plan.h"
#include "protocol/session_factory.h"
#include "socket/seam.h"

namespace sheaf::node {

// The role of a node in its cluster.
enum class Role : std::uint8_t {
  primary,  // takes every request
  replica,  // copies another node and is only read (SessionUse::reads)
  none      // not a member
};

struct NodeOptions {
  std::string identity;  // host:port as configured
  socket::Endpoint endpoint;
  std::string named_by;  // the identity of the server that named it; empty: the configuration did
  unsigned index = 0;    // in the topology
  std::uint32_t weight = 1;
  std::chrono::milliseconds connect_timeout{500};
  // The first attempt may take as long as an operation if failing the waiting requests earlier
  // would help no caller.
  std::chrono::milliseconds first_connect_timeout{1'000};
  PoolBounds pool;
  Role role = Role::primary;
  // Answers name their connection, because their meaning may be limited to it.
  bool names_connections = true;
  std::uint32_t max_in_flight = 1'024;
  std::uint64_t max_bytes_in_flight = 8u << 20;
  std::uint32_t max_waiting = 65'536;
  // Counts the connections of all nodes made from copies of these options, so that no number is
  // used again when an index is.
  std::shared_ptr<std::uint64_t> connections = std::make_shared<std::uint64_t>(0);
};

// All of them must outlive the node.
struct NodeParts {
  socket::Loop& loop;
  socket::Dialer& dialer;
  protocol::SessionFactory& sessions;
  EventLog& events;
};

}  // namespace sheaf::node
