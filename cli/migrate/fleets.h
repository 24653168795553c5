#pragma once

// The two fleets of a migration: their clients, their keys, and the counters of their servers.
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

// Reads of a fleet since its servers started.
struct FleetCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};

class Fleet {
 public:
  explicit Fleet(Client client);

  Client& client() noexcept { return client_; }
  const ClusterConfig& config() const noexcept { return client_.config(); }

  // Adds the keys of all servers, each only from the server that owns it: programs do not find keys
  // on other servers, unless they place keys in another way. Returns how many such keys there are;
  // the error is one sentence.
  std::expected<std::uint64_t, std::string> list_keys(KeySpool& keys) const;
  // How many values the servers report, including just expired ones.
  std::expected<std::uint64_t, std::string> size();
  // The counters of the servers, without this client's own reads.
  std::optional<FleetCounts> counts();

 private:
  Client client_;
  std::unique_ptr<const cluster::ClientNodeLocator> locator_;
};

// The programs' reads in a stage, between two counts; see MigrationStage for the fleet asked first.
std::optional<StageReads> reads_between(MigrationStage stage, const FleetCounts& from_before,
                                        const FleetCounts& from_now, const FleetCounts& to_before,
                                        const FleetCounts& to_now);

}  // namespace sheaf::cli
