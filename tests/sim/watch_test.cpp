// Watches on the real stack while brokers crash, hang and disappear and connections break. Whatever
// happens, each watcher ends on what the store holds, never receives an older version after a newer
// one, and gets a gap for every time in which it could receive nothing. Clients start up to four
// writes of a key at once, and each store's log must have them in that order (WriteOrder).

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "protocol/statestore/clock.h"
#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_mangler.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::calls::WatchStart;
using client::calls::WatchUpdate;
using protocol::VersionOrder;
using protocol::statestore::compare_versions;

// Watches keys through one client and records what it receives.
class Watcher final : private client::calls::WatchSink {
 public:
  struct Heard {
    WatchEvent::Kind kind;
    std::optional<std::string> value;
    std::string version;
    Deadline from{0};
    Deadline until{0};
    Deadline at{0};
    std::string error;
  };

  explicit Watcher(StackClient& client) : client_(client) {}

  void watch(const std::string& key, WatchStart start = WatchStart::current) {
    client_.later([this, key, start](Now now) { client_.watches().add(key, *this, start, now); });
  }
  void stop(const std::string& key) {
    client_.later([this, key](Now now) { client_.watches().remove(key, *this, now); });
  }
  const std::vector<Heard>& heard(const std::string& key) { return heard_[key]; }
  std::vector<WatchEvent::Kind> kinds(const std::string& key) {
    std::vector<WatchEvent::Kind> kinds;
    for (const Heard& heard : heard_[key]) kinds.push_back(heard.kind);
    return kinds;
  }
  // What the key holds according to the last event that this watcher received.
  std::optional<std::string> state(const std::string& key) {
    std::optional<std::string> value = "(nothing heard)";
    for (const Heard& heard : heard_[key]) {
      using enum WatchEvent::Kind;
      if (heard.kind == current || heard.kind == set || heard.kind == deleted) value = heard.value;
    }
    return value;
  }
  bool never_back(const std::string& key) {
    std::string newest;
    for (const Heard& heard : heard_[key]) {
      if (heard.version.empty()) continue;
      const auto order = compare_versions(heard.version, newest);
      if (order == VersionOrder::older) return false;
      newest = heard.version;
    }
    return true;
  }
  bool heard_of(const std::string& key, std::string_view version) {
    return std::ranges::any_of(heard_[key], [&](const Heard& heard) {
      return compare_versions(heard.version, version) == VersionOrder::same;
    });
  }
  // True if a gap of the key overlaps the time from `from` to `until`.
  bool blind(const std::string& key, Deadline from, Deadline until) {
    return std::ranges::any_of(heard_[key], [&](const Heard& heard) {
      return heard.kind == WatchEvent::Kind::gap && heard.from <= until && from <= heard.until;
    });
  }

 private:
  void on_update(std::string_view key, const WatchUpdate& update, Now now) override {
    std::optional<std::string> value;
    if (update.value) value = std::string(*update.value);
    heard_[std::string(key)].push_back({update.kind, value, std::string(update.version),
                                        update.from.mono, update.until.mono, now.mono,
                                        update.error != nullptr ? update.error->message() : ""});
  }

  StackClient& client_;
  std::map<std::string, std::vector<Heard>> heard_;
};

using Kinds = std::vector<WatchEvent::Kind>;
using enum WatchEvent::Kind;

struct WatchStack : testing::Test {
  Stack stack{7, 1};
  StackClient& reader = stack.add_client();
  StackClient& writer = stack.add_client();
  Watcher watcher{reader};

  void put(const std::string& key, const std::string& value) {
    writer.set(key, value, 1s);
    stack.world.run_for(20ms);
  }
  // Sets the value with a client that has met no fault.
  void put_afresh(const std::string& key, const std::string& value) {
    const Op& op = stack.add_client().set(key, value, 1s);
    stack.world.run_for(5ms);
    EXPECT_TRUE(op.answered);
  }
};

