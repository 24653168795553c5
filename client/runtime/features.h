#pragma once

// What a client can do, given by the kind of its endpoint, less what failover=rehash takes away.
//
// Thread rule: pure functions.

#include <optional>

#include <sheaf/cluster_config.h>
#include <sheaf/feature.h>

namespace sheaf::client::runtime {

// The answer of Client::supports.
bool supports(const ClusterConfig& config, Feature feature) noexcept;

// Why a call that needs the feature is refused; nothing if it is supported. Only for features with
// a plural name: fencing tokens, watches, lists, locks.
std::optional<Error> check_feature(const ClusterConfig& config, Feature feature);

}  // namespace sheaf::client::runtime
