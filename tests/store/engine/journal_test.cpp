// The changes that the engine reports. An engine restored from them continues as if nothing had
// happened. A failed random run prints the seed that repeats it.

#include "store/engine/journal.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "protocol/statestore/errors.h"
#include "tests/store/engine/store_fixture.h"
#include "tests/support/saved_image.h"

namespace sheaf::store {
namespace {

using test::SavedImage;

const std::string read_only =
    error_line(protocol::statestore::text_of(protocol::statestore::StoreError::read_only));

// A store whose journal is on.
std::unique_ptr<Store> journalled(const EngineOptions& options = {}) {
  auto store = std::make_unique<Store>(options);
  store->engine.journal().begin();
  return store;
}

// The same store, restarted at the same moment.
std::unique_ptr<Store> reborn(const SavedImage& image, const Store& before) {
  auto store = std::make_unique<Store>(before.engine.options());
  store->now = before.now;
  image.restore(store->engine.journal());
  store->engine.journal().begin();
  return store;
}

std::vector<std::string> polled(Journal& journal) {
  std::vector<std::string> out;
  Change change;
  while (journal.poll(change)) {
    out.push_back(std::to_string(static_cast<int>(change.kind)) + " " + std::string(change.key) +
                  " " + std::string(change.value));
  }
  return out;
}

TEST(Journal, NothingIsNotedBeforeItBegins) {
  Store store;
  store.ask({"SET", "key", "value"});
  EXPECT_TRUE(store.engine.journal().empty());
  EXPECT_TRUE(polled(store.engine.journal()).empty());
}

TEST(Journal, AKeyThatChangesTwiceIsOneChangeWithItsLastState) {
  const auto store = journalled();
  store->ask({"SET", "key", "one"});
  store->ask({"SET", "key", "two"});
  EXPECT_EQ(polled(store->engine.journal()), std::vector<std::string>{"0 key two"});
}

TEST(Journal, ARemovedKeyIsToBeRemoved) {
  const auto store = journalled();
  store->ask({"SET", "key", "one"});
  store->ask({"DEL", "key"});
  EXPECT_EQ(polled(store->engine.journal()), std::vector<std::string>{"1 key "});
}

TEST(Journal, AnExpiredKeyIsToBeRemoved) {
  const auto store = journalled();
  store->ask({"SET", "key", "one", "PX", "10"});
  polled(store->engine.journal());
  store->engine.journal().saved();
  store->pass(10ms);
  store->engine.tick(store->now);
  EXPECT_EQ(polled(store->engine.journal()), std::vector<std::string>{"1 key "});
}

TEST(Journal, WhatChangesNothingIsNoChange) {
  const auto store = journalled();
  store->ask({"SET", "key", "one"});
  polled(store->engine.journal());
  store->engine.journal().saved();
  store->ask({"SET", "key", "two", "NX"});
  store->ask({"GET", "key"});
  store->ask({"DEL", "other"});
  store->ask({"VDEL", "key", "two"});
  store->ask({"KEYNOTIFY", "key"});
  EXPECT_TRUE(store->engine.journal().empty());
}

TEST(Journal, WhatWasLostIsPolledAgainWithTheNewestState) {
  const auto store = journalled();
  Journal& journal = store->engine.journal();
  store->ask({"SET", "a", "one"});
  store->ask({"SET", "b", "one"});
  EXPECT_EQ(polled(journal).size(), 2u);
  EXPECT_FALSE(journal.empty());
  store->ask({"SET", "a", "two"});
  journal.lost();
  auto again = polled(journal);
  std::ranges::sort(again);
  EXPECT_EQ(again, (std::vector<std::string>{"0 a two", "0 b one"}));
  journal.saved();
  EXPECT_TRUE(journal.empty());
}

TEST(Journal, AChangeAfterThePollIsStillToBeSaved) {
  const auto store = journalled();
  Journal& journal = store->engine.journal();
  store->ask({"SET", "a", "one"});
  polled(journal);
  store->ask({"SET", "a", "two"});
  journal.saved();
  EXPECT_EQ(polled(journal), std::vector<std::string>{"0 a two"});
}

TEST(Journal, ManyKeysLeaveNoLargeTablesBehind) {
  const auto store = journalled();
  for (int i = 0; i < 20'000; ++i) store->ask({"SET", "key" + std::to_string(i), "v"});
  EXPECT_EQ(polled(store->engine.journal()).size(), 20'000u);
  store->engine.journal().saved();
  store->ask({"SET", "key", "v"});
  EXPECT_EQ(polled(store->engine.journal()).size(), 1u);
}

TEST(Journal, AFrozenStoreRefusesWritesAndAnswersReadsOfWhatIsSaved) {
  const auto store = journalled();
  Journal& journal = store->engine.journal();
  store->ask({"SET", "saved", "one"});
  polled(journal);
  journal.saved();
  store->ask({"SET", "unsaved", "one"});
  journal.freeze(true);
  EXPECT_EQ(store->ask({"SET", "other", "one"}).payload, read_only);
  EXPECT_EQ(store->ask({"DEL", "saved"}).payload, read_only);
  EXPECT_EQ(store->ask({"VDEL", "saved", "one"}).payload, read_only);
  EXPECT_EQ(store->ask({"GET", "unsaved"}).payload, read_only);
  EXPECT_EQ(store->ask({"GET", "saved"}).payload, "$3\r\none\r\n");
  EXPECT_EQ(store->ask({"GET", "other"}).payload, "$-1\r\n");
  journal.freeze(false);
  EXPECT_EQ(store->ask({"GET", "unsaved"}).payload, "$3\r\none\r\n");
}

TEST(Journal, ARepeatedWriteIsNotAnsweredFromMemoryWhileItsEffectIsUnsaved) {
  const auto store = journalled();
  Ask ask{.payload = payload_of({"SET", "key", "one"})};
  ask.correlation = "the same";
  ask.timestamp = stamp(golden_wall, 0, "CLIENT");
  EXPECT_EQ(store->send(ask).payload, "+OK\r\n");
  store->engine.journal().freeze(true);
  EXPECT_EQ(store->send(ask).payload, read_only);
}

TEST(Journal, NothingExpiresInAFrozenStoreButWhatIsOverIsAbsent) {
  const auto store = journalled();
  Journal& journal = store->engine.journal();
  store->ask({"SET", "key", "one", "PX", "10"});
  polled(journal);
  journal.saved();
  journal.freeze(true);
  store->pass(10ms);
  store->engine.tick(store->now);
  EXPECT_EQ(store->ask({"GET", "key"}).payload, "$-1\r\n");
  EXPECT_TRUE(journal.empty());
  EXPECT_EQ(store->engine.keys(), 1u);
  EXPECT_EQ(store->engine.next_expiry(), std::nullopt);
  journal.freeze(false);
  store->engine.tick(store->now);
  EXPECT_EQ(store->engine.keys(), 0u);
}

TEST(Journal, VersionsGoOnAboveTheSavedClockWhenTheWallClockHasStepped) {
  const auto store = journalled();
  const std::string before = store->ask({"SET", "key", "one"}).timestamp;
  SavedImage image;
  image.write(store->engine.journal());
  const auto again = reborn(image, *store);
  again->now.wall -= 50s;
  const std::string after = again->ask({"SET", "key", "two"}).timestamp;
  EXPECT_GT(after, before);
  EXPECT_EQ(after, stamp(golden_wall, 2, "StateStore"));
}

TEST(Journal, AfterALongStepBackSetsAreRefusedUntilTheWallClockHasCaughtUp) {
  const auto store = journalled();
  const std::string before = store->ask({"SET", "key", "one"}).timestamp;
  SavedImage image;
  image.write(store->engine.journal());
  const auto again = reborn(image, *store);
  again->now.wall -= 3600s;
  EXPECT_EQ(again->ask({"SET", "key", "two"}).payload.substr(0, 28),
            "-ERR the request timestamp i");
  again->pass(3540s);
  EXPECT_GT(again->ask({"SET", "key", "two"}).timestamp, before);
}

TEST(Journal, AnExpiredKeyIsNotRestoredToLife) {
  const auto store = journalled();
  store->ask({"SET", "key", "one", "PX", "1000"});
  SavedImage image;
  image.write(store->engine.journal());
  store->pass(1s);
  const auto again = reborn(image, *store);
  EXPECT_EQ(again->ask({"GET", "key"}).payload, "$-1\r\n");
  EXPECT_EQ(again->ask({"SET", "key", "two", "NX"}).payload, "+OK\r\n");
}

TEST(Journal, AFenceStaysWhereItIsAndAlsoOutlivesItsKeyAcrossARestart) {
  EngineOptions options;
  options.fence_retention = 90s;
  const auto store = journalled(options);
  const std::string low = stamp(golden_wall, 1, "A");
  const std::string high = stamp(golden_wall, 2, "A");
  store->ask({"SET", "kept", "one"}, high);
  store->ask({"SET", "gone", "one"}, high);
  store->ask({"DEL", "gone"}, high);
  SavedImage image;
  image.write(store->engine.journal());
  const auto again = reborn(image, *store);
  const std::string stale =
      error_line(protocol::statestore::text_of(protocol::statestore::StoreError::fencing_stale));
  EXPECT_EQ(again->ask({"SET", "kept", "two"}, low).payload, stale);
  EXPECT_EQ(again->ask({"SET", "gone", "two"}, low).payload, stale);
  EXPECT_EQ(again->ask({"SET", "gone", "two"}, high).payload, "+OK\r\n");
  again->pass(90s);
  again->engine.tick(again->now);
  image.write(again->engine.journal());
  EXPECT_TRUE(image.fences.empty());
}

// Sends random requests to two stores. One runs on, the other is restarted from its journal at
// random times. They must never differ.
class Twins {
 public:
  explicit Twins(std::uint64_t seed) : random_(seed) {
    options_.fence_retention = random_.below(2) == 0 ? 0ms : 200ms;
    steady_ = std::make_unique<Store>(options_);
    moved_ = journalled(options_);
  }

  void run(int requests) {
    for (int i = 0; i < requests && !testing::Test::HasFailure(); ++i) step(i);
    EXPECT_GT(restarts_, requests / 100);
  }

 private:
  void step(int number) {
    move_clocks();
    const Ask ask = draw();
    const Got wanted = steady_->send(ask);
    ASSERT_EQ(moved_->send(ask), wanted) << "request " << number << " " << ask.payload;
    if (random_.below(4) == 0) {
      steady_->engine.tick(steady_->now);
      moved_->engine.tick(moved_->now);
    }
    if (random_.below(3) == 0) save();
    if (random_.below(20) == 0) {
      save();
      moved_ = reborn(image_, *moved_);
      ++restarts_;
    }
    ASSERT_EQ(moved_->engine.keys(), steady_->engine.keys());
    ASSERT_EQ(moved_->engine.bytes(), steady_->engine.bytes());
    ASSERT_EQ(moved_->engine.remembered_fences(), steady_->engine.remembered_fences());
  }

  void save() {
    SavedImage copy = image_;
    copy.write(moved_->engine.journal());
    if (random_.below(4) == 0) {  // the write failed
      moved_->engine.journal().lost();
      copy = image_;
      copy.write(moved_->engine.journal());
    }
    moved_->engine.journal().saved();
    image_ = std::move(copy);
  }

  void move_clocks() {
    const auto time = milliseconds(random_.below(40));
    steady_->pass(time);
    if (random_.below(300) == 0) steady_->now.wall += milliseconds(random_.below(200'000));
    if (random_.below(300) == 0) steady_->now.wall -= milliseconds(random_.below(200'000));
    moved_->now = steady_->now;
  }

  Ask draw() {
    std::vector<std::string> items;
    const std::string key = "key" + std::to_string(random_.below(6));
    const std::string value(random_.below(3), 'v');
    switch (random_.below(6)) {
      case 0:
        items = {"GET", key};
        break;
      case 1:
        items = {"DEL", key};
        break;
      case 2:
        items = {"VDEL", key, value};
        break;
      default:
        items = {"SET", key, value};
        if (random_.below(4) == 0) items.emplace_back(random_.below(2) == 0 ? "NX" : "NEX");
        if (random_.below(2) == 0) {
          items.insert(items.end(), {"PX", std::to_string(1 + random_.below(300))});
        }
    }
    Ask ask{.payload = payload_of(items)};
    ask.correlation = std::to_string(random_.u64());
    ask.timestamp = near_now("CLIENT");
    if (random_.below(4) == 0) ask.fence = near_now(random_.below(2) == 0 ? "A" : "B");
    return ask;
  }

  std::string near_now(const std::string& node) {
    return stamp(steady_->now.wall - 25ms + milliseconds(random_.below(50)), random_.below(3),
                 node);
  }

  Random random_;
  EngineOptions options_;
  std::unique_ptr<Store> steady_;
  std::unique_ptr<Store> moved_;
  SavedImage image_;
  int restarts_ = 0;
};

TEST(Journal, AStoreThatIsRestartedAnswersAsOneThatNeverWas) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Twins(seed).run(1500);
  }
}

}  // namespace
}  // namespace sheaf::store
