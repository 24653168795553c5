#pragma once

// A cluster of the Redis protocol on simulated ports: each node of a ModelCluster is a server, and
// its changes proceed in virtual time.
//
// Thread rule: one thread. The world and the network outlive it; it outlives the clients.

#include <memory>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

#include "tests/sim/kit/server_log.h"
#include "tests/sim/kit/sim_network.h"
#include "tests/support/resp_model/cluster_changes.h"
#include "tests/support/resp_model/model_cluster.h"

namespace sheaf::sim {

class SimResp {
 public:
  // Primaries r0, r1, ... on port 6379.
  SimResp(SimNetwork& network, unsigned primaries, std::uint64_t seed,
          test::resp_model::ClusterOptions options = {});
  SimResp(const SimResp&) = delete;
  SimResp& operator=(const SimResp&) = delete;

  unsigned add_primary();
  unsigned add_replica(unsigned primary);

  // Changes made through these proceed from the present moment.
  test::resp_model::ModelCluster& cluster();
  test::resp_model::ClusterChanges& changes();
  const test::resp_model::RequestLog& log() const { return cluster_.log(); }
  // The server at the node's present address.
  SimServer& server(unsigned node) { return *servers_[node]; }
  test::resp_model::NodeAddress address(unsigned node) const;
  std::vector<NodeConfig> addresses() const;  // of all nodes

  // The owner of a slot according to node 0.
  unsigned owner(std::uint16_t slot) const { return cluster_.node(0).view.owner(slot); }
  // True if no change is in progress and all nodes know of each other.
  bool settled() const { return changes_.over() && cluster_.settled(); }

  // Stops the process for a while: neither clients nor other nodes receive anything from it.
  void stop_for(unsigned node, std::chrono::nanoseconds time);
  // Makes all nodes say that the cluster is down.
  void go_down_for(std::chrono::nanoseconds time);
  // Kills the process and starts it again at another address.
  void move(unsigned node);

  // What SET stored, according to the log of all nodes. Keys move, so their data are one.
  ServerLog stored() const;

  Deadline now() const { return network_.world().now().mono; }

 private:
  SimServer& serve(unsigned node, const test::resp_model::NodeAddress& address);
  test::resp_model::NodeAddress next_address();
  void go_on();

  SimNetwork& network_;
  test::resp_model::ModelCluster cluster_;
  test::resp_model::ClusterChanges changes_{cluster_};
  std::vector<SimServer*> servers_;
  unsigned next_host_;
  Deadline ticks_at_ = never;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sheaf::sim
