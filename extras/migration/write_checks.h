#pragma once

// What the client of a fleet would refuse before it sends a write. A MigratingCache checks this
// before the first step: if a later step were refused, the first would already be done.
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

// The steps of a call, and the configurations of the fleets they go to. A write of a single step is
// left to that fleet's client. Each function returns the first error.
struct StepChecks {
  std::span<const WriteStep> steps;
  const ClusterConfig& from;
  const ClusterConfig& to;

  std::optional<Error> of_set(std::string_view key, std::string_view value,
                              const SetOptions& options, Now now) const;
  std::optional<Error> of_remove(std::string_view key) const;
};

}  // namespace sheaf::migration
