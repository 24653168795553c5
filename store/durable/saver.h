#pragma once

// Keeps an engine and its file consistent: loads the engine from the file, commits changes when the
// plan says so, and freezes the engine while the file cannot be written. Its host asks it if
// results may be sent.
//
// A host may commit on the thread that executes, with settle(). Or another thread commits, so that
// the engine continues meanwhile; it repeats, under the engine's lock except for write():
//
//   if (saver.due(now)) { saver.begin(now); saver.write(); saver.finish(now); }
//
// Thread rule: that of the engine. write() may run while the engine is used, but belongs between
// begin() and finish().

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/histogram.h"
#include "store/durable/change_batch.h"
#include "store/durable/commit_plan.h"
#include "store/durable/file_time.h"
#include "store/durable/store_file.h"
#include "store/engine/engine.h"

namespace sheaf::store {

class Saver final : public FileReport {
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

  // With another thread that commits. note(): call it after requests and ticks.
  void note(Now now);
  // True if results that were not released by a commit may be sent.
  bool may_tell() const { return plan_.may_tell(journal_.clock()); }
  bool due(Now now) const;
  // Takes what is unsaved. Results up to now may be sent after a finish() that returns true.
  void begin(Now now);
  // Writes it to the file and waits for the disk. It touches nothing of the engine.
  void write();
  // False: the file could not be written, and the store is frozen.
  bool finish(Now now);

  // The file cannot be written. Executed changes wait for a later commit.
  bool frozen() const { return journal_.frozen(); }

  std::uint64_t commits() const { return commit_times_.count(); }
  FileNumbers numbers() const override;
  // Why the store is read-only, in one sentence; empty if it is not.
  const std::string& trouble() const { return trouble_; }

 private:
  Saver(std::unique_ptr<StoreFile> file, Engine& engine, std::chrono::milliseconds interval,
        FileTime time);
  bool commit(Now now);

  std::unique_ptr<StoreFile> file_;
  Journal& journal_;
  FileTime time_;
  CommitPlan plan_;
  Now last_;
  // The commit under way.
  struct Commit {
    bool begun = false;
    ChangeBatch changes;
    FileHeader header;
    CommitPlan::Timestamp promised;
    Deadline at{};
    std::chrono::nanoseconds took{};
    std::uint64_t bytes = 0;
    Done done;
  };
  Commit commit_;
  Histogram commit_times_;
  std::uint64_t failed_ = 0;
  std::uint64_t bytes_ = 0;
  std::string trouble_;
};

// The saver of engine `index` with these options; null if they name no file. The first engine uses
// the file `data`, the others append their number: data.1, data.2, ...
std::expected<std::unique_ptr<Saver>, std::string> open_saver(const EngineOptions& options,
                                                              unsigned index, Engine& engine,
                                                              Now now);

}  // namespace sheaf::store
