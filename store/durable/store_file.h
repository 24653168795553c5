#pragma once

// The file of a store: rows and a header, changed in transactions. It is the seam between the store
// and SQLite; tests have one in memory that fails on demand.
//
// Times (`Change::until`) are on the file's time line (file_time.h).
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <string>

#include "store/durable/file_time.h"
#include "store/engine/journal.h"

namespace sheaf::store {

struct FileHeader {
  // No version later than this one was sent.
  std::uint64_t wall = 0;
  std::uint64_t counter = 0;
  FileTime::Mark mark;
};

class StoreFile {
 public:
  // The error is one sentence that names the file.
  using Done = std::expected<void, std::string>;

  StoreFile() = default;
  virtual ~StoreFile() = default;
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  virtual std::expected<FileHeader, std::string> read_header() = 0;
  // The next row, of kind put or keep_fence (the latter in the order of `until`); false after the
  // last. The views live until the next call.
  virtual std::expected<bool, std::string> read(Change& out) = 0;

  // Adds to the current transaction, or starts one.
  virtual Done write(const Change& change) = 0;
  // Commits everything written, and the header, or nothing. After a return without an error both
  // survive a power failure. After an error the state is unknown until discard() and the next
  // commit.
  virtual Done commit(const FileHeader& header) = 0;
  virtual void discard() = 0;

  // What the store takes on the disk.
  virtual std::uint64_t bytes() const = 0;
};

}  // namespace sheaf::store
