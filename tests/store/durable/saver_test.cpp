// An engine, its saver and a disk that crashes and fails. Everything that clients were told is
// there afterwards, and versions and fences only grow. A failed random run prints the seed that
// repeats it.

#include "store/durable/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "protocol/statestore/errors.h"
#include "tests/store/durable/saved_store.h"

namespace sheaf::store {
namespace {

using testing::HasSubstr;

const std::string read_only =
    error_line(protocol::statestore::text_of(protocol::statestore::StoreError::read_only));

TEST(Saver, WhatWasToldIsThereAfterACrash) {
  FakeDisk disk;
  {
    SavedStore saved(disk, 0ms, begin_of_test);
    EXPECT_EQ(saved.ask({"SET", "key", "value"})->payload, "+OK\r\n");
  }
  SavedStore again(disk, 0ms, begin_of_test);
  EXPECT_EQ(again.ask({"GET", "key"})->payload, "$5\r\nvalue\r\n");
}

TEST(Saver, ReadsCommitNothing) {
  FakeDisk disk;
  SavedStore saved(disk, 0ms, begin_of_test);
  saved.ask({"SET", "key", "value"});
  saved.ask({"GET", "key"});
  saved.ask({"GET", "other"});
  EXPECT_EQ(disk.commits, 1);
}

TEST(Saver, ReportsItsCommitsAndThoseThatFailed) {
  FakeDisk disk;
  SavedStore saved(disk, 0ms, begin_of_test);
  EXPECT_EQ(saved.saver->numbers().commits, 0u);
  EXPECT_EQ(saved.saver->numbers().bytes, 4096u) << "of a file that was there before";
  saved.ask({"SET", "key", "value"});
  saved.ask({"SET", "key", "other"});
  disk.full = true;
  saved.ask({"SET", "key", "third"});
  const FileNumbers numbers = saved.saver->numbers();
  EXPECT_EQ(numbers.commits, 2u);
  EXPECT_EQ(numbers.failed_commits, 1u);
  EXPECT_LE(numbers.median_us, numbers.longest_us);
  EXPECT_LE(numbers.longest_us, numbers.total_us + numbers.total_us / 50 + 1);
}

TEST(Saver, AnIntervalCommitsOnceForAllThatHappenedInIt) {
  FakeDisk disk;
  SavedStore saved(disk, 100ms, begin_of_test);
  saved.ask({"SET", "first", "v"});  // beyond the ceiling of a new file
  EXPECT_EQ(disk.commits, 1);
  for (int i = 0; i < 50; ++i) {
    saved.store.pass(1ms);
    EXPECT_TRUE(saved.ask({"SET", "key" + std::to_string(i), "v"}));
  }
  EXPECT_EQ(disk.commits, 1);
  saved.store.pass(60ms);
  saved.settle();
  EXPECT_EQ(disk.commits, 2);
  EXPECT_EQ(disk.image.records.size(), 51u);
}

TEST(Saver, AnOrderlyEndSavesWhatAnIntervalHasLeft) {
  FakeDisk disk;
  Store store;
  auto saver =
      Saver::start(std::make_unique<FakeFile>(disk), store.engine, 10s, begin_of_test, "b");
  ASSERT_TRUE(saver);
  store.ask({"SET", "first", "v"});  // beyond the ceiling of a new file
  (*saver)->settle(store.now, false);
  store.ask({"SET", "key", "v"});
  (*saver)->settle(store.now, false);
  EXPECT_EQ(disk.image.records.size(), 1u);
  saver->reset();
  EXPECT_EQ(disk.image.records.size(), 2u);
}

TEST(Saver, AFullDiskMakesTheStoreReadOnlyUntilThereIsRoom) {
  FakeDisk disk;
  SavedStore saved(disk, 0ms, begin_of_test);
  saved.ask({"SET", "kept", "1"});
  disk.full = true;
  saved.ask({"SET", "lost", "1"});
  EXPECT_THAT(saved.saver->trouble(), HasSubstr("disk is full"));
  EXPECT_EQ(saved.ask({"SET", "other", "1"})->payload, read_only);
  EXPECT_EQ(saved.ask({"GET", "lost"})->payload, read_only);
  EXPECT_EQ(saved.ask({"GET", "kept"})->payload, "$1\r\n1\r\n");
  disk.full = false;
  saved.store.pass(1s);
  EXPECT_TRUE(saved.settle());
  EXPECT_EQ(saved.saver->trouble(), "");
  EXPECT_EQ(saved.ask({"GET", "lost"})->payload, "$1\r\n1\r\n");
  EXPECT_EQ(saved.ask({"SET", "other", "1"})->payload, "+OK\r\n");
  EXPECT_EQ(disk.image.records.size(), 3u);
}

TEST(Saver, WhatIsExecutedDuringACommitIsTheNextOne) {
  FakeDisk disk;
  SavedStore saved(disk, 0ms, begin_of_test);
  Saver& saver = *saved.saver;
  saved.store.ask({"SET", "key", "1"});
  saver.note(saved.store.now);
  ASSERT_TRUE(saver.due(saved.store.now));
  saver.begin(saved.store.now);
  EXPECT_FALSE(saver.due(saved.store.now)) << "one at a time";
  saved.store.ask({"SET", "key", "2"});
  saved.store.ask({"SET", "other", "2"});
  saver.note(saved.store.now);
  saver.write();
  EXPECT_FALSE(saver.may_tell());
  EXPECT_TRUE(saver.finish(saved.store.now));
  EXPECT_EQ(disk.image.records.at("key").value, "1");
  EXPECT_FALSE(disk.image.records.contains("other"));
  EXPECT_FALSE(saver.may_tell());
  ASSERT_TRUE(saver.due(saved.store.now));
  saver.begin(saved.store.now);
  saver.write();
  EXPECT_TRUE(saver.finish(saved.store.now));
  EXPECT_TRUE(saver.may_tell());
  EXPECT_FALSE(saver.due(saved.store.now));
  EXPECT_EQ(disk.image.records.at("key").value, "2");
  EXPECT_TRUE(disk.image.records.contains("other"));
}

TEST(Saver, AnIntervalCountsFromTheFirstChangeAfterTheBeginOfACommit) {
  FakeDisk disk;
  SavedStore saved(disk, 100ms, begin_of_test);
  Saver& saver = *saved.saver;
  saved.ask({"SET", "first", "v"});  // beyond the ceiling of a new file
  saved.ask({"SET", "key", "1"});
  saved.store.pass(100ms);
  saver.begin(saved.store.now);
  saved.store.pass(80ms);  // of the disk
  saved.store.ask({"SET", "key", "2"});
  saver.note(saved.store.now);
  saver.write();
  EXPECT_TRUE(saver.finish(saved.store.now));
  EXPECT_FALSE(saver.due(saved.store.now));
  saved.store.pass(20ms);
  EXPECT_TRUE(saver.due(saved.store.now));
}

TEST(Saver, ACommitThatFailsWithholdsWhatWasExecutedMeanwhileToo) {
  FakeDisk disk;
  SavedStore saved(disk, 0ms, begin_of_test);
  Saver& saver = *saved.saver;
  saved.store.ask({"SET", "first", "1"});
  saver.note(saved.store.now);
  saver.begin(saved.store.now);
  saved.store.ask({"SET", "second", "1"});
  saver.note(saved.store.now);
  disk.fails = true;
  saver.write();
  EXPECT_FALSE(saver.finish(saved.store.now));
  EXPECT_TRUE(saver.frozen());
  for (const char* key : {"first", "second"}) {
    EXPECT_EQ(saved.store.ask({"GET", key}).payload, read_only) << key;
  }
  disk.fails = false;
  saved.store.pass(1s);
  EXPECT_TRUE(saved.settle());
  EXPECT_EQ(disk.image.records.size(), 2u);
}

TEST(Saver, ALeaseGoesOnAfterTheRestartAndEndsWhenItWouldHave) {
  FakeDisk disk;
  {
    SavedStore saved(disk, 0ms, begin_of_test);
    saved.ask({"SET", "lock", "a", "NX", "PX", "10000"});
  }
  SavedStore again(disk, 0ms, {begin_of_test.mono + 4s, begin_of_test.wall - 30s});
  EXPECT_EQ(again.ask({"SET", "lock", "b", "NX"})->payload, ":-1\r\n");
  again.store.pass(5999ms);
  EXPECT_EQ(again.ask({"GET", "lock"})->payload, "$1\r\na\r\n");
  again.store.pass(1ms);
  EXPECT_EQ(again.ask({"GET", "lock"})->payload, "$-1\r\n");
}

// The machine was restarted, and its uptime is now above or below the one in the file.
TEST(Saver, ALeaseGoesOnByTheWallClockAfterTheMachineWasStartedAnew) {
  for (const Deadline uptime : {Deadline(20s), begin_of_test.mono + std::chrono::hours(3)}) {
    FakeDisk disk;
    {
      SavedStore saved(disk, 0ms, begin_of_test);
      saved.ask({"SET", "lock", "a", "NX", "PX", "60000"});
    }
    SavedStore again(disk, 0ms, {uptime, begin_of_test.wall + 50s}, {}, "another start");
    again.store.pass(9'999ms);
    EXPECT_EQ(again.ask({"GET", "lock"})->payload, "$1\r\na\r\n") << uptime.count();
    again.store.pass(1ms);
    EXPECT_EQ(again.ask({"GET", "lock"})->payload, "$-1\r\n") << uptime.count();
  }
}

// Clients of a store that crashes, with what they were told, in order.
class Crashes {
 public:
  explicit Crashes(std::uint64_t seed)
      : random_(seed), interval_(random_.below(2) == 0 ? 0ms : 50ms) {
    options_.fence_retention = 3600s;
    restart();
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    EXPECT_GT(crashes_, 3);
  }

 private:
  void step() {
    pass();
    disk_.full = random_.below(20) == 0;
    disk_.fails = random_.below(20) == 0;
    disk_.loses_answers = random_.below(20) == 0;
    if (random_.below(50) == 0) return restart();
    switch (random_.below(8)) {
      case 0:
        return write_with_an_old_fence();
      case 1:
      case 2:
        return read();
      default:
        return write();
    }
  }

  void pass() {
    saved_->store.pass(milliseconds(random_.below(300)));
    if (random_.below(100) == 0) saved_->store.now.wall += milliseconds(random_.below(50'000));
    if (random_.below(100) == 0) saved_->store.now.wall -= milliseconds(random_.below(50'000));
    saved_->store.engine.tick(saved_->store.now);
    saved_->settle();
  }

  void restart() {
    ++crashes_;
    Now now = saved_ ? saved_->store.now : begin_of_test;
    saved_.reset();
    disk_.full = disk_.fails = disk_.loses_answers = false;
    saved_ = std::make_unique<SavedStore>(disk_, interval_, now, options_);
    if (interval_ != 0ms) told_.clear();  // the last moments may be lost
  }

  // A write that was acknowledged has happened; one without an answer may have.
  void write() {
    const std::string key = "key" + std::to_string(random_.below(4));
    const bool remove = random_.below(4) == 0;
    const std::string value = std::to_string(++values_);
    const std::vector<std::string> items =
        remove ? std::vector<std::string>{"DEL", key} : std::vector<std::string>{"SET", key, value};
    const std::string fence = highest_fence_.contains(key) ? highest_fence_[key] : fresh_fence();
    const auto got = saved_->ask(items, fence);
    const auto state = remove ? std::nullopt : std::optional(value);
    if (got && got->payload.starts_with("-ERR")) return;
    told_[key].note(got.has_value(), state);
    if (got && !remove) {
      ASSERT_GT(got->timestamp, newest_);
      newest_ = got->timestamp;
      highest_fence_[key] = fence;
    }
  }

  void write_with_an_old_fence() {
    const std::string key = "key" + std::to_string(random_.below(4));
    if (interval_ != 0ms || !highest_fence_.contains(key)) return;
    const auto got = saved_->ask({"SET", key, "old"}, stamp(1ms, 0, "A"));
    ASSERT_TRUE(got && got->payload.starts_with("-ERR")) << key;
  }

  void read() {
    const std::string key = "key" + std::to_string(random_.below(4));
    const auto got = saved_->ask({"GET", key});
    if (!got || got->payload == read_only || !told_.contains(key)) return;
    ASSERT_FALSE(got->payload.starts_with("-ERR")) << got->payload;
    const auto is = [&](const std::optional<std::string>& value) {
      const std::string wanted =
          value ? "$" + std::to_string(value->size()) + "\r\n" + *value + "\r\n" : "$-1\r\n";
      return got->payload == wanted;
    };
    ASSERT_TRUE(told_[key].allows(is)) << key << " is " << got->payload;
  }

  std::string fresh_fence() { return stamp(saved_->store.now.wall, random_.below(100), "A"); }

  Random random_;
  milliseconds interval_;
  EngineOptions options_;
  FakeDisk disk_;
  std::unique_ptr<SavedStore> saved_;
  std::map<std::string, Told> told_;
  std::map<std::string, std::string> highest_fence_;
  std::string newest_;
  std::uint64_t values_ = 0;
  int crashes_ = 0;
};

TEST(Saver, NothingToldIsLostAndNoVersionRepeatsWhateverTheDiskDoes) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Crashes(seed).run(600);
  }
}

}  // namespace
}  // namespace sheaf::store
