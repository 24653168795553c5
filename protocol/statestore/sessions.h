#pragma once

// StoreSessions: makes the state store sessions of a cluster. Every connection is a separate MQTT
// client, with an ID of prefix, random part and number, or with one of client_ids.h. All
// connections to one node share that node's hybrid logical clock. A single clock for all nodes
// would carry a fast broker's time to a slow one, which refuses it.
//
// Thread rule: belongs to one lane.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

#include "base/random.h"
#include "protocol/session_factory.h"
#include "protocol/statestore/client_ids.h"
#include "protocol/statestore/clock.h"

namespace sheaf::protocol::statestore {

class StoreSessions final : public SessionFactory {
 public:
  StoreSessions(const ClusterConfig& config, const Seed& seed);
  std::unique_ptr<Session> make(unsigned node, SessionUse use, Now now) override;
  void forget(unsigned node) override;

 private:
  ClusterConfig config_;
  Random random_;
  // What the sessions of a node share.
  struct Node {
    HybridClock clock;
    ClientIds ids;
  };

  std::string own_name_;  // of this client alone: a configured text and a random part
  unsigned made_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;  // null: no session yet
};

}  // namespace sheaf::protocol::statestore
