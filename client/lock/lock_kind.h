#pragma once

// The kind of lock that an endpoint offers.
//
// Thread rule: any thread.

#include <sheaf/cluster_config.h>
#include <sheaf/locker.h>

#include "client/runtime/features.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::lock {

// Fenced where the servers compare tokens, else advisory.
inline LockStrength strength_of(const ClusterConfig& config) noexcept {
  const bool fenced = runtime::supports(config, Feature::fencing);
  return fenced ? LockStrength::fenced : LockStrength::advisory;
}

// True if the endpoint compares versions instead of values.
inline bool by_version(const ClusterConfig& config) noexcept {
  return protocol::traits_of(config.kind).compares == protocol::Compares::versions;
}

}  // namespace sheaf::client::lock
