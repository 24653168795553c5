#pragma once

// Properties of every accepted configuration, however it was written.

#include <set>

#include <sheaf/cluster_config.h>

#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {

inline constexpr std::string_view secret = "S3kr3tW0rd";

inline void expect_sound(const ClusterConfig& config) {
  expect(!config.nodes.empty() && config.nodes.size() <= 1'024, "a cluster has 1 to 1,024 nodes");
  std::set<std::string> identities;
  for (const NodeConfig& node : config.nodes) {
    expect(!node.host.empty() && node.weight >= 1 && node.weight <= 65'535, "a node is whole");
    expect(identities.insert(node.identity()).second, "no node is there twice");
  }
  expect(config.pool_max >= 1 && config.pool_max <= 64 && config.pool_min <= config.pool_max,
         "the pool is bounded");
  expect(config.timeout.count() >= 1 && config.connect_timeout.count() >= 1, "time passes");
  expect(config.value_limit >= 1 && config.max_in_flight >= 1, "a request fits");
}

// A refusal says why, without the password. `chosen` is what the fuzzer wrote: it may have copied
// the password to a place that holds none.
inline void expect_discreet(const Error& error, std::string_view chosen) {
  expect(!error.text.empty(), "a refusal says why");
  expect(!error.text.contains(secret) || chosen.contains(secret),
         "a refusal does not print the password");
}

}  // namespace sheaf::fuzz
