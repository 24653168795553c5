// A cache moves from one memcached to another. Programs read and write it, each in a stage that it
// learns late; a mover carries the values over, stops anywhere, continues or goes back. The seed
// chooses the order. A run finds:
//  - a value that was read after a later write or removal had been acknowledged
//  - a value that no program wrote, a placeholder that a program sees
//  - a call that lasts longer than its deadline, or fails although nothing is wrong
// Programs and mover wait for each call, so the order of operations on a key is not in question.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include <sheaf/migration.h>

#include "extras/migration/stage_rules.h"
#include "tests/sim/kit/room_runs.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using Stage = MigrationStage;

constexpr std::chrono::milliseconds settle{400};
constexpr std::chrono::milliseconds longest_reading{100};  // of the stage

// The writes to a key, in the order of the simulation.
class WriteLog {
 public:
  struct Write {
    std::string value;  // empty: a removal
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;  // 0: it may still be carried out
    bool acknowledged = false;
  };

  std::size_t begin(std::string value, std::uint64_t order) {
    writes_.push_back({std::move(value), order, 0, false});
    return writes_.size() - 1;
  }
  void end(std::size_t write, bool acknowledged, std::uint64_t order) {
    writes_[write].ended = order;
    writes_[write].acknowledged = acknowledged;
  }
  // Returns what is wrong with a read of this value that began at `order`; empty: nothing.
  std::string check(const std::string& value, std::uint64_t order) const {
    const auto source = std::ranges::find(writes_, value, &Write::value);
    if (source == writes_.end()) return "nobody wrote " + value;
    if (source->ended == 0) return {};
    if (!source->acknowledged) return value + " was not written";
    for (const Write& later : writes_) {
      if (!later.acknowledged || later.ended > order || later.begun < source->ended) continue;
      return value + " was read after " +
             (later.value.empty() ? "its removal" : "the write of " + later.value);
    }
    return {};
  }

 private:
  std::deque<Write> writes_;
};

// Special: hits in the new fleet.
class MigrationRoom : public ThreadRoom {
 public:
  MigrationRoom(std::uint64_t seed, const Plants& plants)
      : ThreadRoom({Random(seed), {seed, EndpointKind::memcached, 2}}, plants) {
    for (std::uint64_t i = 1 + random_.below(8); i > 0; --i) {
      keys_.push_back({"key" + std::to_string(i), {}});
    }
  }

 protected:
  struct Key {
    std::string name;
    WriteLog log;
  };

  void run() override {
    draw_server_faults();
    std::vector<Random> randoms;
    for (std::uint64_t i = 2 + random_.below(3); i > 0; --i) randoms.emplace_back(random_.fork());
    run_threads(static_cast<unsigned>(randoms.size()) + 1, [&](unsigned number) {
      if (number == 0) return move_values(Random(random_.fork()));
      run_program(number, randoms[number - 1]);
    });
  }

