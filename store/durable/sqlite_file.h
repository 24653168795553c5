#pragma once

// A store's file in SQLite 3, with a write-ahead log. Each commit is synchronised with the disk
// (synchronous=FULL), and the file is locked for this process. docs/durability.md describes it.
//
// After a fork the child must not touch the file: its memory says that it holds the lock, but it
// does not. It must not use SQLite at all if its parent had a file open, because SQLite's mutexes
// may be locked forever.
//
// Thread rule: one thread at a time.

#include <sqlite3.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "store/durable/store_file.h"

namespace sheaf::store {

// Lives while this process uses SQLite. Any thread.
class SqliteUse {
 public:
  SqliteUse();
  ~SqliteUse();
  SqliteUse(const SqliteUse&) = delete;
  SqliteUse& operator=(const SqliteUse&) = delete;

  // False in a child of a process that used SQLite when it forked.
  static bool possible() noexcept;
};

class SqliteFile final : public StoreFile {
 public:
  static constexpr std::int32_t application_id = 0x53686566;  // "Shef"
  static constexpr std::int32_t newest_schema = 2;

  // Creates the tables in an empty file.
  static Done fill(const std::string& path, const char* vfs = nullptr);
  ~SqliteFile() override;
  // `vfs` is SQLite's name of a file system; null: the default.
  static std::expected<std::unique_ptr<SqliteFile>, std::string> open(const std::string& path,
                                                                      const char* vfs = nullptr);

  std::expected<FileHeader, std::string> read_header() override;
  std::expected<bool, std::string> read(Change& out) override;
  Done write(const Change& change) override;
  Done commit(const FileHeader& header) override;
  void discard() override;
  std::uint64_t bytes() const override;

 private:
  struct Closed {
    void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  using Database = std::unique_ptr<sqlite3, Closed>;
  using Statement = std::unique_ptr<sqlite3_stmt, Closed>;

  SqliteFile(std::string path, Database database);
  static std::expected<Database, std::string> connect(const std::string& path, const char* vfs);

  Done check_schema();
  Done check_pages();
  Done configure();
  Done upgrade();
  Done prepare_all();
  std::expected<Statement, std::string> prepare(const char* sql);
  std::expected<std::int64_t, std::string> number(const char* sql);
  Done run(const char* sql);
  // Executes a statement that returns no row, and resets it for the next use.
  Done finish(sqlite3_stmt* statement);
  Done begin();
  Done check_not_moved();
  // One sentence with the error that the database reports.
  std::unexpected<std::string> failure(const char* doing) const;
  std::unexpected<std::string> damaged(std::string_view what) const;
  std::expected<bool, std::string> read_record(Change& out);
  std::expected<bool, std::string> read_fence(Change& out);

  SqliteUse use_;
  std::string path_;
  pid_t owner_;
  Database database_;
  Statement put_;
  Statement remove_;
  Statement keep_fence_;
  Statement forget_fence_;
  Statement set_header_;
  Statement all_records_;  // while loading
  Statement all_fences_;
  bool writing_ = false;
};

}  // namespace sheaf::store
