// A MigratingCache on real memcached servers, one call at a time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef SHEAF_TEST_MEMCACHED_SERVERS

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include <sheaf/migration.h>

#include "extras/migration/stage_rules.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using Stage = MigrationStage;

std::string uri(const MemcachedProcess& server, const std::string& options = "") {
  return "memcached://127.0.0.1:" + std::to_string(server.port()) + options;
}

class MovingCache : public testing::Test {
 protected:
  MovingCache() : from(Client::open(uri(*old_)).value()), to(Client::open(uri(*new_)).value()) {}

  Result<MigratingCache> opened(MigratingCache::Reader reader, std::chrono::milliseconds settle) {
    return MigratingCache::open(Client::open(uri(*old_)).value(), Client::open(uri(*new_)).value(),
                                std::move(reader), {.settle = settle});
  }
  // A cache that stays in this stage.
  MigratingCache cache_in(Stage stage) {
    return opened([stage] { return Migration{.stage = stage}; }, 1h).value();
  }
  static std::string data(Client& client, std::string_view key) {
    const GetResult got = client.get(key).value();
    return got ? got->data : "(none)";
  }

  Lent<MemcachedProcess> old_;
  Lent<MemcachedProcess> new_;
  Client from;
  Client to;
};

TEST_F(MovingCache, WritesInEachStageLeaveThePresentValueWhereItBelongsAndNoneElsewhere) {
  const struct {
    Stage stage;
    const char* in_from;
    const char* in_to;
  } cases[] = {{Stage::before, "new", "old"},      {Stage::mirror, "new", "(none)"},
               {Stage::switched, "new", "(none)"}, {Stage::drain, "(none)", "new"},
               {Stage::closing, "(none)", "new"},  {Stage::restore, "new", "(none)"},
               {Stage::after, "old", "new"}};
  for (const auto& [stage, in_from, in_to] : cases) {
    MigratingCache cache = cache_in(stage);
    for (const bool many : {false, true}) {
      from.set("key", "old").value();
      to.set("key", "old").value();
      if (many) {
        const SetItem item{"key", "new"};
        for (const auto& set : cache.set_many({&item, 1})) EXPECT_TRUE(set.result.value().stored);
      } else {
        EXPECT_TRUE(cache.set("key", "new").value().stored);
      }
      EXPECT_EQ(data(from, "key"), in_from) << to_string(stage);
      EXPECT_EQ(data(to, "key"), in_to) << to_string(stage);
      EXPECT_EQ(cache.get("key").value()->data, "new") << to_string(stage);
      const std::string_view name = "key";
      const RemoveResult removed =
          many ? cache.remove_many({&name, 1})[0].result.value() : cache.remove("key").value();
      EXPECT_EQ(removed, RemoveResult::removed);
      EXPECT_FALSE(cache.get("key").value()) << to_string(stage);
    }
  }
}

TEST_F(MovingCache, ReadsAfterTheSwitchFindWhatOnlyOneFleetHas) {
  from.set("a", "1").value();
  to.set("b", "2", {.flags = 9}).value();
  to.set("c", migration::placeholder).value();
  from.set("c", "3").value();
  MigratingCache cache = cache_in(Stage::switched);
  EXPECT_EQ(cache.get("a").value()->data, "1");
  const Value value = cache.get("b").value().value();
  EXPECT_EQ(value.data, "2");
  EXPECT_EQ(value.flags, 9u);
  EXPECT_TRUE(value.version.empty());
  const std::vector<std::string_view> names{"c", "a", "none", "a", "b"};
  const auto all = cache.get_many(names);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].result.value()->data, "3") << "a placeholder is a miss";
  EXPECT_EQ(all[1].result.value()->data, "1");
  EXPECT_FALSE(all[2].result.value());
  EXPECT_EQ(all[3].result.value()->data, "2");
  const auto counts = cache.counts();
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].gets, 6u);
  EXPECT_EQ(counts[0].hits, 5u);
  EXPECT_EQ(counts[0].second_hits, 3u);
}

TEST_F(MovingCache, ACopyKeepsFlagsAndTheRestOfItsLife) {
  from.set("key", "value", {.ttl = 100s, .flags = 5}).value();
  EXPECT_EQ(copy_for_migration(from, to, "key").value(), Copied::copied);
  const Value copy = to.get("key", {.ttl_left = true}).value().value();
  EXPECT_EQ(copy.data, "value");
  EXPECT_EQ(copy.flags, 5u);
  ASSERT_TRUE(copy.ttl_left);
  EXPECT_LE(*copy.ttl_left, 100s);
  EXPECT_GE(*copy.ttl_left, 90s);
  from.set("for ever", "value").value();
  EXPECT_EQ(copy_for_migration(from, to, "for ever").value(), Copied::copied);
  EXPECT_FALSE(to.get("for ever", {.ttl_left = true}).value()->ttl_left);
}