TEST_F(WatchStack, AWatcherHearsWhatThereIsAndEveryChange) {
  put("k", "1");
  watcher.watch("k");
  watcher.watch("other");
  stack.world.run_for(50ms);
  put("k", "2");
  writer.remove("k", 1s);
  stack.world.run_for(20ms);
  put("k", "3");
  EXPECT_EQ(watcher.kinds("k"), (Kinds{current, set, deleted, set}));
  EXPECT_EQ(watcher.heard("k")[0].value, "1");
  EXPECT_EQ(watcher.heard("k")[1].value, "2");
  EXPECT_EQ(watcher.state("k"), "3");
  EXPECT_EQ(watcher.kinds("other"), Kinds{current});
  EXPECT_EQ(watcher.state("other"), std::nullopt);
  EXPECT_EQ(stack.broker(0).connections(), 3U);  // two of pools, one for all watches
}

TEST_F(WatchStack, TheConnectionGoesSomeSecondsAfterTheLastWatch) {
  watcher.watch("a");
  watcher.watch("b");
  stack.world.run_for(50ms);
  EXPECT_EQ(stack.store(0).engine().watches(), 2U);
  watcher.stop("a");
  watcher.stop("b");
  stack.world.run_for(50ms);
  EXPECT_EQ(stack.store(0).engine().watches(), 0U);
  EXPECT_EQ(stack.broker(0).connections(), 3U);
  stack.world.run_for(6s);
  EXPECT_EQ(stack.broker(0).connections(), 2U);
  watcher.watch("a");
  stack.world.run_for(50ms);
  EXPECT_EQ(watcher.kinds("a"), (Kinds{current, current}));
}

TEST_F(WatchStack, ManyWatchersOfOneKeyAreOneRegistration) {
  Watcher second(reader);
  Watcher quiet(reader);
  watcher.watch("k");
  second.watch("k");
  quiet.watch("k", WatchStart::quiet);
  stack.world.run_for(50ms);
  EXPECT_EQ(stack.store(0).engine().watches(), 1U);
  put("k", "1");
  watcher.stop("k");
  stack.world.run_for(20ms);
  EXPECT_EQ(stack.store(0).engine().watches(), 1U);
  put("k", "2");
  EXPECT_EQ(watcher.kinds("k"), (Kinds{current, set}));
  EXPECT_EQ(second.kinds("k"), (Kinds{current, set, set}));
  EXPECT_EQ(quiet.kinds("k"), (Kinds{set, set}));
}

TEST_F(WatchStack, ABrokenConnectionIsReportedWithItsTimeAndWhatWasMissed) {
  put("k", "1");
  watcher.watch("k");
  watcher.watch("same");
  stack.world.run_for(3s);
  const Deadline broken = stack.world.now().mono;
  stack.broker(0).reset_all();
  put_afresh("k", "2");
  stack.world.run_for(3s);
  EXPECT_EQ(watcher.kinds("k"), (Kinds{current, gap, set}));
  EXPECT_EQ(watcher.kinds("same"), (Kinds{current, gap}));
  EXPECT_EQ(watcher.state("k"), "2");
  const auto& missed = watcher.heard("k")[1];
  EXPECT_GE(missed.from, broken - 2100ms);
  EXPECT_LE(missed.from, broken);
  EXPECT_GE(missed.until, broken);
  EXPECT_LE(missed.until, broken + 200ms);
}

TEST_F(WatchStack, ASilentCutIsNoticedInThreeSeconds) {
  put("k", "1");
  watcher.watch("k");
  stack.world.run_for(10s);
  const Deadline cut = stack.world.now().mono;
  stack.broker(0).cut_off();
  stack.world.run_for(1ms);
  stack.broker(0).reconnect();  // what was sent on the old connections stays lost
  put_afresh("k", "2");
  EXPECT_EQ(watcher.kinds("k"), Kinds{current});
  stack.world.run_for(3100ms);
  EXPECT_EQ(watcher.kinds("k"), (Kinds{current, gap, set}));
  EXPECT_GE(watcher.heard("k")[1].from, cut - 2100ms);
  EXPECT_LE(watcher.heard("k")[1].from, cut);
  EXPECT_LE(watcher.heard("k")[1].until, cut + 3100ms);
}

