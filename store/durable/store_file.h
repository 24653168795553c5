#pragma once

// What keeps a store over restarts: its rows and a header, changed in transactions. The seam
// between the store and SQLite; tests have one in memory that fails when they want.
//
// Moments (`Change::until`) are those of the file's time line (file_time.h).
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
  // No version was told that is later than this one.
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
  // The next row, of kind put or keep_fence, the latter in the order of `until`; false after the
  // last. The views live until the next call.
  virtual std::expected<bool, std::string> read(Change& out) = 0;

  // Adds to the transaction, and begins one if there is none.
  virtual Done write(const Change& change) = 0;
  // All that was written, and the header, or nothing: once it returns without an error, both
  // survive the loss of power. After an error nobody knows until discard() and another commit.
  virtual Done commit(const FileHeader& header) = 0;
  virtual void discard() = 0;
};

}  // namespace sheaf::store
