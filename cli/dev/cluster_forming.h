#pragma once

// ClusterForming: makes one cluster of freshly started servers of the Redis protocol, without
// redis-cli. It asks each server for its view (CLUSTER NODES) and sends what is missing. The caller
// repeats turn() until the cluster is formed.
//
// | what the views say                         | sent                                           |
// |--------------------------------------------|------------------------------------------------|
// | a server knows itself only                 | CLUSTER SET-CONFIG-EPOCH, another for each     |
// | a primary has no slots                     | CLUSTER ADDSLOTSRANGE                          |
// | neither, and some do not know all others   | CLUSTER MEET                                   |
// | all know all, and a replica is a primary   | CLUSTER REPLICATE                              |
// | all agree                                  | nothing; formed once all of them serve, and    |
// |                                            | replicas are connected to their primaries      |
//
// Thread rule: one thread at a time. forming_steps() and follows() are pure.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/dev/blocking_connection.h"
#include "protocol/resp/cluster/topology_view.h"

namespace sheaf::cli {

// Servers on 127.0.0.1: the primaries, then the replicas. Server i is a replica of the primary
// i % primaries.
struct ClusterPlan {
  struct Server {
    std::uint16_t port = 0;
    std::uint16_t bus_port = 0;
  };
  std::vector<Server> servers;
  std::size_t primaries = 1;

  // The first and the last slot of a primary.
  std::pair<std::uint16_t, std::uint16_t> slots(std::size_t primary) const;
};

struct FormingStep {
  std::size_t server = 0;
  std::vector<std::string> command;
  friend bool operator==(const FormingStep&, const FormingStep&) = default;
};

// What to send next. `views` are the answers to CLUSTER NODES, one from each server of the plan.
std::vector<FormingStep> forming_steps(const ClusterPlan& plan,
                                       std::span<const protocol::resp::TopologyView> views);
// True if each view has every server in its role, and every slot with its primary.
bool follows(const ClusterPlan& plan, std::span<const protocol::resp::TopologyView> views);

class ClusterForming {
 public:
  // `connections` go to the servers of the plan, and are logged in.
  ClusterForming(ClusterPlan plan, std::vector<BlockingConnection> connections);

  // One round. True when the cluster is formed; an error is final.
  std::expected<bool, std::string> turn(std::chrono::steady_clock::time_point now);
  // The last refusal by a server, if any: servers refuse a command that comes too early.
  const std::string& refusal() const noexcept { return refusal_; }

 private:
  std::expected<std::vector<protocol::resp::TopologyView>, std::string> ask_views();
  std::expected<void, std::string> send(const std::vector<FormingStep>& steps);
  std::expected<bool, std::string> all_serve();

  ClusterPlan plan_;
  std::vector<BlockingConnection> connections_;
  std::vector<FormingStep> sent_;
  std::chrono::steady_clock::time_point sent_at_{};
  std::string refusal_;
};

}  // namespace sheaf::cli
