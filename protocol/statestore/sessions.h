#pragma once

// StoreSessions: makes the state store sessions of a cluster. Every connection is a separate MQTT
// client, with an ID of prefix, random part and number. All connections to one node share that
// node's hybrid logical clock. A single clock for all nodes would carry a fast broker's time to a
// slow one, which refuses it.
//
// Thread rule: belongs to one lane.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

#include "base/random.h"
#include "protocol/session_factory.h"
#include "protocol/statestore/clock.h"

namespace sheaf::protocol::statestore {

class StoreSessions final : public SessionFactory {
 public:
  StoreSessions(const ClusterConfig& config, const Seed& seed);
  std::unique_ptr<Session> make(unsigned node, Now now) override;
  void forget(unsigned node) override;

 private:
  ClusterConfig config_;
  Random random_;
  std::string client_id_;  // without the number
  unsigned made_ = 0;
  std::vector<std::unique_ptr<HybridClock>> clocks_;  // by node; null: no session yet
};

}  // namespace sheaf::protocol::statestore
