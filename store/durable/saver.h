#pragma once

// Keeps an engine and its file consistent: loads the engine from the file, commits changes when the
// plan says so, and freezes the engine while the file cannot be written. Its host asks it if
// results may be sent.
//
// Thread rule: that of the engine.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/durable/commit_plan.h"
#include "store/durable/file_time.h"
#include "store/durable/store_file.h"
#include "store/engine/engine.h"

namespace sheaf::store {

class Saver {
 public:
  using Done = StoreFile::Done;

  // Loads the file into the engine, which has executed nothing yet and must outlive the saver.
  // `interval` 0: durability=acknowledged. `boot` names the boot that `now.mono` counts from.
  static std::expected<std::unique_ptr<Saver>, std::string> start(
      std::unique_ptr<StoreFile> file, Engine& engine, std::chrono::milliseconds interval, Now now,
      std::string_view boot);
  // Commits what is left.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Call it after requests and ticks: commits if that is due. `more`: further requests are ready
  // and will be executed in a moment. Returns true if the results since the last call may be sent
  // now. Results held back before that may then be sent too, unless the store is frozen.
  bool settle(Now now, bool more);
  // When to call settle() at the latest; nothing if everything is in the file.
  std::optional<Deadline> next() const { return plan_.next(); }
  // The file cannot be written. Executed changes wait for a later commit.
  bool frozen() const { return journal_.frozen(); }

  std::uint64_t commits() const { return commits_; }
  // Why the store is read-only, in one sentence; empty if it is not.
  const std::string& trouble() const { return trouble_; }

 private:
  Saver(std::unique_ptr<StoreFile> file, Engine& engine, std::chrono::milliseconds interval,
        FileTime time);
  bool commit(Now now);
  Done write_all(const FileHeader& header);

  std::unique_ptr<StoreFile> file_;
  Journal& journal_;
  FileTime time_;
  CommitPlan plan_;
  Now last_;
  std::uint64_t commits_ = 0;
  std::string trouble_;
};

// The saver of engine `index` with these options; null if they name no file. The first engine uses
// the file `data`, the others append their number: data.1, data.2, ...
std::expected<std::unique_ptr<Saver>, std::string> open_saver(const EngineOptions& options,
                                                              unsigned index, Engine& engine,
                                                              Now now);

}  // namespace sheaf::store
