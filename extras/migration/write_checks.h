#pragma once

// What the client of a fleet would refuse of a write before it sends anything. A MigratingCache
// looks before the first step: a later step that is refused would leave the first one done.
//
// Thread rule: any thread.

#include <optional>
#include <span>
#include <string_view>

#include <sheaf/cluster_config.h>
#include <sheaf/options.h>

#include "base/clock.h"
#include "extras/migration/stage_rules.h"

namespace sheaf::migration {

// The steps of a call, and the configurations of the fleets they go to. A write of one step alone
// is left to the client that gets it. Each function returns the first thing wrong.
struct StepChecks {
  std::span<const WriteStep> steps;
  const ClusterConfig& from;
  const ClusterConfig& to;

  std::optional<Error> of_set(std::string_view key, std::string_view value,
                              const SetOptions& options, Now now) const;
  std::optional<Error> of_remove(std::string_view key) const;
};

}  // namespace sheaf::migration
