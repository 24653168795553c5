#include "store/durable/sqlite_file.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <utility>

#include "store/durable/row_sum.h"

namespace sheaf::store {
namespace {

constinit std::atomic<unsigned> sqlite_uses = 0;
// True in a child of a process that had some.
constinit std::atomic<bool> inherited = false;
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
  if (sqlite_uses > 0) inherited = true;
});

using protocol::statestore::Timestamp;

// `until` is in nanoseconds of the file's time line, null for never. Numbers from 2^63 on are
// stored as their two's complement. `sum` is a checksum of the row (row_sum.h).
constexpr const char* tables =
    "CREATE TABLE header (id INTEGER PRIMARY KEY CHECK (id = 1), wall INTEGER NOT NULL,"
    " counter INTEGER NOT NULL, time INTEGER NOT NULL, at_mono INTEGER NOT NULL,"
    " at_wall INTEGER NOT NULL, boot BLOB NOT NULL, sum INTEGER NOT NULL);"
    "CREATE TABLE records (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL,"
    " wall INTEGER NOT NULL, counter INTEGER NOT NULL, fence_wall INTEGER, fence_counter INTEGER,"
    " fence_node BLOB, until INTEGER, sum INTEGER NOT NULL, owner BLOB) WITHOUT ROWID;"
    "CREATE TABLE fences (key BLOB PRIMARY KEY NOT NULL, fence_wall INTEGER NOT NULL,"
    " fence_counter INTEGER NOT NULL, fence_node BLOB NOT NULL, until INTEGER NOT NULL,"
    " sum INTEGER NOT NULL) WITHOUT ROWID;";

// Version 2 added the owner. A file of version 1 is upgraded when it is opened.
constexpr const char* from_version_1 =
    "BEGIN IMMEDIATE; ALTER TABLE records ADD COLUMN owner BLOB; PRAGMA user_version=2; COMMIT;";

std::int64_t stored(std::uint64_t number) noexcept { return std::bit_cast<std::int64_t>(number); }
std::uint64_t loaded(std::int64_t number) noexcept { return std::bit_cast<std::uint64_t>(number); }

void bind(sqlite3_stmt* statement, int at, std::uint64_t number) noexcept {
  sqlite3_bind_int64(statement, at, stored(number));
}

// The bytes live until the statement has run.
void bind(sqlite3_stmt* statement, int at, std::string_view bytes) noexcept {
  // A null pointer would be bound as NULL.
  const char* const data = bytes.empty() ? "" : bytes.data();
  sqlite3_bind_blob64(statement, at, data, bytes.size(), SQLITE_STATIC);
}

void bind_moment(sqlite3_stmt* statement, int at, Deadline moment) noexcept {
  if (moment == never) {
    sqlite3_bind_null(statement, at);
  } else {
    sqlite3_bind_int64(statement, at, moment.count());
  }
}

std::uint64_t number_at(sqlite3_stmt* statement, int column) noexcept {
  return loaded(sqlite3_column_int64(statement, column));
}

std::string_view bytes_at(sqlite3_stmt* statement, int column) noexcept {
  const void* const data = sqlite3_column_blob(statement, column);
  const int size = sqlite3_column_bytes(statement, column);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

Deadline moment_at(sqlite3_stmt* statement, int column) noexcept {
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) return never;
  return Deadline(sqlite3_column_int64(statement, column));
}

Timestamp timestamp_at(sqlite3_stmt* statement, int column) noexcept {
  return {number_at(statement, column), number_at(statement, column + 1),
          bytes_at(statement, column + 2)};
}

}  // namespace

SqliteUse::SqliteUse() { ++sqlite_uses; }

SqliteUse::~SqliteUse() { --sqlite_uses; }

bool SqliteUse::possible() noexcept { return !inherited; }

// Opening ----------------------------------------------------------------------------------------

SqliteFile::SqliteFile(std::string path, Database database)
    : path_(std::move(path)), owner_(getpid()), database_(std::move(database)) {}