TEST_F(WatchStack, AStoppedBrokerIsAGapAndAStoppedClientIsNone) {
  watcher.watch("k");
  stack.world.run_for(10s);
  reader.loop().pause(10s);
  stack.world.run_for(12s);
  EXPECT_EQ(watcher.kinds("k"), Kinds{current});
  stack.broker(0).stop();
  stack.world.run_for(20s);
  stack.broker(0).go_on();
  stack.world.run_for(2s);
  put("k", "1");
  EXPECT_EQ(watcher.state("k"), "1");
  EXPECT_EQ(watcher.kinds("k").back(), set);
  EXPECT_TRUE(std::ranges::count(watcher.kinds("k"), gap) == 1);
}

TEST_F(WatchStack, ABrokerThatLostItsMemoryIsBelieved) {
  put("k", "1");
  put("stays", "away");
  watcher.watch("k");
  watcher.watch("stays");
  stack.world.run_for(1s);
  stack.broker(0).crash();
  stack.broker(0).wall_offset = -30s;  // makes new versions start below the old ones
  stack.world.run_for(100ms);
  stack.broker(0).restart();
  stack.world.run_for(3s);
  EXPECT_EQ(watcher.state("k"), std::nullopt);
  EXPECT_EQ(watcher.kinds("k").back(), deleted);
  EXPECT_EQ(std::ranges::count(watcher.kinds("k"), gap), 1);
  put("k", "again");
  EXPECT_EQ(watcher.state("stays"), std::nullopt);
}

TEST_F(WatchStack, ANodeThatIsNotThereIsReportedOnce) {
  stack.broker(0).crash();
  watcher.watch("k");
  stack.world.run_for(20s);
  EXPECT_EQ(watcher.kinds("k"), Kinds{failed});
  EXPECT_NE(watcher.heard("k")[0].error.find("b0:1883"), std::string::npos);
  stack.broker(0).restart();
  stack.world.run_for(2s);
  EXPECT_EQ(watcher.kinds("k"), (Kinds{failed, current}));
}

TEST_F(WatchStack, AThousandKeysShareOneConnection) {
  for (int i = 0; i < 1000; ++i) watcher.watch("k" + std::to_string(i));
  stack.world.run_for(1s);
  EXPECT_EQ(stack.broker(0).connections(), 3U);
  EXPECT_EQ(stack.store(0).engine().watches(), 1000U);
  stack.broker(0).reset_all();
  stack.world.run_for(2s);
  EXPECT_EQ(stack.broker(0).connections(), 3U);
  for (int i = 0; i < 1000; ++i) writer.set("k" + std::to_string(i), "v", 1s);
  stack.world.run_for(1s);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(watcher.kinds("k" + std::to_string(i)), (Kinds{current, gap, set}));
  }
}

// An audit finds a notification that a broker silently drops.
TEST_F(WatchStack, ALostNotificationIsFoundAndReportedAsAGap) {
  watcher.watch("k");
  stack.world.run_for(1s);
  MangleRates rates;
  rates.drop = 1;
  MangleCounts counts;
  Random random(1);
  StackClient& third = stack.add_client();
  Watcher other(third);
  stack.broker(0).mangle = [&] { return std::make_unique<PublishMangler>(rates, random, counts); };
  rates.drop = 0;
  other.watch("k");
  stack.world.run_for(1s);
  rates.drop = 1;
  const Deadline lost = stack.world.now().mono;
  put("k", "1");
  rates.drop = 0;
  stack.world.run_for(80s);
  EXPECT_EQ(watcher.kinds("k"), (Kinds{current, set}));
  EXPECT_EQ(other.kinds("k"), (Kinds{current, gap, set}));
  EXPECT_TRUE(other.blind("k", lost, lost + 20ms));
}

