// The locker in the simulated network: workers count under a lock while they are stopped at the
// worst moments, messages come late, twice or never, brokers restart and clocks step.

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "protocol/statestore/clock.h"
#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_mangler.h"
#include "tests/sim/lock_worker.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// The faults of a seed.
struct LockMix {
  bool halt = false, mangle = false, jitter = false, stop = false, cut = false, reset = false;
  bool crash = false, keep = false, wall = false;
  MangleRates rates;

  LockMix() = default;
  explicit LockMix(Random& random) {
    const auto toss = [&] { return random.below(2) == 0; };
    halt = toss(), mangle = toss(), jitter = toss(), stop = toss(), cut = toss(), reset = toss();
    crash = toss(), keep = toss(), wall = random.below(4) == 0;
    rates.delay = rates.drop = rates.twice = rates.swap = 0.03;
    rates.most_delay = 400ms;
  }
  std::string describe() const {
    std::ostringstream out;
    out << "halt " << halt << " mangle " << mangle << " jitter " << jitter << " stop " << stop
        << " cut " << cut << " reset " << reset << " crash " << crash << " keep " << keep
        << " wall " << wall;
    return out.str();
  }
};

class LockRun {
 public:
  // Faults and workers drawn by the seed.
  LockRun(std::uint64_t seed, WorkerOptions options)
      : random_(seed ^ 0x10c4), mix_(random_), stack_(seed, 1) {
    if (mix_.halt) options.stand_still = 0.1;
    if (random_.below(3) == 0) options.lease = 1500ms;  // outlasts a restart
    options.longest_still = 3 * options.lease;
    prepare(options);
  }
  // Faults and workers with which a control loses increments.
  LockRun(std::uint64_t seed, const WorkerOptions& options, const LockMix& mix)
      : random_(seed ^ 0x10c4), mix_(mix), stack_(seed, 1) {
    prepare(options);
  }
  std::string describe() const { return mix_.describe(); }

  void run() {
    for (const auto& worker : workers_) worker->begin();
    for (int step = 0; step < 40; ++step) {
      fault();
      go_on(std::chrono::milliseconds(random_.below(300)));
    }
    settle();
  }

