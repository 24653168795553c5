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
  std::uint64_t version = 0;  // of the list, where it has one
};

// Options that are not allowed, in one sentence.
std::optional<Error> check_options(const DiscoveryOptions& options);
// A source that is not allowed.
std::optional<Error> check_source(const ServerSource& source);

// What is given has been checked.
Result<Found> look_up_srv(const ServerSource& source, const DiscoveryOptions& options);
Result<Found> look_up_elasticache(const ServerSource& source, const DiscoveryOptions& options);

// Checks both, looks where the source says, and notes how long it took.
Result<Found> look_up(const ServerSource& source, const DiscoveryOptions& options);

}  // namespace sheaf::discovery