// ---- many seeds

// The faults of a seed. Without `mangle`, each change is reported or falls into a gap.
struct WatchMix {
  bool crash, stop, cut, reset, pause, pieces, jitter, mangle;
  MangleRates rates;

  explicit WatchMix(Random& random) {
    const auto toss = [&] { return random.below(2) == 0; };
    crash = toss(), stop = toss(), cut = toss(), reset = toss(), pause = toss();
    pieces = toss(), jitter = toss(), mangle = toss();
    rates.delay = rates.twice = rates.swap = 0.05;
    rates.drop = 0.01;
  }
  std::string describe() const {
    std::ostringstream out;
    out << "crash " << crash << " stop " << stop << " cut " << cut << " reset " << reset
        << " pause " << pause << " pieces " << pieces << " jitter " << jitter << " mangle "
        << mangle;
    return out.str();
  }
};

class WatchRun {
 public:
  explicit WatchRun(std::uint64_t seed, bool drop_stale = true)
      : random_(seed ^ 0xa7c4), mix_(random_), stack_(seed, 2) {
    if (!drop_stale) mix_.mangle = true;
    stack_.keep_log();
    for (unsigned i = 0; i < 2; ++i) set_faults(stack_.broker(i));
    stack_.watching.key.controls.drop_stale = drop_stale;
    stack_.add_client();
    stack_.add_client();
    for (unsigned i = 0; i < 6; ++i) keys_.push_back("k" + std::to_string(i));
    for (unsigned i = 0; i < 2; ++i) {
      for (unsigned c = 0; c < 2; ++c) {
        watchers_.push_back(std::make_unique<Watcher>(stack_.client(c)));
        for (const std::string& key : keys_) watchers_.back()->watch(key);
      }
    }
  }
  std::string describe() const { return mix_.describe(); }
  std::uint64_t trace() const { return stack_.world.trace(); }
  bool went_back() {
    return std::ranges::any_of(watchers_, [&](const auto& watcher) {
      return std::ranges::any_of(keys_, [&](const auto& key) { return !watcher->never_back(key); });
    });
  }

  void run() {
    stack_.world.run_for(1s);
    for (int step = 0; step < 60; ++step) {
      for (unsigned c = 0; c < stack_.clients(); ++c) work(stack_.client(c));
      if (step % 5 == 0) fault();
      if (step % 7 == 0) come_and_go();
      stack_.world.run_for(std::chrono::milliseconds(random_.below(150)));
    }
    settle();
  }
  void check() {
    for (const auto& watcher : watchers_) {
      for (const std::string& key : keys_) {
        ASSERT_TRUE(watcher->never_back(key)) << key;
        ASSERT_EQ(watcher->state(key), final_[key]) << key;
        if (!mix_.mangle) check_blindness(*watcher, key);
      }
    }
    WriteOrder order;
    for (unsigned c = 0; c < stack_.clients(); ++c) order.add(c, stack_.client(c).operations());
    ASSERT_EQ(order.judge(stack_.log()), std::vector<std::string>());
  }

 private:
  void set_faults(SimServer& server) {
    if (mix_.pieces) server.faults.max_piece = 1 + random_.below(20);
    if (mix_.reset) server.faults.reset = 0.002;
    if (mix_.jitter) server.faults.jitter = 20ms;
    if (mix_.mangle) {
      server.mangle = [this] {
        return std::make_unique<PublishMangler>(mix_.rates, random_, mangled_);
      };
    }
  }

