#pragma once

// MigrationRun: leads programs from stage to stage through the file that they read, and moves the
// values in between. It can be killed at any time: another run continues from the file, or goes
// back.
//
// Thread rule: one thread.

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include <sheaf/migration.h>

#include "base/descriptor.h"
#include "cli/line/migrate_words.h"
#include "cli/migrate/carrier.h"
#include "cli/migrate/fleets.h"
#include "cli/migrate/migrate_report.h"
#include "cli/system/exit_code.h"

namespace sheaf::cli {

class MigrationRun {
 public:
  MigrationRun(const MigrateWords& arguments, Fleet from, Fleet to, Output& out, bool json);

  // `now`: the contents of the file.
  ExitCode run(const Migration& now);

 private:
  // A step that ends the run. The sentence is for standard error; empty if the user ended the run.
  struct Stop {
    ExitCode code;
    std::string sentence;
  };
  using Step = std::expected<void, Stop>;

  Step finish_stage();
  Step enter(MigrationStage stage);
  Step settle();
  Step require_empty_target();
  Step list(Fleet& fleet);
  // Passes the keys of --keys to `take` until that returns false.
  Step read_keys(const std::function<bool(std::string_view key)>& take) const;
  Step require_keys() const;
  Step pass(const char* name, const Carrier::Act& act);
  Step empty_source();
  bool at_end() const noexcept;
  ExitCode stopped(const Stop& stop);
  void take_counts();
  void report_reads();

  const MigrateWords& arguments_;
  Fleet from_;
  Fleet to_;
  MigrateReport report_;
  Carrier carrier_;
  KeySpool keys_;
  std::uint64_t elsewhere_ = 0;  // in the last list
  Migration migration_;
  std::optional<FleetCounts> from_counts_;
  std::optional<FleetCounts> to_counts_;
  OwnedFile stale_;
};

}  // namespace sheaf::cli
