// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/sessions.h"

#include <algorithm>
#include <utility>

#include "protocol/statestore/session.h"

namespace sheaf::protocol::statestore {

StoreSessions::StoreSessions(const ClusterConfig& config, const Seed& seed)
    : config_(config), random_(seed), client_id_(config.client_id + "-" + random_.hex(16)) {}

std::unique_ptr<Session> StoreSessions::make(unsigned node, Now) {
  StoreSessionOptions options;
  options.client_id = client_id_ + "-" + std::to_string(made_++);
  options.login = login();
  options.over_tls = config_.tls;
  options.keep_alive = config_.keep_alive;
  options.handshake_limit =
      std::max(config_.connect_timeout, config_.timeout);  // sockets are stricter
  options.value_limit = config_.value_limit;
  options.seed = random_.fork();
  if (node >= clocks_.size()) clocks_.resize(node + 1);
  auto& clock = clocks_[node];
  if (clock == nullptr) clock = std::make_unique<HybridClock>(client_id_);
  return std::make_unique<StoreSession>(std::move(options), *clock);
}

void StoreSessions::forget(unsigned node) {
  if (node < clocks_.size()) clocks_[node].reset();
}

}  // namespace sheaf::protocol::statestore
