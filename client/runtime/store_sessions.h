#pragma once

// Makes the state store sessions of a cluster: every connection is an MQTT client of its own
// (prefix, random part, number), and all connections to one node share that node's hybrid logical
// clock.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

#include "base/random.h"
#include "node/session_factory.h"
#include "protocol/statestore/clock.h"

namespace sheaf::client::runtime {

class StoreSessions final : public node::SessionFactory {
 public:
  StoreSessions(const ClusterConfig& config, const Seed& seed);
  std::unique_ptr<protocol::Session> make(unsigned node, Now now) override;

 private:
  ClusterConfig config_;
  Random random_;
  std::string client_id_;  // without the number
  unsigned made_ = 0;
  std::vector<std::unique_ptr<protocol::statestore::HybridClock>> clocks_;  // by node
};

}  // namespace sheaf::client::runtime
