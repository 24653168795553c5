#pragma once

// The words of `migrate`.
//
// Thread rule: pure functions and plain values.

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include <sheaf/migration.h>

#include "cli/line/parser.h"

namespace sheaf::cli {

struct MigrateWords {
  std::string from;                          // --from URI
  std::string to;                            // --to URI
  std::string state;                         // --state FILE
  std::optional<MigrationStage> until;       // --until STAGE; nothing: to the end
  bool back = false;                         // --back
  bool empty_to = false;                     // --empty-to
  std::string keys;                          // --keys FILE; empty: ask the servers
  std::string stale;                         // --stale FILE; empty: no file
  std::chrono::milliseconds settle{10'000};  // --settle: 100ms .. 1h
  std::uint32_t callers = 8;                 // --callers: 1 .. 256 threads that copy
};

// An error is one sentence.
std::expected<MigrateWords, std::string> read_migrate_words(const ParsedLine& line);

}  // namespace sheaf::cli