// In a forked child nothing is closed, because SQLite would clean up the parent's log.
SqliteFile::~SqliteFile() {
  if (getpid() == owner_) return;
  for (Statement* statement :
       {&put_, &remove_, &keep_fence_, &forget_fence_, &set_header_, &all_records_, &all_fences_}) {
    (void)statement->release();
  }
  (void)database_.release();
}

std::expected<SqliteFile::Database, std::string> SqliteFile::connect(const std::string& path,
                                                                     const char* vfs) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
  Database database(opened);
  if (opened == nullptr) return std::unexpected(path + ": out of memory");
  if (code != SQLITE_OK) return SqliteFile(path, std::move(database)).failure("cannot be opened");
  return database;
}

SqliteFile::Done SqliteFile::fill(const std::string& path, const char* vfs) {
  const SqliteUse use;
  auto database = connect(path, vfs);
  if (!database) return std::unexpected(database.error());
  SqliteFile file(path, std::move(*database));
  const std::string numbers = "PRAGMA application_id=" + std::to_string(application_id) +
                              ";PRAGMA user_version=" + std::to_string(newest_schema) + ";";
  // EXTRA, not FULL: the removal of the rollback journal is synchronised, too.
  Done done = file.run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=EXTRA; BEGIN IMMEDIATE;");
  if (done) done = file.run(numbers.c_str());
  if (done) done = file.run(tables);
  if (!done) return done;
  auto statement = file.prepare("INSERT INTO header VALUES (1, ?, ?, ?, ?, ?, ?, ?)");
  if (!statement) return std::unexpected(statement.error());
  file.set_header_ = std::move(*statement);
  file.writing_ = true;
  done = file.commit({});
  file.set_header_.reset();
  // Configured now, not on opening, so that there is never a rollback journal next to the final
  // file.
  return done ? file.configure() : done;
}

std::expected<std::unique_ptr<SqliteFile>, std::string> SqliteFile::open(const std::string& path,
                                                                         const char* vfs) {
  const SqliteUse use;
  auto database = connect(path, vfs);
  if (!database) return std::unexpected(database.error());
  std::unique_ptr<SqliteFile> file(new SqliteFile(path, std::move(*database)));
  Done done = file->run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA cell_size_check=ON;");
  if (done) done = file->check_schema();
  if (done) done = file->check_pages();
  if (done) done = file->configure();
  if (done) done = file->upgrade();
  if (done) done = file->prepare_all();
  if (!done) return std::unexpected(done.error());
  return file;
}

SqliteFile::Done SqliteFile::check_schema() {
  const auto application = number("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  if (*application != application_id) {
    return std::unexpected(path_ + " is not the file of a sheaf store");
  }
  const auto version = number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  if (*version > newest_schema) {
    return std::unexpected(path_ + " has version " + std::to_string(*version) +
                           ", and this sheaf reads files up to version " +
                           std::to_string(newest_schema));
  }
  if (*version < 1) return damaged("it has no version");
  return {};
}

SqliteFile::Done SqliteFile::check_pages() {
  auto check = prepare("PRAGMA quick_check(1)");
  if (!check) return std::unexpected(check.error());
  if (sqlite3_step(check->get()) != SQLITE_ROW) return failure("cannot be read");
  const std::string_view found = bytes_at(check->get(), 0);
  return found == "ok" ? Done() : damaged(found);
}

SqliteFile::Done SqliteFile::configure() {
  auto mode = prepare("PRAGMA journal_mode=WAL");
  if (!mode) return std::unexpected(mode.error());
  if (sqlite3_step(mode->get()) != SQLITE_ROW) return failure("cannot be written");
  if (bytes_at(mode->get(), 0) != "wal") {
    return std::unexpected(path_ + " cannot have a write-ahead log on this file system");
  }
  mode->reset();
  return run("PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216;");
}

SqliteFile::Done SqliteFile::upgrade() {
  const auto version = number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  return *version == 1 ? run(from_version_1) : Done();
}

