#pragma once

// RespSessions: makes the sessions of a cluster whose servers speak the Redis protocol.
//
// Thread rule: belongs to one lane.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <string_view>

#include <sheaf/cluster_config.h>

#include "protocol/resp/greeting/session_options.h"
#include "protocol/session_factory.h"

namespace sheaf::protocol::resp {

class RespSessions final : public SessionFactory {
 public:
  explicit RespSessions(const ClusterConfig& config);
  std::unique_ptr<Session> make(unsigned node, SessionUse use, Now now) override;
  bool takes_batches(std::string_view key) const noexcept override;
  bool sets_batches(std::string_view key, std::string_view value) const noexcept override;

 private:
  SessionOptions options_;
};

}  // namespace sheaf::protocol::resp