TEST_F(MovingCache, ACopyNeitherReplacesAValueNorLeavesAPlaceholderForNone) {
  from.set("key", "older").value();
  to.set("key", "newer").value();
  EXPECT_EQ(copy_for_migration(from, to, "key").value(), Copied::kept);
  EXPECT_EQ(data(to, "key"), "newer");
  EXPECT_EQ(copy_for_migration(from, to, "none").value(), Copied::absent);
  EXPECT_EQ(data(to, "none"), "(none)");
  to.set("left", migration::placeholder).value();  // left by a copier that died
  from.set("left", "value").value();
  EXPECT_EQ(move_for_migration(from, to, "left").value(), Copied::copied);
  EXPECT_EQ(data(to, "left"), "value");
  EXPECT_EQ(data(from, "left"), "(none)");
}

TEST_F(MovingCache, AStaleCopyIsRemovedAndARightOneStays) {
  from.set("a", "new").value();
  to.set("a", "old").value();
  EXPECT_TRUE(drop_stale_copy(from, to, "a", true).value());
  EXPECT_EQ(data(to, "a"), "(none)");
  to.set("b", "lost in from").value();
  EXPECT_FALSE(drop_stale_copy(from, to, "b", false).value());
  EXPECT_TRUE(drop_stale_copy(from, to, "b", true).value());
  from.set("c", "same").value();
  to.set("c", "same").value();
  EXPECT_FALSE(drop_stale_copy(from, to, "c", true).value());
}

TEST_F(MovingCache, TheRestOfALifeIsToldByTheMetaProtocolOnly) {
  Client binary = Client::open(uri(*old_, "?protocol=binary")).value();
  const auto got = binary.get("key", {.ttl_left = true});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().outcome, Outcome::unsupported);
  EXPECT_EQ(copy_for_migration(binary, to, "key").error().outcome, Outcome::unsupported);
}

TEST_F(MovingCache, WhatTwoFleetsCannotKeepRightIsRefusedBeforeAnythingChanges) {
  MigratingCache cache = cache_in(Stage::mirror);
  EXPECT_EQ(cache.set("key", "v", {.condition = SetCondition::if_absent}).error().outcome,
            Outcome::unsupported);
  EXPECT_EQ(cache.remove("key", {.if_version = Version{"1"}}).error().outcome,
            Outcome::unsupported);
  EXPECT_EQ(cache.set("key", migration::placeholder).error().outcome, Outcome::invalid);
  EXPECT_EQ(data(from, "key"), "(none)");
  const auto brokers = MigratingCache::open(Client::open("embedded://1").value(),
                                            Client::open(uri(*new_)).value(), "none.json");
  EXPECT_EQ(brokers.error().text, "a cache can move between fleets of memcached only");
  EXPECT_EQ(opened([] { return Migration{}; }, 10ms).error().text,
            "settle is 10 ms; it must be 100 ms to 1 h");
  const auto same = MigratingCache::open(Client::open(uri(*new_)).value(),
                                         Client::open(uri(*new_)).value(), "none.json");
  EXPECT_THAT(same.error().text, testing::EndsWith(" is a server of both fleets"));
  const auto rehash =
      MigratingCache::open(Client::open(uri(*old_)).value(),
                           Client::open(uri(*new_, "?failover=rehash")).value(), "none.json");
  EXPECT_THAT(rehash.error().text, testing::HasSubstr("failover=rehash"));
}

TEST_F(MovingCache, ACopyThatFailsLeavesNoPlaceholder) {
  Client nobody = Client::open("memcached://127.0.0.1:1").value();
  EXPECT_FALSE(copy_for_migration(nobody, to, "key"));
  EXPECT_EQ(data(to, "key"), "(none)");
}

TEST_F(MovingCache, AStageThatCannotBeReadIsUsedForHalfOfTheTimeAndNotLonger) {
  bool readable = true;
  MigratingCache cache = opened(
                             [&]() -> Result<Migration> {
                               if (readable) return Migration{.stage = Stage::mirror};
                               Error error;
                               error.text = "the disk is gone";
                               return Failure(error);
                             },
                             200ms)
                             .value();
  readable = false;
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (cache.get("key").has_value()) ASSERT_LT(std::chrono::steady_clock::now(), end);
  const Error error = cache.set("key", "v").error();
  EXPECT_EQ(error.outcome, Outcome::not_sent);
  EXPECT_EQ(error.reason, Reason::bad_configuration);
  EXPECT_EQ(error.text, "the disk is gone");
  const std::string_view name = "key";
  EXPECT_EQ(cache.remove_many({&name, 1})[0].result.error().outcome, Outcome::not_sent);
  readable = true;
  EXPECT_TRUE(cache.set("key", "v"));
  EXPECT_EQ(cache.stage(), Stage::mirror);
}

