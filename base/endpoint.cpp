#include <sheaf/cluster_config.h>

#include "base/text.h"

namespace sheaf {
inline namespace v0 {

std::string_view to_string(EndpointKind kind) noexcept {
  switch (kind) {
    case EndpointKind::state_store:
      return "mqtt";
    case EndpointKind::embedded:
      return "embedded";
    case EndpointKind::memcached:
      return "memcached";
    case EndpointKind::redis:
      return "redis";
  }
  return "mqtt";
}

std::string NodeConfig::identity() const { return join_host_port(host, port); }

}  // namespace v0
}  // namespace sheaf
