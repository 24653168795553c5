#pragma once

// What a call refuses of its arguments before anything is started, whatever kind of server it is
// for.
//
// Thread rule: any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <optional>
#include <string_view>

#include <sheaf/cluster_config.h>
#include <sheaf/options.h>

namespace sheaf::arguments {

// Each returns the first thing wrong, naming it and its limit.
std::optional<Error> check_key(std::string_view key);
std::optional<Error> check_value(std::string_view value, const ClusterConfig& config);
std::optional<Error> check_ttl(const std::optional<Ttl>& ttl);
std::optional<Error> check_timeout(const Timeout& timeout);

// What an operation sends: the caller's time to live, else the cluster's `default_ttl`; 0 = none.
std::chrono::milliseconds effective_ttl(const std::optional<Ttl>& ttl, const ClusterConfig& config);

}  // namespace sheaf::arguments
