#include "cli/line/migrate_words.h"

#include <array>
#include <utility>

#include "cli/line/option_reader.h"

namespace sheaf::cli {
namespace {

using std::chrono::milliseconds;

// The stages at which a run may end. A run back ends in `before` or on the way there.
constexpr std::array forward_ends{MigrationStage::mirror, MigrationStage::switched,
                                  MigrationStage::drain, MigrationStage::closing,
                                  MigrationStage::after};
constexpr std::array back_ends{MigrationStage::drain, MigrationStage::switched,
                               MigrationStage::restore, MigrationStage::mirror,
                               MigrationStage::before};

std::expected<MigrationStage, std::string> read_end(const std::string& name, bool back) {
  std::string names;
  for (const MigrationStage stage : back ? back_ends : forward_ends) {
    if (name == to_string(stage)) return stage;
    names.append(names.empty() ? "" : ", ").append(to_string(stage));
  }
  return std::unexpected(is_not(back ? "--until with --back" : "--until", name) +
                         "one of: " + names + ".");
}

}  // namespace

std::expected<MigrateWords, std::string> read_migrate_words(const ParsedLine& line) {
  MigrateWords migrate;
  for (const auto& [option, value, what] :
       {std::tuple("--from", &migrate.from, "the URI of the servers that have the cache now"),
        {"--to", &migrate.to, "the URI of the servers that take over the cache"},
        {"--state", &migrate.state, "the file from which all programs read the stage"}}) {
    *value = line.value(option);
    if (value->empty())
      return std::unexpected(std::string("migrate needs ") + option + ": " + what + ".");
  }
  migrate.back = line.has("--back");
  migrate.empty_to = line.has("--empty-to");
  if (line.has("--until")) {
    const auto end = read_end(line.value("--until"), migrate.back);
    if (!end) return std::unexpected(end.error());
    migrate.until = *end;
  }
  OptionReader reader(line);
  reader.text("--keys", "a FILE", migrate.keys);
  reader.text("--stale", "a FILE", migrate.stale);
  reader.time("--settle", milliseconds(100), std::chrono::hours(1), migrate.settle);
  reader.number("--callers", 1, 256, migrate.callers);
  return reader.take(migrate);
}

}  // namespace sheaf::cli
