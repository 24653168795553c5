// get_or_compute by several threads of one client and of two, in an order that the seed chooses. A
// run finds:
//  - a value that nobody made, two threads of a client that compute one key at once, and a second
//    computation although nothing is wrong
//  - what one function throws in the call of another
//  - a call that lasts longer than its deadlines and its own computation, or fails for nothing

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "tests/sim/kit/room_runs.h"

namespace sheaf::sim {
namespace {

// Special: computations.
class ComputeRoom final : public ThreadRoom {
 public:
  ComputeRoom(std::uint64_t seed, const Plants& plants)
      : ThreadRoom(draw(seed, 2), plants),
        clients_of_room_(1 + static_cast<unsigned>(random_.below(2))) {
    for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) {
      keys_.push_back({"key" + std::to_string(i), std::vector<unsigned>(clients_of_room_)});
    }
  }

 private:
  struct Key {
    std::string name;
    std::vector<unsigned> computing;  // now, of each client
    unsigned computed = 0;
    unsigned thrown = 0;
    bool slow = false;  // others may not have waited for all of it
    std::set<std::string> made{};
  };
  struct Thrown {
    unsigned thread;
  };

  void run() override {
    for (unsigned i = 0; i < clients_of_room_; ++i) clients_.push_back(open_client());
    draw_faults();
    std::vector<Random> randoms;
    for (std::uint64_t i = 2 + random_.below(4); i > 0; --i) randoms.emplace_back(random_.fork());
    run_threads(static_cast<unsigned>(randoms.size()), [&](unsigned number) {
      Random& random = randoms[number];
      for (Key& key : keys_) {
        if (random.below(2) == 0) pass(draw_us(random, 2'000));
        call(key, number, random);
      }
    });
    const bool once = calm() && counts_.failures == 0;
    end_faults();
    for (Key& key : keys_) check(key, once);
    clients_.clear();
  }

  void call(Key& key, unsigned thread, Random& random) {
    const auto client = static_cast<unsigned>(thread % clients_.size());
    ComputeOptions options;
    options.lease_beside = true;  // the simulated server has no leases
    std::chrono::nanoseconds own{0};
    const Start started = begin_call();
    try {
      const auto value = clients_[client].get_or_compute(key.name, options, [&] {
        const Deadline begun = stack_.world.now().mono;
        std::string made = compute(key, client, thread, random);
        own = stack_.world.now().mono - begun;
        return made;
      });
      // A leader may store for as long again.
      end_call(started, (own.count() > 0 ? 2 : 1) * stack_.config.timeout + own);
      if (value) {
        if (!key.made.contains(value->data)) require("nobody made " + value->data);
      } else {
        end_failed(key, value.error());
      }
    } catch (const Thrown& thrown) {
      if (thrown.thread != thread) require("what another function has thrown");
    }
  }

  void end_failed(const Key& key, const Error& error) {
    if (error.reason == Reason::timed_out && key.slow) {
      ++counts_.failures;
    } else {
      check_error(error);
    }
  }

  std::string compute(Key& key, unsigned client, unsigned thread, Random& random) {
    if (key.computing[client]++ > 0) require("two threads compute " + key.name + " at once");
    ++key.computed;
    ++counts_.special;
    if (random.below(4) == 0) {
      key.slow = true;
      pass(draw_us(random, 300'000));
    } else if (random.below(2) == 0) {
      const auto got = clients_[client].get("beside");
      if (!got) check_error(got.error());
    } else {
      pass(draw_us(random, 5'000));
    }
    --key.computing[client];
    if (random.below(5) == 0) {
      ++key.thrown;
      throw Thrown{thread};
    }
    return *key.made.insert(key.name + "." + std::to_string(key.computed)).first;
  }

  void check(const Key& key, bool once) {
    if (once && key.computed > key.thrown + 1) {
      require(key.name + " was computed " + std::to_string(key.computed) + " times");
    }
    const auto got = clients_.front().get(key.name);
    if (!got) return require("the key cannot be read: " + got.error().message());
    if (got->has_value() && !key.made.contains((*got)->data)) require("nobody made what is stored");
  }

  const unsigned clients_of_room_;
  std::deque<Key> keys_;
  std::vector<Client> clients_;
};

TEST(ComputeRoom, OneComputesAndAllGetTheValueForEverySeed) {
  const RoomCounts sum = run_seeds<ComputeRoom>(800);
  if (number_from_environment("SHEAF_SIM_SEED", 0) != 0) return;
  EXPECT_GT(sum.special, seeds_to_run(800));
  EXPECT_GT(sum.calls, 2 * sum.special);
  EXPECT_LT(sum.failures, sum.calls / 3);
}

TEST(ComputeRoom, ASeedReplaysExactly) { expect_replays<ComputeRoom>(20); }

TEST(ComputeRoom, AClientThatTakesTheRightOfAnotherForItsOwnIsFound) {
  EXPECT_LT(first_finding<ComputeRoom>({.session = Bug::takes_no_for_yes}, "was computed"), 100u);
}

TEST(ComputeRoom, AWaiterThatIsForgottenIsFound) {
  EXPECT_LT(first_finding<ComputeRoom>({.compute = {.tell_all = false}}, "failed for nothing"),
            100u);
}

TEST(ComputeRoom, ALeadThatIsNotPassedOnIsFound) {
  EXPECT_LT(first_finding<ComputeRoom>({.compute = {.pass_on = false}}, "failed for nothing"),
            200u);
}

}  // namespace
}  // namespace sheaf::sim