  // Call after the faults. True if the current counter lacks an acknowledged increment.
  bool lost() {
    const std::string value = counter();
    if (value.empty()) return false;  // it was lost with its store
    const std::size_t colon = value.find(':');
    unsigned number = 0;
    std::from_chars(value.data() + colon + 1, value.data() + value.size(), number);
    return number < counter_.acknowledged[value.substr(0, colon)];
  }
  // Every worker can count again, although workers still halt now and then.
  void expect_recovery() {
    if (mix_.wall) return;  // a store refuses writes until its clock has caught up
    std::vector<unsigned> before;
    for (const auto& worker : workers_) before.push_back(worker->rounds());
    const Deadline end = stack_.world.now().mono + 60s;
    const auto all_counted = [&] {
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (workers_[i]->rounds() == before[i]) return false;
      }
      return true;
    };
    while (!all_counted() && stack_.world.now().mono < end) go_on(1s);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      EXPECT_GT(workers_[i]->rounds(), before[i]) << "worker " << i << " waits for ever";
    }
  }
  unsigned rounds() const { return sum(&LockWorker::rounds); }
  unsigned losses() const { return sum(&LockWorker::losses); }
  unsigned refused() const { return sum(&LockWorker::refused); }
  unsigned pairs_of_believers() const { return both_believe_; }

  void expect_rising_tokens() const {
    if (mix_.crash && !mix_.keep) return;  // the store's clock was lost with it
    using protocol::statestore::parse_timestamp;
    for (std::size_t i = 1; i < counter_.tokens.size(); ++i) {
      EXPECT_LT(*parse_timestamp(counter_.tokens[i - 1]), *parse_timestamp(counter_.tokens[i]));
    }
  }
  void finish() {
    for (const auto& worker : workers_) worker->finish();
    go_on(15s);
  }

 private:
  void prepare(const WorkerOptions& options) {
    counter_.lock = "lock";
    counter_.key = "{lock}counter";
    stack_.config.pool_max = 1 + static_cast<unsigned>(random_.below(2));
    stack_.store(0).keep_data = mix_.keep;
    SimServer& broker = stack_.broker(0);
    if (mix_.jitter) broker.faults.jitter = 150ms;
    if (mix_.reset) broker.faults.reset = 0.002;
    if (mix_.mangle) {
      broker.mangle = [this] {
        return std::make_unique<PublishMangler>(mix_.rates, random_, mangled_);
      };
    }
    for (unsigned i = 0; i < 3; ++i) {
      workers_.push_back(
          std::make_unique<LockWorker>(i, stack_.add_client(), counter_, random_, options));
    }
  }

  void go_on(std::chrono::nanoseconds time) {
    stack_.world.run(stack_.world.now().mono + time, [this] {
      look_at_beliefs();
      return false;
    });
  }

  // A holder that halted across a restart of a store that forgot its lock cannot know this; it
  // believes for at most its lease.
  bool is_excused(const LockWorker& worker) const {
    return worker.granted_at() <= forgot_at_ &&
           (worker.stood_still_since(forgot_at_) || cut_at_ > worker.granted_at());
  }
  void look_at_beliefs() {
    unsigned believers = 0;
    for (const auto& worker : workers_) {
      if (worker->believes() && !is_excused(*worker)) ++believers;
    }
    if (believers > 1) ++both_believe_;
  }

  void fault() {
    SimServer& broker = stack_.broker(0);
    const auto length = std::chrono::milliseconds(10 + random_.below(900));
    if (!broker.serving()) return;
    switch (random_.below(10)) {
      case 0:
        if (mix_.stop) {
          broker.stop_for(length);
        }
        return;
      case 1:
        if (mix_.cut) {
          cut_at_ = stack_.world.now().mono;
          broker.cut_off_for(length);
        }
        return;
      case 2:
        if (mix_.crash) {
          if (!mix_.keep) forgot_at_ = stack_.world.now().mono;
          broker.crash_for(length);
        }
        return;
      case 3:
        if (mix_.wall) broker.wall_offset = step_of_clock();
        return;
      case 4:
        if (mix_.wall) stack_.client(0).loop().set_wall_offset(step_of_clock());
        return;
      case 5:
        if (mix_.halt) {
          workers_[random_.below(workers_.size())]->stand_still(length);
        }
        return;
      default:
        return;
    }
  }
  std::chrono::milliseconds step_of_clock() {
    return std::chrono::milliseconds(3'600'000) * (static_cast<int>(random_.below(3)) - 1);
  }

  void settle() {
    SimServer& broker = stack_.broker(0);
    broker.faults = {};
    broker.mangle = nullptr;
    broker.wall_offset = 0ms;
    stack_.client(0).loop().set_wall_offset(0ms);
    go_on(1s);
    if (!broker.alive()) broker.restart();
    broker.reset_all();  // manglers end with their links
    go_on(10s);
  }

  // Reads the counter with any client, since a client whose clock was an hour ahead sends nothing
  // until time has caught up.
  std::string counter() {
    for (unsigned i = 0; i < 20; ++i) {
      const Op& op = stack_.client(i % 3).get(counter_.key, 1s);
      go_on(1500ms);
      if (op.answered) return op.got;
    }
    ADD_FAILURE() << "the counter cannot be read";
    return {};
  }
  unsigned sum(unsigned (LockWorker::*what)() const) const {
    unsigned total = 0;
    for (const auto& worker : workers_) total += ((*worker).*what)();
    return total;
  }

  Random random_;
  LockMix mix_;
  MangleCounts mangled_;
  Counter counter_;
  std::vector<std::unique_ptr<LockWorker>> workers_;  // outlive their clients
  Stack stack_;
  Deadline forgot_at_{-1};
  Deadline cut_at_{-1};
  unsigned both_believe_ = 0;
};

