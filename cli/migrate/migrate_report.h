#pragma once

// How `migrate` reports its progress, as sentences or as JSON.
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

  // The file now names this stage; `resumed`: it already did when the program began.
  void stage(MigrationStage stage, bool resumed, std::chrono::milliseconds settle);
  // `pass`: "copy", "check", "move", "copy back", "check back", "empty".
  void pass(MigrationStage stage, std::string_view pass, const PassCounts& counts);
  // Nothing: the servers did not report it.
  void reads(MigrationStage stage, const std::optional<StageReads>& reads);
  // A copy that was not the present value, and was removed.
  void stale(std::string_view key);
  void end(MigrationStage stage, bool complete);

 private:
  void line(const std::string& text);

  Output& out_;
  const bool json_;
};

}  // namespace sheaf::cli
