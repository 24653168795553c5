#pragma once

// The checks that a call must pass before anything is started.
//
// Thread rule: any thread.

#include <chrono>
#include <optional>
#include <string_view>

#include <sheaf/cluster_config.h>
#include <sheaf/options.h>

namespace sheaf::client::calls {

// Each returns the first error found, naming the argument and its limit.
std::optional<Error> check_key(std::string_view key);
std::optional<Error> check_value(std::string_view value, const ClusterConfig& config);
std::optional<Error> check_fence(const FencingToken& fence, const ClusterConfig& config);
std::optional<Error> check_ttl(const std::optional<Ttl>& ttl);
std::optional<Error> check_timeout(const Timeout& timeout);

// The time to live to send: the caller's, else the cluster's `default_ttl`; 0 = none.
std::chrono::milliseconds effective_ttl(const std::optional<Ttl>& ttl, const ClusterConfig& config);

}  // namespace sheaf::client::calls
