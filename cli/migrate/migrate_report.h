#pragma once

// What `migrate` tells of its way, as sentences or as JSON.
//
// Thread rule: one thread.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sheaf/migration.h>

#include "cli/migrate/carrier.h"
#include "cli/migrate/fleets.h"
#include "cli/system/output.h"

namespace sheaf::cli {

class MigrateReport {
 public:
  MigrateReport(Output& out, bool json) : out_(out), json_(json) {}

  // The file names this stage now; or it did when the program began.
  void stage(MigrationStage stage, bool resumed, std::chrono::milliseconds settle);
  // `pass`: "copy", "check", "move", "copy back", "check back", "empty".
  void pass(MigrationStage stage, std::string_view pass, const PassCounts& counts);
  // Nothing: the servers did not tell.
  void reads(MigrationStage stage, const std::optional<StageReads>& reads);
  // A copy that was not the present value, and is removed.
  void stale(std::string_view key);
  void end(MigrationStage stage, bool complete);

 private:
  void line(const std::string& text);

  Output& out_;
  const bool json_;
};

}  // namespace sheaf::cli
