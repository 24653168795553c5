#include "cli/migrate/migrate_report.h"

#include <cstdio>

#include "base/text.h"
#include "cli/show/json_lines.h"
#include "cli/system/progress.h"

namespace sheaf::cli {
namespace {

// What programs do in a stage.
std::string_view meaning(MigrationStage stage) noexcept {
  switch (stage) {
    case MigrationStage::before:
      return "only the old servers are used";
    case MigrationStage::mirror:
      return "reads from the old servers; writes remove the copy in the new ones";
    case MigrationStage::switched:
      return "reads from the new servers, then the old ones; writes as before";
    case MigrationStage::drain:
      return "reads from the new servers, then the old ones; writes to the new ones";
    case MigrationStage::closing:
      return "reads from the new servers alone; writes as before";
    case MigrationStage::restore:
      return "on the way back: writes to the old servers, copies to them";
    case MigrationStage::after:
      break;
  }
  return "only the new servers are used";
}

std::string padded(MigrationStage stage) {
  std::string text(to_string(stage));
  return text.append(10 - text.size(), ' ');
}

void add_count(std::string& text, std::uint64_t count, std::string_view what) {
  if (count == 0) return;
  text.append(", ").append(with_commas(count)).append(1, ' ').append(what);
}

std::string per_cent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

}  // namespace

// The reader of a pipe sees it at once.
void MigrateReport::line(const std::string& text) {
  out_.line(text);
  out_.flush();
}

void MigrateReport::stage(MigrationStage stage, bool resumed, std::chrono::milliseconds settle) {
  if (json_) return line(json_migration_stage(to_string(stage), resumed));
  std::string text = padded(stage) + (resumed ? "continues: " : "") + std::string(meaning(stage));
  text += "; programs follow within " + format_duration(settle);
  line(text);
}

void MigrateReport::pass(MigrationStage stage, std::string_view pass, const PassCounts& counts) {
  if (json_) return line(json_migration_pass(to_string(stage), pass, counts));
  std::string text = padded(stage) + std::string(pass) + ": " + with_commas(counts.keys()) +
                     " keys in " + format_elapsed(counts.elapsed);
  add_count(text, counts.of(KeyEnd::copied), "copied");
  add_count(text, counts.of(KeyEnd::kept), "were there");
  add_count(text, counts.of(KeyEnd::absent), "were gone");
  add_count(text, counts.of(KeyEnd::overtaken), "were being written");
  add_count(text, counts.of(KeyEnd::right), "right");
  add_count(text, counts.of(KeyEnd::stale), "stale and removed");
  add_count(text, counts.of(KeyEnd::too_large),
            stage == MigrationStage::drain ? "too large for the servers and removed"
                                           : "too large for the servers and left out");
  add_count(text, counts.refused, "refused");
  add_count(text, counts.failed, "failed");
  add_count(text, counts.elsewhere,
            "left alone on servers where they do not belong (if programs find them there, the URI "
            "lacks their locator, slots or ring)");
  if (!counts.first_error.empty()) text += "; the first error: " + counts.first_error;
  line(text);
}

void MigrateReport::reads(MigrationStage stage, const std::optional<StageReads>& reads) {
  if (json_) return line(json_migration_reads(to_string(stage), reads));
  std::string text = padded(stage);
  if (!reads) {
    text += "hit rate: unknown, because a server did not report it or was restarted";
  } else if (reads->gets == 0) {
    text += "hit rate: no program has read anything";
  } else {
    text += "hit rate: " +
            per_cent(static_cast<double>(reads->hits) / static_cast<double>(reads->gets)) + " of " +
            with_commas(reads->gets) + " reads";
  }
  line(text);
}

void MigrateReport::stale(std::string_view key) {
  if (json_) out_.line(json_migration_stale(key));
}

void MigrateReport::end(MigrationStage stage, bool complete) {
  if (json_) return;
  if (!complete) {
    return line("It stops in the stage " + std::string(to_string(stage)) +
                ". The same command continues; with --back it goes back.");
  }
  line(stage == MigrationStage::after
           ? "The cache has moved. Let the programs use the new servers alone before you remove "
             "the file."
           : "Everything is as it was before; the new servers keep copies that no program reads.");
}

}  // namespace sheaf::cli
