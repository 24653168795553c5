#pragma once

// What a call refuses before anything is started, and how a checked call becomes an Operation.

#include <optional>

#include <sheaf/cluster_config.h>
#include <sheaf/options.h>

#include "protocol/operation.h"

namespace sheaf::client::calls {

// Each returns the first thing wrong, naming it and its limit.
std::optional<Error> check_key(std::string_view key);
std::optional<Error> check_value(std::string_view value, const ClusterConfig& config);
std::optional<Error> check_ttl(const std::optional<Ttl>& ttl);
std::optional<Error> check_timeout(const Timeout& timeout);

// Views into the arguments. Nothing is checked here.
protocol::Operation get_operation(std::string_view key);
protocol::Operation set_operation(std::string_view key, std::string_view value,
                                  const SetOptions& options, const ClusterConfig& config);
protocol::Operation remove_operation(std::string_view key, const RemoveOptions& options);

protocol::Operation edit_operation(protocol::Verb verb, std::string_view key,
                                   std::string_view value);
protocol::Operation count_operation(protocol::Verb verb, std::string_view key, std::uint64_t delta,
                                    const CountOptions& options, const ClusterConfig& config);
protocol::Operation touch_operation(protocol::Verb verb, std::string_view key,
                                    const TouchOptions& options, const ClusterConfig& config);

}  // namespace sheaf::client::calls
