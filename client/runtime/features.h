#pragma once

// What a client can do: by the kind of its endpoint, less what failover=rehash takes away.
//
// Thread rule: pure functions.

#include <optional>

#include <sheaf/cluster_config.h>
#include <sheaf/feature.h>

namespace sheaf::client::runtime {

// What Client::supports says.
bool supports(const ClusterConfig& config, Feature feature) noexcept;

// Why a call that needs the feature is refused; nothing if it is supported. For features whose name
// is a plural: fencing tokens, watches, lists, locks.
std::optional<Error> check_feature(const ClusterConfig& config, Feature feature);

}  // namespace sheaf::client::runtime
