// The power fails at every write of a scripted run, also during the recovery of the file. A commit
// that has returned is there afterwards as a whole. A commit that was under way is there as a whole
// or not at all.
//
// SHEAF_CRASH_EVERY=1 tests every write; the suite tests every 5th, each with another seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "store/durable/saver.h"
#include "store/durable/sqlite_file.h"
#include "tests/store/durable/sqlite_crashing_disk.h"
#include "tests/store/engine/store_fixture.h"
#include "tests/support/extent.h"
#include "tests/support/saved_image.h"

namespace sheaf::store {
namespace {

using test::SavedImage;

// Records what each commit would leave.
class SpiedFile final : public StoreFile {
 public:
  SpiedFile(std::unique_ptr<StoreFile> file, std::vector<SavedImage>& images, std::size_t& done)
      : file_(std::move(file)), images_(images), done_(done), next_(images.back()) {}

  std::expected<FileHeader, std::string> read_header() override { return file_->read_header(); }
  std::expected<bool, std::string> read(Change& out) override { return file_->read(out); }
  Done write(const Change& change) override {
    next_.apply(change);
    return file_->write(change);
  }
  Done commit(const FileHeader& header) override {
    next_.clock = {header.wall, header.counter};
    images_.push_back(next_);
    const Done done = file_->commit(header);
    if (done) done_ = images_.size() - 1;
    return done;
  }
  void discard() override { file_->discard(); }
  std::uint64_t bytes() const override { return file_->bytes(); }

 private:
  std::unique_ptr<StoreFile> file_;
  std::vector<SavedImage>& images_;
  std::size_t& done_;
  SavedImage next_;
};

class ScriptedRun {
 public:
  ScriptedRun() {
    disk_.make("store");
    const auto filled = SqliteFile::fill("store", CrashingDisk::vfs_name);
    EXPECT_TRUE(filled) << filled.error();
    images_.emplace_back();
  }

  // The number of disk steps in the whole run.
  std::uint64_t length() {
    const std::uint64_t before = disk_.steps();
    run();
    return disk_.steps() - before;
  }

  void crash_at(std::uint64_t step, Random& random) {
    disk_.crash_after(step);
    run();
    ASSERT_TRUE(disk_.dead());
    disk_.reboot(random);
    if (random.below(2) == 0) {  // once more, during recovery
      disk_.crash_after(1 + random.below(20));
      (void)SqliteFile::open("store", CrashingDisk::vfs_name);
      disk_.reboot(random);
    }
    check();
  }

 private:
  void run() {
    auto file = SqliteFile::open("store", CrashingDisk::vfs_name);
    if (!file) return;
    EngineOptions options;
    options.fence_retention = 60s;
    Store store(options);
    auto saver = Saver::start(std::make_unique<SpiedFile>(std::move(*file), images_, committed_),
                              store.engine, 0ms, store.now, "boot");
    if (!saver) return;
    Random script(7);
    for (int i = 0; i < 80; ++i) {
      store.pass(50ms);
      store.engine.tick(store.now);
      for (std::uint64_t group = 1 + script.below(3); group > 0; --group) request(store, script);
      if (!(*saver)->settle(store.now, false)) break;
    }
  }

  static void request(Store& store, Random& script) {
    const std::string key = "key" + std::to_string(script.below(12));
    if (script.below(5) == 0) {
      store.ask({"DEL", key}, stamp(store.now.wall, 0, "A"));
      return;
    }
    const std::size_t size = script.below(3) == 0 ? 60'000 : 20;
    std::vector<std::string> items = {"SET", key, std::string(size + script.below(100), 'v')};
    if (script.below(3) == 0) items.insert(items.end(), {"PX", "400"});
    if (script.below(2) == 0) {
      store.ask(items, stamp(store.now.wall, 0, "A"));
    } else {
      store.ask(items);
    }
  }

  // The file must hold what the last commit left, or the one that was under way.
  void check() {
    auto file = SqliteFile::open("store", CrashingDisk::vfs_name);
    ASSERT_TRUE(file) << file.error();
    const auto header = (*file)->read_header();
    ASSERT_TRUE(header) << header.error();
    SavedImage found;
    found.clock = {header->wall, header->counter};
    for (Change row;;) {
      const auto more = (*file)->read(row);
      ASSERT_TRUE(more) << more.error();
      if (!*more) break;
      found.apply(row);
    }
    bool known = false;
    for (std::size_t i = committed_; i < images_.size(); ++i) known = known || found == images_[i];
    EXPECT_TRUE(known) << "after " << committed_ << " commits, " << found.records.size()
                       << " keys are there";
  }

  CrashingDisk disk_;
  std::vector<SavedImage> images_;
  std::size_t committed_ = 0;
};

TEST(SqliteCrashes, NoCommitIsLostOrTornAtWhicheverWriteThePowerGoes) {
  const std::uint64_t length = ScriptedRun().length();
  ASSERT_GT(length, 1'000u);
  const std::uint64_t crashes = std::min(length, test::extent_of(length / 5));
  const std::uint64_t every = test::number_from_environment("SHEAF_CRASH_EVERY", length / crashes);
  for (std::uint64_t step = 1; step < length && !HasFailure(); step += every) {
    SCOPED_TRACE("step " + std::to_string(step));
    Random random(step);
    ScriptedRun().crash_at(step, random);
  }
}

}  // namespace
}  // namespace sheaf::store
