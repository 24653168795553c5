// A store whose file has only keys that asked for it (persist=asked), and that crashes. What asked
// and was acknowledged is there afterwards, everything else is gone, and versions only grow.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "tests/store/durable/saved_store.h"

namespace sheaf::store {
namespace {

EngineOptions asked() {
  EngineOptions options;
  options.persist = Persist::asked;
  return options;
}

Ask kept(const std::string& key, const std::string& value) {
  return {.payload = payload_of({"SET", key, value}), .persist = true};
}

class AskedStore : public testing::Test {
 protected:
  AskedStore() { restart(); }
  void restart(milliseconds interval = 0ms) {
    const Now now = saved ? saved->store.now : begin_of_test;
    saved.reset();
    saved = std::make_unique<SavedStore>(disk, interval, now, asked());
  }
  bool filed(const std::string& key) const { return disk.image.records.contains(key); }

  FakeDisk disk;
  std::unique_ptr<SavedStore> saved;
};

TEST_F(AskedStore, OnlyKeysThatAskedAreThereAfterACrash) {
  EXPECT_EQ(saved->send(kept("kept", "1"))->payload, "+OK\r\n");
  EXPECT_EQ(saved->ask({"SET", "other", "1"})->payload, "+OK\r\n");
  restart();
  EXPECT_EQ(saved->ask({"GET", "kept"})->payload, "$1\r\n1\r\n");
  EXPECT_EQ(saved->ask({"GET", "other"})->payload, "$-1\r\n");
}

TEST_F(AskedStore, ASetThatDoesNotAskTakesTheKeyOutOfTheFileInItsOwnCommit) {
  saved->send(kept("key", "1"));
  const int before = disk.commits;
  EXPECT_EQ(saved->ask({"SET", "key", "2"})->payload, "+OK\r\n");
  EXPECT_EQ(disk.commits, before + 1);
  EXPECT_FALSE(filed("key"));
  EXPECT_EQ(saved->ask({"GET", "key"})->payload, "$1\r\n2\r\n");
}

TEST_F(AskedStore, ASetThatIsNotStoredLeavesTheKeyInTheFile) {
  saved->send(kept("key", "1"));
  EXPECT_EQ(saved->ask({"SET", "key", "2", "NX"})->payload, ":-1\r\n");
  EXPECT_TRUE(filed("key"));
}

TEST_F(AskedStore, ARemovedAndAnExpiredKeyLeaveTheFile) {
  saved->send(kept("removed", "1"));
  Ask lease{.payload = payload_of({"SET", "lease", "1", "PX", "1000"}), .persist = true};
  saved->send(lease);
  EXPECT_TRUE(filed("removed") && filed("lease"));
  saved->ask({"DEL", "removed"});
  saved->store.pass(1s);
  saved->store.engine.tick(saved->store.now);
  saved->settle();
  EXPECT_FALSE(filed("removed") || filed("lease"));
}

TEST_F(AskedStore, KeysThatDoNotAskCommitOncePerCeilingAndNotOncePerWrite) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(saved->ask({"SET", "key", std::to_string(i)})) << i;
    saved->store.pass(1ms);
  }
  EXPECT_EQ(disk.commits, 1);
  EXPECT_TRUE(disk.image.records.empty());
}

TEST_F(AskedStore, VersionsGrowOverACrashAlthoughTheirKeysWereNotSaved) {
  const auto before = saved->ask({"SET", "key", "1"});
  saved->store.pass(500ms);
  const auto last = saved->ask({"SET", "key", "2"});
  saved->store.now.wall -= 10s;  // so that the wall clock alone would go back
  restart();
  const auto after = saved->ask({"SET", "key", "3"});
  EXPECT_LT(before->timestamp, last->timestamp);
  EXPECT_LT(last->timestamp, after->timestamp);
}

TEST_F(AskedStore, AVersionBeyondTheCeilingIsNotRevealedWhileTheDiskIsFull) {
  saved->ask({"SET", "key", "1"});
  saved->store.pass(10s);
  disk.full = true;
  saved->ask({"SET", "key", "2"});
  EXPECT_TRUE(saved->saver->frozen());
  EXPECT_TRUE(saved->ask({"GET", "key"})->payload.starts_with("-ERR the store is read-only"));
}

TEST_F(AskedStore, RestartsDoNotMoveTheClockAheadOfTheWallClockWithoutEnd) {
  for (int i = 0; i < 1'000; ++i) {
    saved->ask({"SET", "key", "1"});
    saved->store.pass(1ms);
    restart(i % 2 == 0 ? 0ms : 50ms);
  }
  const auto ahead =
      static_cast<std::int64_t>(disk.image.clock.first) - saved->store.now.wall.count();
  EXPECT_LE(ahead, 3'000);
}

TEST_F(AskedStore, AFileOfAStoreThatKeepsAllIsReadAndItsKeysStayUntilTheyAreWritten) {
  saved.reset();
  saved = std::make_unique<SavedStore>(disk, 0ms, begin_of_test);
  saved->ask({"SET", "old", "1"});
  saved->ask({"SET", "written", "1"});
  restart();
  EXPECT_EQ(saved->ask({"GET", "old"})->payload, "$1\r\n1\r\n");
  saved->ask({"SET", "written", "2"});
  EXPECT_TRUE(filed("old"));
  EXPECT_FALSE(filed("written"));
}

// Random writes, crashes and failures of the disk.
class AskedCrashes {
 public:
  explicit AskedCrashes(std::uint64_t seed) : random_(seed) { restart(); }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      saved_->store.pass(milliseconds(random_.below(200)));
      disk_.full = random_.below(20) == 0;
      disk_.fails = random_.below(20) == 0;
      saved_->store.engine.tick(saved_->store.now);
      saved_->settle();
      random_.below(40) == 0 ? restart() : write();
    }
  }

 private:
  void write() {
    const std::string key = "key" + std::to_string(random_.below(5));
    const bool remove = random_.below(5) == 0;
    const bool persist = random_.below(2) == 0;
    const std::string value = std::to_string(++values_);
    Ask request{.payload = remove ? payload_of({"DEL", key}) : payload_of({"SET", key, value}),
                .persist = persist};
    const auto got = saved_->send(request);
    if (got && got->payload.starts_with("-ERR")) return;
    told_[key].note(got.has_value(), persist && !remove ? Told::State(value) : std::nullopt);
    if (!got || remove) return;
    ASSERT_GT(got->timestamp, newest_);
    newest_ = got->timestamp;
  }

  void restart() {
    const Now now = saved_ ? saved_->store.now : begin_of_test;
    saved_.reset();
    disk_.full = disk_.fails = false;
    saved_ = std::make_unique<SavedStore>(disk_, 0ms, now, asked());
    for (auto& [key, told] : told_) {
      const auto row = disk_.image.records.find(key);
      Told::State found;
      if (row != disk_.image.records.end()) found = row->second.value;
      ASSERT_TRUE(told.allows([&](const Told::State& state) { return state == found; }))
          << key << " is " << found.value_or("absent");
      told.note(true, std::move(found));
    }
  }

  Random random_;
  FakeDisk disk_;
  std::unique_ptr<SavedStore> saved_;
  std::map<std::string, Told> told_;  // none: not in the file
  std::string newest_;
  std::uint64_t values_ = 0;
};

TEST(AskedCrash, WhatAskedIsThereTheRestIsGoneAndVersionsGrowForEverySeed) {
  for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AskedCrashes(seed).run(500);
  }
}

}  // namespace
}  // namespace sheaf::store
