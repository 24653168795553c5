// The file itself: what is written is read back, and a faulty file is reported in one sentence at
// the start.

#include "store/durable/sqlite_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "store/durable/file_place.h"
#include "store/durable/saver.h"
#include "tests/store/engine/store_fixture.h"
#include "tests/support/saved_image.h"

namespace sheaf::store {
namespace {

using test::SavedImage;
using testing::EndsWith;
using testing::HasSubstr;

class SqliteFiles : public testing::Test {
 protected:
  SqliteFiles() {
    std::string name = testing::TempDir() + "sheaf-file-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/store";
  }
  ~SqliteFiles() override { std::filesystem::remove_all(folder_); }

  EngineOptions options() const {
    EngineOptions made;
    made.data = path_;
    return made;
  }

  // A store with this file, or the sentence that refuses it.
  struct Opened {
    std::unique_ptr<Store> store;
    std::unique_ptr<Saver> saver;
    std::string error;
  };
  Opened open(unsigned index = 0) const {
    Opened opened{std::make_unique<Store>(options()), nullptr, {}};
    auto saver = open_saver(options(), index, opened.store->engine, opened.store->now);
    if (saver) {
      opened.saver = std::move(*saver);
    } else {
      opened.error = saver.error();
    }
    return opened;
  }
  // A file with one key.
  void make() const {
    Opened opened = open();
    ASSERT_EQ(opened.error, "");
    opened.store->ask({"SET", "key", std::string(5000, 'v')});
    opened.saver->settle(opened.store->now, false);
  }
  void sql(const std::string& statements) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  void overwrite(std::streamoff at, const std::string& bytes) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << bytes;
    ASSERT_TRUE(file.good());
  }

  std::string folder_;
  std::string path_;
};

// All rows and the header of the file at `path`.
SavedImage image_of(const std::string& path) {
  auto file = SqliteFile::open(path);
  SavedImage image;
  if (!file) {
    ADD_FAILURE() << file.error();
    return image;
  }
  const auto header = (*file)->read_header();
  EXPECT_TRUE(header) << header.error();
  image.clock = {header->wall, header->counter};
  Change row;
  for (;;) {
    const auto more = (*file)->read(row);
    if (!more) ADD_FAILURE() << more.error();
    if (!more || !*more) return image;
    image.apply(row);
  }
}

TEST_F(SqliteFiles, EveryKindOfRowIsReadAsItWasWritten) {
  const std::string binary("\0\xff\r\n\0", 5);
  const std::string large(3'000'000, 'L');
  const protocol::statestore::Timestamp token{7, ~0ull, "node:with:colons"};
  const std::vector<Change> rows = {
      {.key = binary, .value = "", .version = {1, 2}},
      {.key = "large", .value = large, .version = {~0ull, ~0ull}, .until = Deadline(5)},
      {.key = "fenced", .value = binary, .version = {3, 4}, .fence = token},
      {.key = "owned", .value = "v", .owner = "ann", .version = {5, 6}},
      {.key = "nameless", .value = "v", .fence = protocol::statestore::Timestamp{1, 2, ""}},
      {.kind = Change::Kind::keep_fence, .key = "gone", .fence = token, .until = Deadline(-9)}};
  SavedImage wanted;
  wanted.clock = {77, 88};
  ASSERT_TRUE(create_file(path_, [](const std::string& path) { return SqliteFile::fill(path); }));
  {
    auto file = SqliteFile::open(path_);
    ASSERT_TRUE(file) << file.error();
    for (const Change& row : rows) {
      wanted.apply(row);
      ASSERT_TRUE((*file)->write(row));
    }
    ASSERT_TRUE((*file)->commit({77, 88, {}}));
  }
  EXPECT_TRUE(image_of(path_) == wanted);
  {
    auto file = SqliteFile::open(path_);
    ASSERT_TRUE(file) << file.error();
    ASSERT_TRUE((*file)->write({.kind = Change::Kind::remove, .key = "large"}));
    ASSERT_TRUE((*file)->write({.kind = Change::Kind::forget_fence, .key = "gone"}));
    ASSERT_TRUE((*file)->commit({77, 89, {}}));
  }
  wanted.records.erase("large");
  wanted.fences.erase("gone");
  wanted.clock = {77, 89};
  EXPECT_TRUE(image_of(path_) == wanted);
}

TEST_F(SqliteFiles, WhatWasDiscardedIsNotThere) {
  make();
  const SavedImage before = image_of(path_);
  auto file = SqliteFile::open(path_);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write({.key = "other", .value = "v"}));
  (*file)->discard();
  ASSERT_TRUE((*file)->commit({before.clock.first, before.clock.second, {}}));
  file->reset();
  EXPECT_TRUE(image_of(path_) == before);
}