TEST(Locks, NeverTwoBelieversAndNoAcknowledgedIncrementIsLostForEverySeed) {
  unsigned rounds = 0;
  unsigned losses = 0;
  const Seeds seeds = seeds_of(200);
  for (const std::uint64_t seed : seeds) {
    LockRun run(seed, {});
    SCOPED_TRACE(run.describe());
    run.run();
    EXPECT_EQ(run.pairs_of_believers(), 0u);
    run.expect_recovery();
    run.expect_rising_tokens();
    run.finish();
    EXPECT_FALSE(run.lost());
    rounds += run.rounds();
    losses += run.losses();
  }
  if (!seeds.adds_up()) return;
  EXPECT_GT(rounds, seeds.count() * 5);
  EXPECT_GT(losses, seeds.count() / 2);
}

WorkerOptions careless() {
  WorkerOptions options;
  options.controls.check = false;
  return options;
}

// The token alone protects a program that never asks if it still holds the lock.
TEST(Locks, WhoeverNeverLooksWhetherTheLockIsHeldLosesNothingEither) {
  for (const std::uint64_t seed : seeds_of(200)) {
    LockRun run(seed, careless());
    run.run();
    run.finish();
    ASSERT_FALSE(run.lost()) << run.describe();
  }
}

// ---- controls: each leaves out a part of the locker, and most seeds must show why it is needed

constexpr unsigned control_seeds = 20;

// The number of seeds of a control that lose an acknowledged increment.
unsigned seeds_that_lose(const WorkerOptions& options, const LockMix& mix) {
  unsigned count = 0;
  for (std::uint64_t seed = 1; seed <= control_seeds; ++seed) {
    LockRun run(seed, options, mix);
    run.run();
    run.finish();
    if (run.lost()) ++count;
  }
  return count;
}

// Holders halt for longer than their lease, between half of their steps, so each of them writes
// after another one has begun.
WorkerOptions sleepy() {
  WorkerOptions options = careless();
  options.stand_still = 0.5;
  options.longest_still = 3 * options.lease;
  return options;
}
LockMix halts() {
  LockMix mix;
  mix.halt = true;
  return mix;
}

TEST(Locks, WithoutTheClaimAcknowledgedIncrementsAreLost) {
  EXPECT_EQ(seeds_that_lose(sleepy(), halts()), 0u) << "with it none is";
  WorkerOptions options = sleepy();
  options.controls.claim = false;
  EXPECT_GE(seeds_that_lose(options, halts()), control_seeds * 3 / 4);
}

TEST(Locks, WithoutTheTokenAcknowledgedIncrementsAreLost) {
  WorkerOptions options = sleepy();
  options.controls.token = false;
  EXPECT_GE(seeds_that_lose(options, halts()), control_seeds * 3 / 4);
}

// A store that restarts has forgotten the lock and grants it to the next client that asks, while
// the lease of the previous holder is still running.
TEST(Locks, WithoutTheBondToTheConnectionTwoBelieveAfterARestart) {
  LockMix mix;
  mix.crash = true;
  WorkerOptions options;
  options.lease = 5s;
  options.linger = 1;
  for (const bool bound : {true, false}) {
    options.controls.bound = bound;
    unsigned both = 0;
    for (std::uint64_t seed = 1; seed <= control_seeds; ++seed) {
      LockRun run(seed, options, mix);
      run.run();
      if (run.pairs_of_believers() > 0) ++both;
    }
    if (bound) {
      EXPECT_EQ(both, 0u);
    } else {
      EXPECT_GE(both, control_seeds * 3 / 4);
    }
  }
}

}  // namespace
}  // namespace sheaf::sim
