#pragma once

// Keeps an engine and its file together: loads the one from the other, commits what has changed
// when the plan says so, and freezes the engine while the file cannot be written. Its host asks
// whether what was executed may be told.
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

  // Loads the file into the engine, which has executed nothing yet and outlives the saver.
  // `interval` 0: durability=acknowledged. `boot` is the start of the machine that `now.mono`
  // counts from.
  static std::expected<std::unique_ptr<Saver>, std::string> start(
      std::unique_ptr<StoreFile> file, Engine& engine, std::chrono::milliseconds interval, Now now,
      std::string_view boot);
  // Commits what is left.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // After requests and ticks: commits if that is due. `more`: further requests are there and will
  // be executed in a moment. Whether what was executed since the last call may be told now; what
  // was held back before may be told when this is true and the store is not frozen.
  bool settle(Now now, bool more);
  // When settle() has to be called at the latest; none if everything is in the file.
  std::optional<Deadline> next() const { return plan_.next(); }
  // The file cannot be written. What was executed stays to be committed.
  bool frozen() const { return journal_.frozen(); }

  std::uint64_t commits() const { return commits_; }
  // Why the store is read-only, one sentence; empty if it is not.
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

// The saver of engine `index` with these options; null if they name no file. The first engine has
// the file `data`, the others have it with their number: data.1, data.2, ...
std::expected<std::unique_ptr<Saver>, std::string> open_saver(const EngineOptions& options,
                                                              unsigned index, Engine& engine,
                                                              Now now);

}  // namespace sheaf::store