TEST_F(SqliteFiles, AStoreGoesOnWithItsFile) {
  make();
  Opened again = open();
  ASSERT_EQ(again.error, "");
  EXPECT_EQ(again.store->ask({"GET", "key"}).payload.size(), 5009u);
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(SqliteFiles, EachEngineHasAFileOfItsOwn) {
  Opened first = open(0);
  Opened second = open(1);
  EXPECT_EQ(first.error + second.error, "");
  EXPECT_TRUE(std::filesystem::exists(path_ + ".1"));
}

TEST_F(SqliteFiles, AFileInUseIsRefused) {
  make();
  Opened first = open();
  EXPECT_EQ(open().error, path_ + " is in use by another store");
  // The refusal has not released the first store's lock.
  EXPECT_EQ(open().error, path_ + " is in use by another store");
  first.saver.reset();
  EXPECT_EQ(open().error, "");
}

TEST_F(SqliteFiles, ANewerFileIsRefusedAndLeftAlone) {
  make();
  sql("PRAGMA user_version=3");
  EXPECT_EQ(open().error, path_ + " has version 3, and this sheaf reads files up to version 2");
  EXPECT_EQ(open().error, path_ + " has version 3, and this sheaf reads files up to version 2");
}

TEST_F(SqliteFiles, AFileOfTheFirstVersionIsReadAndBecomesOneOfThePresentVersion) {
  make();
  const SavedImage before = image_of(path_);
  // The first version had no owners.
  sql("ALTER TABLE records DROP COLUMN owner; PRAGMA user_version=1");
  EXPECT_TRUE(image_of(path_) == before);
  const Change owned{.key = "key2", .value = "v", .owner = "ann"};
  SavedImage wanted = before;
  wanted.apply(owned);
  {
    auto file = SqliteFile::open(path_);
    ASSERT_TRUE(file) << file.error();
    ASSERT_TRUE((*file)->write(owned));
    ASSERT_TRUE((*file)->commit({before.clock.first, before.clock.second, {}}));
  }
  EXPECT_TRUE(image_of(path_) == wanted);
}

TEST_F(SqliteFiles, AnotherProgramsDatabaseIsRefused) {
  sql("CREATE TABLE t (x)");
  chmod(path_.c_str(), 0600);
  EXPECT_EQ(open().error, path_ + " is not the file of a sheaf store");
}

TEST_F(SqliteFiles, AFileThatIsNoDatabaseIsRefused) {
  std::ofstream(path_) << std::string(8192, 'x');
  chmod(path_.c_str(), 0600);
  EXPECT_EQ(open().error, path_ + " is not the file of a sheaf store");
}

TEST_F(SqliteFiles, AnEmptyFileIsRefusedBecauseItMayHaveHeldSomething) {
  std::ofstream(path_).flush();
  chmod(path_.c_str(), 0600);
  EXPECT_THAT(open().error, EndsWith("is empty; a store's file never is, so it was damaged"));
}

TEST_F(SqliteFiles, AFileThatOthersMayWriteIsRefused) {
  make();
  chmod(path_.c_str(), 0620);
  EXPECT_THAT(open().error, EndsWith("is writable by other users; chmod 600 makes it private"));
}

TEST_F(SqliteFiles, AFileOfAnotherUserIsRefused) {
  make();
  if (chown(path_.c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  EXPECT_THAT(open().error, HasSubstr("belongs to user 12345, and the store runs as user "));
}

TEST_F(SqliteFiles, AFolderInItsPlaceIsRefused) {
  std::filesystem::create_directory(path_);
  EXPECT_EQ(open().error, path_ + " is not a regular file");
}

TEST_F(SqliteFiles, AMissingFolderIsNamed) {
  EngineOptions wrong;
  wrong.data = folder_ + "/none/store";
  Store store;
  EXPECT_EQ(open_saver(wrong, 0, store.engine, store.now).error(),
            wrong.data + ".new cannot be made: No such file or directory");
}

TEST_F(SqliteFiles, ATruncatedFileIsRefused) {
  make();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 4096);
  EXPECT_THAT(open().error, HasSubstr(" is damaged; restore a copy of it: "));
}

TEST_F(SqliteFiles, ATornPageIsRefused) {
  make();
  const auto pages = static_cast<std::streamoff>(std::filesystem::file_size(path_)) / 4096;
  ASSERT_GE(pages, 5);
  for (std::streamoff page = 1; page < pages; ++page) {
    SCOPED_TRACE(page);
    std::filesystem::copy_file(path_, path_ + ".good");
    overwrite(page * 4096, std::string(512, '\x5a'));
    EXPECT_THAT(open().error, HasSubstr(" is damaged; restore a copy of it: "));
    std::filesystem::rename(path_ + ".good", path_);
  }
}

TEST_F(SqliteFiles, AFlippedByteOfAValueIsRefused) {
  make();
  std::ifstream in(path_, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::size_t value = bytes.find(std::string(100, 'v'));
  ASSERT_NE(value, std::string::npos);
  overwrite(static_cast<std::streamoff>(value) + 50, "w");
  EXPECT_THAT(open().error, EndsWith("a key's row has a wrong checksum"));
}

TEST_F(SqliteFiles, AChangedHeaderIsRefused) {
  make();
  sql("UPDATE header SET wall = wall - 1");
  EXPECT_THAT(open().error, EndsWith("its header has a wrong checksum"));
  sql("DELETE FROM header");
  EXPECT_THAT(open().error, EndsWith("its header is missing"));
}

TEST_F(SqliteFiles, AFileThatIsTakenAwayMakesTheStoreReadOnly) {
  Opened opened = open();
  std::filesystem::rename(path_, path_ + ".old");
  opened.store->ask({"SET", "key", "value"});
  EXPECT_FALSE(opened.saver->settle(opened.store->now, false));
  EXPECT_EQ(opened.saver->trouble(), path_ + " was removed, or another file is in its place");
  std::filesystem::rename(path_ + ".old", path_);
  opened.store->pass(1s);
  EXPECT_TRUE(opened.saver->settle(opened.store->now, false));
  EXPECT_EQ(opened.saver->trouble(), "");
}

TEST_F(SqliteFiles, AForkedChildLeavesTheFileAlone) {
  Opened opened = open();
  opened.store->ask({"SET", "key", "of the parent"});
  ASSERT_TRUE(opened.saver->settle(opened.store->now, false));
  const pid_t child = fork();
  if (child == 0) {
    opened.store->ask({"SET", "key", "of the child"});
    const bool refused =
        !opened.saver->settle(opened.store->now, false) &&
        opened.saver->trouble() == path_ + " can be written only by the process that opened it";
    opened.saver.reset();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists(path_ + "-wal"));
  opened.store->ask({"SET", "other", "of the parent"});
  ASSERT_TRUE(opened.saver->settle(opened.store->now, false));
  opened.saver.reset();
  const SavedImage image = image_of(path_);
  EXPECT_EQ(image.records.at("key").value, "of the parent");
  EXPECT_EQ(image.records.at("other").value, "of the parent");
}

TEST_F(SqliteFiles, AStartThatWasCutShortIsBegunAgain) {
  std::ofstream(path_ + ".new") << "half a file";
  EXPECT_EQ(open().error, "");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

}  // namespace
}  // namespace sheaf::store