 private:
  // A server takes longer to start again than a copy takes.
  void draw_server_faults() {
    if (!faulty_) return;
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      SimServer& server = stack_.broker(static_cast<unsigned>(random_.below(2)));
      const std::uint64_t kind = random_.below(3);
      const auto length = std::chrono::milliseconds(150 + random_.below(200));
      stack_.world.after(draw_us(random_, 4'000'000), [&server, kind, length](Now) {
        if (!server.serving()) return;
        if (kind == 0) server.reset_all();
        if (kind == 1) server.stop_for(length);
        if (kind == 2) server.cut_off_for(length);
      });
    }
  }

  Client open_fleet(unsigned server) {
    ClusterConfig config = stack_.config;
    config.nodes = {stack_.config.nodes[server]};
    auto client = Client::open(std::move(config));
    if (!client) require("the client does not open: " + client.error().message());
    return std::move(*client);
  }

  // ---- programs that use the cache

  void run_program(unsigned number, Random& random) {
    const bool slow_to_learn = faulty_ && random.below(2) == 0;
    const auto reader = [this, slow_to_learn, own = Random(random.fork())]() mutable {
      if (faulty_ && own.below(20) == 0) {
        Error error;
        error.text = "the file cannot be read";
        return Result<Migration>(Failure(std::move(error)));
      }
      Migration read{.stage = stage_};
      if (slow_to_learn) pass(draw_us(own, std::chrono::microseconds(longest_reading).count()));
      return Result<Migration>(std::move(read));
    };
    MigrationOptions options;
    options.settle = settle;
    auto cache = MigratingCache::open(open_fleet(0), open_fleet(1), reader, options);
    if (!cache) return check_error(cache.error());
    // Some programs write so seldom that values stay in place for whole stages.
    const std::uint64_t pace = random.below(2) == 0 ? 2'000 : 200'000;
    while (!moved_) {
      Key& key = keys_[random.below(keys_.size())];
      switch (quiet_ ? 8 : random.below(8)) {
        case 0:
          set(*cache, key, number);
          break;
        case 1:
          remove(*cache, key);
          break;
        case 2:
          get_many(*cache);
          break;
        case 3:
          set_many(*cache, number);
          break;
        default:
          get(*cache, key);
      }
      pass(draw_us(random, random.below(4) == 0 ? 60'000 : pace));
    }
    for (const MigrationCounts& counts : cache->counts()) {
      const bool to_first = migration::rules_of(counts.stage).reads[0] == migration::Fleet::to;
      if (to_first) counts_.special += static_cast<unsigned>(counts.hits - counts.second_hits);
    }
  }

  std::string fresh_value(const Key& key, unsigned number) {
    return key.name + "." + std::to_string(number) + "." + std::to_string(++values_);
  }

  template <class T>
  void end_write(Key& key, std::size_t write, const Result<T>& done) {
    if (done) return key.log.end(write, true, ++order_);
    check_error(done.error());
    if (done.error().outcome != Outcome::unknown) key.log.end(write, false, ++order_);
  }
  void end_read(Key& key, std::uint64_t begun, const Result<GetResult>& got) {
    if (!got) return check_error(got.error());
    if (*got) require(key.log.check((*got)->data, begun));
  }

  void get(MigratingCache& cache, Key& key) {
    const std::uint64_t begun = ++order_;
    const Start started = begin_call();
    const auto got = cache.get(key.name);
    end_call(started, stack_.config.timeout + longest_reading);
    end_read(key, begun, got);
  }
  void set(MigratingCache& cache, Key& key, unsigned number) {
    const std::string value = fresh_value(key, number);
    const std::size_t write = key.log.begin(value, ++order_);
    const Start started = begin_call();
    const auto done = cache.set(key.name, value);
    end_call(started, stack_.config.timeout + longest_reading);
    end_write(key, write, done);
  }
  void remove(MigratingCache& cache, Key& key) {
    const std::size_t write = key.log.begin({}, ++order_);
    const Start started = begin_call();
    const auto done = cache.remove(key.name);
    end_call(started, stack_.config.timeout + longest_reading);
    end_write(key, write, done);
  }
  void get_many(MigratingCache& cache) {
    const std::uint64_t begun = ++order_;
    std::vector<std::string_view> names;
    for (const Key& key : keys_) names.push_back(key.name);
    const Start started = begin_call();
    const auto got = cache.get_many(names);
    end_call(started, stack_.config.timeout + longest_reading);
    for (std::size_t i = 0; i < got.size(); ++i) end_read(keys_[i], begun, got[i].result);
  }
  void set_many(MigratingCache& cache, unsigned number) {
    std::vector<std::string> values;
    std::vector<SetItem> items;
    std::vector<std::size_t> writes;
    for (Key& key : keys_) {
      values.push_back(fresh_value(key, number));
      writes.push_back(key.log.begin(values.back(), ++order_));
    }
    for (std::size_t i = 0; i < keys_.size(); ++i) items.push_back({keys_[i].name, values[i]});
    const Start started = begin_call();
    const auto done = cache.set_many(items);
    end_call(started, stack_.config.timeout + longest_reading);
    for (std::size_t i = 0; i < done.size(); ++i) end_write(keys_[i], writes[i], done[i].result);
  }

  // ---- who carries the values over

  void move_values(Random random) {
    pass(draw_us(random, 20'000));
    Client from = open_fleet(0);
    Client to = open_fleet(1);
    for (int steps = 0; steps < 9 && stage_ != Stage::after; ++steps) {
      const bool back = random.below(4) == 0;
      back ? step_back(from, to, random) : step_forward(from, to, random);
      pass(draw_us(random, 100'000));
    }
    moved_ = true;
  }

  // In some stages no program writes, at first or at all, so values stay in place.
  void begin_stage(Stage stage) {
    stage_ = stage;
    quiet_ = stage != Stage::after && order_ % 2 == 0;
    ++counts_.changes;
    pass(plants_.mover == MoverBug::hasty ? 0ms : settle);
    quiet_ = quiet_ && order_ % 2 == 0;
  }

  // True if `act` succeeded for each key. It may stop anywhere, like a program that is killed.
  template <class Act>
  bool each_key(Random& random, const Act& act) {
    for (Key& key : keys_) {
      if (random.below(40) == 0) return false;
      const auto done = act(key.name);
      if (!done) {
        check_error(done.error());
        return false;
      }
      if (random.below(3) == 0) pass(draw_us(random, 5'000));
    }
    return true;
  }

  Result<Copied> copy(Client& from, Client& to, const std::string& key) {
    if (plants_.mover != MoverBug::blind) return copy_for_migration(from, to, key);
    const auto read = from.get(key);
    if (!read) return Failure(read.error());
    if (!*read) return Copied::absent;
    pass(100ms);
    const auto put = to.set(key, (*read)->data, {.condition = SetCondition::if_absent});
    if (!put) return Failure(put.error());
    return Copied::copied;
  }

  Result<Copied> move(Client& from, Client& to, const std::string& key) {
    if (plants_.mover != MoverBug::blind) {
      return move_for_migration(from, to, key, {});
    }
    const auto copied = copy(from, to, key);
    const auto removed = from.remove(key);
    return removed ? copied : Result<Copied>(Failure(removed.error()));
  }

  void step_forward(Client& from, Client& to, Random& random) {
    switch (stage_) {
      case Stage::before:
        if (each_key(random, [&](auto& key) { return to.remove(key); })) begin_stage(Stage::mirror);
        return;
      case Stage::mirror:
        if (!each_key(random, [&](auto& key) { return copy(from, to, key); })) return;
        if (!each_key(random,
                      [&](auto& key) { return drop_stale_copy(from, to, key, true, {}); })) {
          return;
        }
        return begin_stage(Stage::switched);
      case Stage::switched:
      case Stage::restore:
        return begin_stage(stage_ == Stage::restore ? Stage::switched : Stage::drain);
      case Stage::drain:
        if (plants_.mover == MoverBug::leaves_values) return begin_stage(Stage::after);
        each_key(random, [&](auto& key) { return move(from, to, key); });  // some values may remain
        return begin_stage(Stage::closing);
      case Stage::closing:
        return begin_stage(Stage::after);
      case Stage::after:
        return;
    }
  }

  void step_back(Client& from, Client& to, Random& random) {
    switch (stage_) {
      case Stage::mirror:
        return begin_stage(Stage::before);
      case Stage::switched:
        return begin_stage(Stage::restore);
      case Stage::restore:
        if (!each_key(random, [&](auto& key) { return copy(to, from, key); })) return;
        if (!each_key(random,
                      [&](auto& key) { return drop_stale_copy(to, from, key, false, {}); })) {
          return;
        }
        return begin_stage(Stage::mirror);
      case Stage::closing:
        return begin_stage(Stage::drain);
      case Stage::drain:
        return begin_stage(Stage::switched);
      case Stage::before:
      case Stage::after:
        return;
    }
  }

  std::deque<Key> keys_;
  Stage stage_ = Stage::before;
  bool moved_ = false;
  bool quiet_ = false;
  std::uint64_t order_ = 0;
  unsigned values_ = 0;
};

TEST(MigrationRoom, WhatWasAcknowledgedIsNeverFollowedByAnOlderValueForEverySeed) {
  const Seeds seeds = seeds_of(1200);
  const RoomCounts sum = run_seeds<MigrationRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.special, seeds.count());
  EXPECT_GT(sum.changes, 2 * seeds.count());
  EXPECT_LT(sum.failures, sum.calls / 3);
}

TEST(MigrationRoom, ASeedReplaysExactly) { expect_replays<MigrationRoom>(20); }

TEST(MigrationRoom, AMoverThatDoesNotWaitForThoseInTheStageBeforeIsFound) {
  EXPECT_GT(first_finding<MigrationRoom>({.mover = MoverBug::hasty}, "was read after"), 0u);
}

TEST(MigrationRoom, AMoverThatCopiesWithoutAPlaceholderIsFound) {
  EXPECT_GT(first_finding<MigrationRoom>({.mover = MoverBug::blind}, "was read after"), 0u);
}

TEST(MigrationRoom, AMoverThatLeavesValuesAndSkipsTheClosingStageIsFound) {
  EXPECT_GT(first_finding<MigrationRoom>({.mover = MoverBug::leaves_values}, "was read after"), 0u);
}

}  // namespace
}  // namespace sheaf::sim
