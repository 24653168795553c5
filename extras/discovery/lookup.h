#pragma once

// One look at a source of servers, by a thread that waits for it.
//
// Thread rule: any thread. Blocks until the deadline at the latest.

#include <cstdint>
#include <optional>
#include <vector>

#include <sheaf/discovery.h>

namespace sheaf::discovery {

struct Found {
  std::vector<NodeConfig> servers;
  std::uint64_t version = 0;  // of the list, if it has one
};

// Servers that are found are sorted.
inline constexpr const char* order_is_lost =
    "option ring=modula places keys by the order of the servers, which a source of servers does "
    "not keep";

// What is wrong with the options, in one sentence.
std::optional<Error> check_options(const DiscoveryOptions& options);
// What is wrong with the source, in one sentence.
std::optional<Error> check_source(const ServerSource& source);

// The arguments must have been checked.
Result<Found> look_up_srv(const ServerSource& source, const DiscoveryOptions& options);
Result<Found> look_up_elasticache(const ServerSource& source, const DiscoveryOptions& options);

// Checks both, looks the servers up, and records how long that took.
Result<Found> look_up(const ServerSource& source, const DiscoveryOptions& options);

}  // namespace sheaf::discovery
