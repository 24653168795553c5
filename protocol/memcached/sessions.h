#pragma once

// MemcachedSessions: makes the memcached sessions of a cluster, in the configured protocol or, with
// `protocol=auto`, in the one that the negotiation with each server finds.
//
// Thread rule: belongs to one lane.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>

#include "protocol/memcached/negotiation.h"
#include "protocol/session_factory.h"

namespace sheaf::protocol::memcached {

class MemcachedSessions final : public SessionFactory {
 public:
  explicit MemcachedSessions(const ClusterConfig& config);
  std::unique_ptr<Session> make(unsigned node, SessionUse use, Now now) override;
  void forget(unsigned node) override;
  void set_login(SharedLogin login) override;
  bool takes_batches(std::string_view key) const noexcept override;

 private:
  bool has_user() const noexcept;

  ClusterConfig config_;
  std::vector<std::unique_ptr<Negotiation>> negotiations_;  // by node; null: not begun
};

}  // namespace sheaf::protocol::memcached