SqliteFile::Done SqliteFile::prepare_all() {
  const std::pair<Statement*, const char*> all[] = {
      {&put_, "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&remove_, "DELETE FROM records WHERE key = ?"},
      {&keep_fence_, "INSERT OR REPLACE INTO fences VALUES (?, ?, ?, ?, ?, ?)"},
      {&forget_fence_, "DELETE FROM fences WHERE key = ?"},
      {&set_header_, "INSERT OR REPLACE INTO header VALUES (1, ?, ?, ?, ?, ?, ?, ?)"},
      {&all_records_, "SELECT * FROM records"},
      {&all_fences_, "SELECT * FROM fences ORDER BY until"}};
  for (const auto& [statement, sql] : all) {
    auto prepared = prepare(sql);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

// Reading ----------------------------------------------------------------------------------------

std::expected<FileHeader, std::string> SqliteFile::read_header() {
  auto select =
      prepare("SELECT wall, counter, time, at_mono, at_wall, boot, sum FROM header WHERE id = 1");
  if (!select) return std::unexpected(select.error());
  sqlite3_stmt* const row = select->get();
  const int code = sqlite3_step(row);
  if (code == SQLITE_DONE) return damaged("its header is missing");
  if (code != SQLITE_ROW) return failure("cannot be read");
  FileHeader header;
  header.wall = number_at(row, 0);
  header.counter = number_at(row, 1);
  header.mark.time = Deadline(sqlite3_column_int64(row, 2));
  header.mark.now.mono = Deadline(sqlite3_column_int64(row, 3));
  header.mark.now.wall = std::chrono::milliseconds(sqlite3_column_int64(row, 4));
  header.mark.boot = bytes_at(row, 5);
  if (number_at(row, 6) != sum_of(header)) return damaged("its header has a wrong checksum");
  return header;
}

std::expected<bool, std::string> SqliteFile::read(Change& out) {
  const auto more = read_record(out);
  return !more || *more ? more : read_fence(out);
}

std::expected<bool, std::string> SqliteFile::read_record(Change& out) {
  if (all_records_ == nullptr) return false;
  sqlite3_stmt* const row = all_records_.get();
  const int code = sqlite3_step(row);
  if (code == SQLITE_DONE) {
    all_records_.reset();
    return false;
  }
  if (code != SQLITE_ROW) return failure("cannot be read");
  out = {.kind = Change::Kind::put,
         .key = bytes_at(row, 0),
         .value = bytes_at(row, 1),
         .owner = bytes_at(row, 9),
         .version = {number_at(row, 2), number_at(row, 3)},
         .fence = {},
         .until = moment_at(row, 7)};
  if (sqlite3_column_type(row, 4) != SQLITE_NULL) out.fence = timestamp_at(row, 4);
  if (number_at(row, 8) != sum_of(out)) return damaged("a key's row has a wrong checksum");
  return true;
}

std::expected<bool, std::string> SqliteFile::read_fence(Change& out) {
  if (all_fences_ == nullptr) return false;
  sqlite3_stmt* const row = all_fences_.get();
  const int code = sqlite3_step(row);
  if (code == SQLITE_DONE) {
    all_fences_.reset();
    return false;
  }
  if (code != SQLITE_ROW) return failure("cannot be read");
  out = {.kind = Change::Kind::keep_fence,
         .key = bytes_at(row, 0),
         .fence = timestamp_at(row, 1),
         .until = moment_at(row, 4)};
  if (number_at(row, 5) != sum_of(out)) return damaged("a fence's row has a wrong checksum");
  return true;
}

// Writing ----------------------------------------------------------------------------------------

SqliteFile::Done SqliteFile::write(const Change& change) {
  if (Done begun = begin(); !begun) return begun;
  using Kind = Change::Kind;
  sqlite3_stmt* statement = nullptr;
  if (change.kind == Kind::remove || change.kind == Kind::forget_fence) {
    statement = (change.kind == Kind::remove ? remove_ : forget_fence_).get();
    bind(statement, 1, change.key);
    return finish(statement);
  }
  const bool record = change.kind == Kind::put;
  statement = (record ? put_ : keep_fence_).get();
  int at = 0;
  bind(statement, ++at, change.key);
  if (record) {
    bind(statement, ++at, change.value);
    bind(statement, ++at, change.version.wall);
    bind(statement, ++at, change.version.counter);
  }
  if (change.fence) {
    bind(statement, ++at, change.fence->wall);
    bind(statement, ++at, change.fence->counter);
    bind(statement, ++at, change.fence->node);
  } else {
    for (int column = 0; column < 3; ++column) sqlite3_bind_null(statement, ++at);
  }
  bind_moment(statement, ++at, change.until);
  bind(statement, ++at, sum_of(change));
  if (record && !change.owner.empty()) bind(statement, ++at, change.owner);
  return finish(statement);
}

// With the write-ahead log, which has the latest commits.
std::uint64_t SqliteFile::bytes() const {
  std::uint64_t sum = 0;
  for (const std::string& path : {path_, path_ + "-wal"}) {
    struct stat state{};
    if (stat(path.c_str(), &state) == 0) sum += static_cast<std::uint64_t>(state.st_size);
  }
  return sum;
}

SqliteFile::Done SqliteFile::commit(const FileHeader& header) {
  if (Done begun = begin(); !begun) return begun;
  sqlite3_stmt* const statement = set_header_.get();
  bind(statement, 1, header.wall);
  bind(statement, 2, header.counter);
  sqlite3_bind_int64(statement, 3, header.mark.time.count());
  sqlite3_bind_int64(statement, 4, header.mark.now.mono.count());
  sqlite3_bind_int64(statement, 5, header.mark.now.wall.count());
  bind(statement, 6, std::string_view(header.mark.boot));
  bind(statement, 7, sum_of(header));
  if (Done written = finish(statement); !written) return written;
  if (Done there = check_not_moved(); !there) return there;
  if (Done committed = run("COMMIT"); !committed) return committed;
  writing_ = false;
  return {};
}

void SqliteFile::discard() {
  if (getpid() != owner_) return;
  writing_ = false;
  // Some errors have already ended the transaction.
  if (sqlite3_get_autocommit(database_.get()) == 0) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

SqliteFile::Done SqliteFile::begin() {
  if (writing_) return {};
  if (getpid() != owner_)
    return std::unexpected(path_ + " can be written only by the process that opened it");
  if (Done begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  writing_ = true;
  return {};
}

// Fails if the file was removed or replaced: the next start would not find it.
SqliteFile::Done SqliteFile::check_not_moved() {
  int moved = 0;
  const int code = sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (code != SQLITE_OK || moved == 0) return {};
  return std::unexpected(path_ + " was removed, or another file is in its place");
}

// Statements -------------------------------------------------------------------------------------

std::expected<SqliteFile::Statement, std::string> SqliteFile::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return failure("cannot be read");
  return Statement(statement);
}

std::expected<std::int64_t, std::string> SqliteFile::number(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  if (sqlite3_step(statement->get()) != SQLITE_ROW) return failure("cannot be read");
  return sqlite3_column_int64(statement->get(), 0);
}

SqliteFile::Done SqliteFile::run(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return failure("cannot be written");
}

SqliteFile::Done SqliteFile::finish(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  const Done done = code == SQLITE_DONE ? Done() : failure("cannot be written");
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return done;
}

std::unexpected<std::string> SqliteFile::failure(const char* doing) const {
  switch (sqlite3_errcode(database_.get()) & 0xff) {
    case SQLITE_BUSY:
      return std::unexpected(path_ + " is in use by another store");
    case SQLITE_NOTADB:
      return std::unexpected(path_ + " is not the file of a sheaf store");
    case SQLITE_CORRUPT:
      return damaged(sqlite3_errmsg(database_.get()));
    default:
      return std::unexpected(path_ + " " + doing + ": " + sqlite3_errmsg(database_.get()));
  }
}

std::unexpected<std::string> SqliteFile::damaged(std::string_view what) const {
  return std::unexpected(path_ + " is damaged; restore a copy of it: " + std::string(what));
}

}  // namespace sheaf::store