  void work(StackClient& client) {
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      const std::string& key = keys_[random_.below(keys_.size())];
      const bool several = random_.below(4) == 0;
      for (std::uint64_t at_once = several ? 2 + random_.below(3) : 1; at_once > 0; --at_once) {
        write(client, key);
      }
    }
  }
  void write(StackClient& client, const std::string& key) {
    if (random_.below(4) == 0) {
      client.remove(key, 1s);
    } else {
      client.set(key, key + "=" + std::to_string(++written_), 1s);
    }
  }

  void fault() {
    SimServer& server = stack_.broker(static_cast<unsigned>(random_.below(2)));
    const auto length = std::chrono::milliseconds(random_.below(5000));
    if (!server.serving()) return;
    switch (random_.below(4)) {
      case 0:
        if (!mix_.crash) return;
        server.crash_for(length);
        return;
      case 1:
        if (!mix_.stop) return;
        server.stop_for(length);
        return;
      case 2:
        if (!mix_.cut) return;
        server.cut_off_for(length);
        return;
      default:
        if (mix_.pause) stack_.client(0).loop().pause(length);
        return;
    }
  }

  // A short-lived watcher joins and leaves, so registrations begin and end under faults.
  void come_and_go() {
    guests_.push_back(std::make_unique<Watcher>(stack_.client(1)));
    Watcher& guest = *guests_.back();
    const std::string& key = keys_[random_.below(keys_.size())];
    guest.watch(key);
    guest.watch("guests");
    stack_.world.after(std::chrono::milliseconds(random_.below(300)), [&guest, key](Now) {
      guest.stop(key);
      guest.stop("guests");
    });
  }

  // Ends the faults. One round of audits later every watcher must know what the store holds.
  void settle() {
    for (unsigned i = 0; i < 2; ++i) {
      stack_.broker(i).faults = {};
      stack_.broker(i).mangle = nullptr;
    }
    mix_.rates = {};
    stack_.world.run_for(100s);
    StackClient& judge = stack_.add_client();
    for (const std::string& key : keys_) {
      const Op& read = judge.get(key, 1s);
      stack_.world.run_for(100ms);
      ASSERT_TRUE(read.answered) << read.text;
      if (read.status == protocol::Status::done) final_[key] = read.got;
    }
  }

  // Each write that a store confirmed while the watcher watched was reported or fell into a gap.
  void check_blindness(Watcher& watcher, const std::string& key) {
    const Deadline begun = watcher.heard(key).empty() ? never : watcher.heard(key)[0].at;
    for (unsigned c = 0; c < stack_.clients(); ++c) {
      for (const Op& op : stack_.client(c).operations()) {
        if (op.key != key || op.started < begun || !op.answered || op.version.empty()) continue;
        if (op.verb != protocol::Verb::set || op.status != protocol::Status::done) continue;
        ASSERT_TRUE(watcher.heard_of(key, op.version) ||
                    watcher.blind(key, op.started, op.ended_at))
            << key << " " << op.value << " was missed without a word";
      }
    }
  }

  Random random_;
  WatchMix mix_;
  MangleCounts mangled_;
  Stack stack_;
  std::vector<std::string> keys_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::vector<std::unique_ptr<Watcher>> guests_;
  std::map<std::string, std::optional<std::string>> final_;
  unsigned written_ = 0;
};

TEST(WatchFaults, EveryWatcherEndsOnTheNewestAndKnowsWhereItWasBlindForEverySeed) {
  for (const std::uint64_t seed : seeds_of(200)) {
    WatchRun run(seed);
    SCOPED_TRACE(run.describe());
    run.run();
    if (!testing::Test::HasFailure()) run.check();
  }
}

TEST(WatchFaults, ASeedReplaysExactly) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    WatchRun one(seed);
    one.run();
    WatchRun two(seed);
    two.run();
    EXPECT_EQ(one.trace(), two.trace());
  }
}

// Control: without the rule that drops stale notifications, late ones come after newer ones.
TEST(WatchFaults, WithoutTheRuleOfVersionsWatchersGoBack) {
  unsigned back = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    WatchRun run(seed, false);
    run.run();
    back += run.went_back() ? 1 : 0;
  }
  EXPECT_GT(back, 5u);
}

}  // namespace
}  // namespace sheaf::sim
