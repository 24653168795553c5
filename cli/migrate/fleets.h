#pragma once

// The two fleets of a migration: their clients, their keys, and what their servers have counted.
//
// Thread rule: one thread.

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include <sheaf/client.h>
#include <sheaf/migration.h>

#include "cli/migrate/key_spool.h"
#include "cli/show/migration_counts.h"
#include "cluster/placement/locator.h"

namespace sheaf::cli {

// Reads of a fleet since its servers were started.
struct FleetCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};

class Fleet {
 public:
  explicit Fleet(Client client);

  Client& client() noexcept { return client_; }
  const ClusterConfig& config() const noexcept { return client_.config(); }

  // Adds the keys of all servers, each of the server where it belongs: what else lies on a server
  // nobody finds there, unless programs place keys in another way. How many of those there are; the
  // error is one sentence.
  std::expected<std::uint64_t, std::string> list_keys(KeySpool& keys) const;
  // How many values the servers say that they have, those that have just ended included.
  std::expected<std::uint64_t, std::string> size();
  // What the servers have counted, without what this client has read itself.
  std::optional<FleetCounts> counts();

 private:
  Client client_;
  std::unique_ptr<const cluster::ClientNodeLocator> locator_;
};

// Of what the fleets counted between two moments, in a stage: see MigrationStage for which of them
// is asked first.
std::optional<StageReads> reads_between(MigrationStage stage, const FleetCounts& from_before,
                                        const FleetCounts& from_now, const FleetCounts& to_before,
                                        const FleetCounts& to_now);

}  // namespace sheaf::cli
