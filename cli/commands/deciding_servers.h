#pragma once

// Clusters whose servers decide which of them owns a key.
//
// Thread rule: pure functions.

#include <sheaf/cluster_config.h>

#include "protocol/endpoint_kinds.h"

namespace sheaf::cli {

inline bool servers_decide(const ClusterConfig& config) {
  const protocol::EndpointTraits& traits = protocol::traits_of(config.kind);
  return traits.make_map != nullptr && traits.make_map(config) != nullptr;
}

}  // namespace sheaf::cli
