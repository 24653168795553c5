// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/sessions.h"

#include <algorithm>
#include <utility>

#include "protocol/statestore/session.h"

namespace sheaf::protocol::statestore {

StoreSessions::StoreSessions(const ClusterConfig& config, const Seed& seed)
    : config_(config),
      random_(seed),
      own_name_((config.client_id_exact.empty() ? config.client_id : config.client_id_exact) + "-" +
                random_.hex(16)) {
  config_.nodes = {};  // not needed, and there may be many
}

std::unique_ptr<Session> StoreSessions::make(unsigned index, SessionUse use, Now) {
  if (index >= nodes_.size()) nodes_.resize(index + 1);
  auto& node = nodes_[index];
  if (node == nullptr) {
    node = std::make_unique<Node>(HybridClock(own_name_), ClientIds(config_.client_id_exact));
  }
  StoreSessionOptions options;
  if (config_.client_id_exact.empty()) {
    options.client_id = own_name_ + "-" + std::to_string(made_++);
  } else {
    options.exact_ids = &node->ids;
    options.use = use;
  }
  options.login = login();
  options.over_tls = config_.tls;
  options.keep_alive = config_.keep_alive;
  options.handshake_limit =
      std::max(config_.connect_timeout, config_.timeout);  // sockets are stricter
  options.value_limit = config_.value_limit;
  options.seed = random_.fork();
  return std::make_unique<StoreSession>(std::move(options), node->clock);
}

void StoreSessions::forget(unsigned node) {
  if (node < nodes_.size()) nodes_[node].reset();
}

}  // namespace sheaf::protocol::statestore