TEST_F(MovingCache, ThreadsShareOneWhileItsStageChanges) {
  std::atomic<int> stage = 0;
  MigratingCache cache =
      opened(
          [&] {
            const bool switched = stage % 2 == 1;
            return Migration{.stage = switched ? Stage::switched : Stage::mirror};
          },
          100ms)
          .value();
  std::atomic<unsigned> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, key = "key" + std::to_string(i)] {
        for (int n = 0; n < 300; ++n) {
          const std::string value = key + "#" + std::to_string(n);
          const std::string_view names[] = {key, "none"};
          if (!cache.set(key, value)) continue;  // a busy machine may fail it
          const auto got = cache.get(key);
          const auto many = cache.get_many(names);
          wrong += got && (!*got || (*got)->data != value) ? 1 : 0;
          wrong += many[0].result && (!*many[0].result || (*many[0].result)->data != value) ? 1 : 0;
          ++stage;
          if (cache.counts().empty() || cache.possibly_stale().size() > 900) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0u);
}

// The stages that remove a key before they store it would lose the value without this check.
TEST_F(MovingCache, AWriteThatAClientWouldRefuseLeavesTheOldValueInEachStage) {
  const std::string large(2u << 20, 'x');
  const std::string long_key(251, 'k');
  const std::string blank_key = std::string(186, 'k') + " ";
  const struct {
    std::string_view key;
    std::string_view value;
    std::optional<Ttl> ttl;
    Reason reason;
  } cases[] = {{"key", "x", 0s, Reason::bad_argument},
               {"key", "x", Ttl(-1ms), Reason::bad_argument},
               {"key", "x", Ttl(Ttl::max), Reason::bad_argument},
               {"key", large, {}, Reason::too_large},
               {"", "x", {}, Reason::bad_argument},
               {long_key, "x", {}, Reason::too_large},
               {blank_key, "x", {}, Reason::too_large}};
  for (const Stage stage : {Stage::before, Stage::mirror, Stage::switched, Stage::drain,
                            Stage::closing, Stage::restore, Stage::after}) {
    MigratingCache cache = cache_in(stage);
    for (const auto& [key, value, ttl, reason] : cases) {
      from.set("key", "old").value();
      to.set("key", "old").value();
      const auto set = cache.set(key, value, {.ttl = ttl});
      ASSERT_FALSE(set) << to_string(stage);
      EXPECT_EQ(set.error().outcome, Outcome::invalid) << set.error().message();
      EXPECT_EQ(set.error().reason, reason) << set.error().message();
      const SetItem items[] = {{key, value}, {"other", "fits"}};
      const auto many = cache.set_many(items, {.ttl = ttl});
      ASSERT_FALSE(many[0].result) << to_string(stage);
      EXPECT_EQ(many[0].result.error().outcome, Outcome::invalid) << many[0].result.error().text;
      EXPECT_EQ(many[0].result.error().reason, reason) << many[0].result.error().message();
      EXPECT_EQ(many[1].result.has_value(), !ttl) << "a bad key or value spoils itself only";
      EXPECT_EQ(data(from, "key"), "old") << to_string(stage);
      EXPECT_EQ(data(to, "key"), "old") << to_string(stage);
      EXPECT_TRUE(cache.possibly_stale().empty()) << to_string(stage);
    }
  }
}

// The servers of one fleet accept values that those of the other do not.
TEST_F(MovingCache, AWriteIsCheckedByWhatEachStepOfItsStageAsksOfItsFleet) {
  const auto cache_with = [&](Stage stage, const std::string& old_has, const std::string& new_has) {
    return MigratingCache::open(Client::open(uri(*old_, old_has)).value(),
                                Client::open(uri(*new_, new_has)).value(),
                                [stage] { return Migration{.stage = stage}; }, {.settle = 1h})
        .value();
  };
  const std::string value(100, 'v');
  from.set("key", "old").value();
  MigratingCache small = cache_with(Stage::drain, "", "?value_limit=10");
  EXPECT_EQ(small.set("key", value).error().outcome, Outcome::invalid);
  EXPECT_EQ(data(from, "key"), "old");
  MigratingCache mirror = cache_with(Stage::mirror, "", "?value_limit=10");
  EXPECT_TRUE(mirror.set("key", value)) << "the new fleet only loses its copy";
  const std::string key = std::string(186, 'k') + " ";
  MigratingCache binary = cache_with(Stage::mirror, "?protocol=binary", "?protocol=meta");
  Client old_binary = Client::open(uri(*old_, "?protocol=binary")).value();
  old_binary.set(key, "old").value();
  EXPECT_EQ(binary.set(key, "new").error().outcome, Outcome::invalid);
  EXPECT_EQ(binary.remove(key).error().outcome, Outcome::invalid);
  const std::string_view name = key;
  EXPECT_EQ(binary.remove_many({&name, 1})[0].result.error().outcome, Outcome::invalid);
  EXPECT_EQ(data(old_binary, key), "old");
  EXPECT_TRUE(binary.possibly_stale().empty());
}

