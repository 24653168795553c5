// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/sessions.h"

#include <algorithm>
#include <utility>

#include "protocol/statestore/session.h"

namespace sheaf::protocol::statestore {

StoreSessions::StoreSessions(const ClusterConfig& config, const Seed& seed)
    : config_(config), random_(seed), client_id_(config.client_id + "-" + random_.hex(16)) {
  for (std::size_t i = 0; i < config.nodes.size(); ++i) {
    clocks_.push_back(std::make_unique<HybridClock>(client_id_));
  }
}

std::unique_ptr<Session> StoreSessions::make(unsigned node, Now) {
  StoreSessionOptions options;
  options.client_id = client_id_ + "-" + std::to_string(made_++);
  options.user = config_.user;
  options.password = config_.password;
  options.keep_alive = config_.keep_alive;
  options.handshake_limit =
      std::max(config_.connect_timeout, config_.timeout);  // sockets are stricter
  options.value_limit = config_.value_limit;
  options.seed = random_.fork();
  return std::make_unique<StoreSession>(std::move(options), *clocks_[node]);
}

}  // namespace sheaf::protocol::statestore