TEST_F(MovingCache, ATimeoutOutOfRangeIsRefusedAsByAClient) {
  MigratingCache cache = cache_in(Stage::switched);
  const std::string_view name = "key";
  const SetItem item{"key", "v"};
  for (const std::chrono::nanoseconds bad : {0ns, -1ns, std::chrono::nanoseconds(48h)}) {
    const Error errors[] = {cache.get(name, {.timeout = bad}).error(),
                            cache.set(name, "v", {.timeout = bad}).error(),
                            cache.remove(name, {.timeout = bad}).error(),
                            cache.get_many({&name, 1}, {.timeout = bad})[0].result.error(),
                            cache.set_many({&item, 1}, {.timeout = bad})[0].result.error(),
                            cache.remove_many({&name, 1}, {.timeout = bad})[0].result.error()};
    for (const Error& error : errors) {
      EXPECT_EQ(error.outcome, Outcome::invalid) << error.message();
      EXPECT_EQ(error.reason, Reason::bad_argument) << error.message();
    }
  }
  EXPECT_TRUE(cache.set("key", "v", {.timeout = 24h}));
}

TEST_F(MovingCache, ACopyOfAValueThatNeverExpiresNeverExpires) {
  Client brief = Client::open(uri(*new_, "?default_ttl=100s")).value();
  from.set("for ever", "value", {.flags = 5}).value();
  EXPECT_EQ(copy_for_migration(from, brief, "for ever").value(), Copied::copied);
  const Value copy = to.get("for ever", {.ttl_left = true}).value().value();
  EXPECT_EQ(copy.data, "value");
  EXPECT_EQ(copy.flags, 5u);
  EXPECT_FALSE(copy.ttl_left);
  from.set("for now", "value", {.ttl = 1'000s}).value();
  EXPECT_EQ(move_for_migration(from, brief, "for now").value(), Copied::copied);
  const Value moved = to.get("for now", {.ttl_left = true}).value().value();
  ASSERT_TRUE(moved.ttl_left);
  EXPECT_GT(*moved.ttl_left, 100s);
}

TEST_F(MovingCache, AReaderThatThrowsHasNotReadTheStage) {
  bool throws = false;
  MigratingCache cache = opened(
                             [&]() -> Result<Migration> {
                               if (throws) throw std::runtime_error("not for everybody");
                               return Migration{.stage = Stage::mirror};
                             },
                             200ms)
                             .value();
  throws = true;
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (cache.get("key").has_value()) ASSERT_LT(std::chrono::steady_clock::now(), end);
  const Error error = cache.set("key", "v").error();
  EXPECT_EQ(error.outcome, Outcome::not_sent);
  EXPECT_EQ(error.reason, Reason::bad_configuration);
  EXPECT_EQ(error.text,
            "the function that reads the stage of the migration threw std::runtime_error");
  throws = false;
  EXPECT_TRUE(cache.set("key", "v"));
  const auto never = opened([]() -> Result<Migration> { throw 7; }, 1s);
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().text, "the function that reads the stage of the migration threw int");
}

TEST_F(MovingCache, AFileOfOtherServersIsRefused) {
  const auto cache = opened([] { return Migration{.from = {"other:11211"}}; }, 1s);
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().text, "the migration is between other servers: check \"from\"");
}

TEST_F(MovingCache, AWriteThatOnlyOneFleetTookIsUnknownAndItsKeyIsNamed) {
  MigratingCache cache = cache_in(Stage::mirror);
  new_.to_break().kill();
  const Error error = cache.set("key", "v", {.timeout = 2s}).error();
  EXPECT_EQ(error.outcome, Outcome::unknown) << error.message();
  EXPECT_EQ(data(from, "key"), "v");
  EXPECT_EQ(cache.possibly_stale(), std::vector<std::string>{"key"});
  EXPECT_TRUE(cache.possibly_stale().empty());
  EXPECT_EQ(cache.get("key").value()->data, "v");
}

}  // namespace
}  // namespace sheaf::test

#endif  // SHEAF_TEST_MEMCACHED_SERVERS
