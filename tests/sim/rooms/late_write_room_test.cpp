// Threads that set keys of their own on memcached servers that stop from time to time, so
// that sets end without an answer and are carried out later. Their connections differ: the client's
// own and extra connections. The seed chooses the order in which threads continue. A run finds
//  - a set that was carried out before an earlier one of the same thread on the same key
//  - a value that was acknowledged and is not there
//  - a call that lasts longer than its timeout

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/kit/room_runs.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// Special: sets that ended without an answer.
class LateWriteRoom final : public ThreadRoom {
 public:
  LateWriteRoom(std::uint64_t seed, const Plants& plants) : ThreadRoom(draw(seed, 1), plants) {
    stack_.keep_log();
    // What leaves first arrives first, on whatever connection, and none is cut.
    stack_.config.pool_max = 1;
    for (unsigned i = 0; i < stack_.size(); ++i) {
      stack_.broker(i).faults.jitter = 0us;
      stack_.broker(i).faults.reset = 0;
    }
    for (std::uint64_t i = 2 + random_.below(3); i > 0; --i) {
      Caller& caller = callers_.emplace_back(Caller{Random(random_.fork()), {}});
      for (const char* const key : {"a", "b"}) {
        caller.keys.push_back({std::to_string(callers_.size()) + key});
      }
    }
  }

 private:
  struct Key {
    std::string name;
    unsigned sets = 0;
    unsigned acknowledged = 0;  // the number of the last one that was
  };
  struct Caller {
    Random random;
    std::vector<Key> keys;
  };

  void run() override {
    client_.emplace(open_client());
    if (faulty_) draw_stops();
    run_threads(static_cast<unsigned>(callers_.size()),
                [this](unsigned number) { run_caller(callers_[number]); });
    if (random_.below(4) != 0) settle();
    client_.reset();
    for (const Caller& caller : callers_) {
      for (const Key& key : caller.keys) check_order(key);
    }
  }

  void draw_stops() {
    for (std::uint64_t i = 1 + random_.below(8); i > 0; --i) {
      SimServer& server = stack_.broker(static_cast<unsigned>(random_.below(stack_.size())));
      const auto length = std::chrono::milliseconds(1 + random_.below(400));
      stack_.world.after(draw_us(random_, 150'000), [&server, length](Now) {
        if (server.serving()) server.stop_for(length);
      });
    }
  }

  void run_caller(Caller& caller) {
    for (std::uint64_t i = 10 + caller.random.below(30); i > 0; --i) {
      Key& key = caller.keys[caller.random.below(caller.keys.size())];
      caller.random.below(4) == 0 ? get(key) : set(key);
      if (caller.random.below(4) == 0) pass(draw_us(caller.random, 30'000));
    }
  }

  void set(Key& key) {
    const unsigned number = ++key.sets;
    const Start started = begin_call();
    const auto result = client_->set(key.name, key.name + "-" + std::to_string(number));
    end_call(started);
    if (result) {
      key.acknowledged = number;
    } else {
      check_error(result.error());
      if (result.error().outcome == Outcome::unknown) ++counts_.special;
    }
  }

  void get(const Key& key) {
    const unsigned acknowledged = key.acknowledged;
    const Start started = begin_call();
    const auto got = client_->get(key.name);
    end_call(started);
    if (!got) return check_error(got.error());
    const unsigned number = got->has_value() ? number_of(key, (*got)->data) : 0;
    if (number < acknowledged) require("set " + std::to_string(acknowledged) + " was lost");
  }

  // Ends the faults. Then each key has its last value, unless later sets were not answered.
  void settle() {
    end_faults();
    for (const Caller& caller : callers_) {
      for (const Key& key : caller.keys) get(key);
    }
  }

  static unsigned number_of(const Key& key, std::string_view value) {
    return static_cast<unsigned>(std::stoul(std::string(value.substr(key.name.size() + 1))));
  }

  void check_order(const Key& key) const {
    unsigned last = 0;
    for (const Stored& stored : stack_.log()) {
      if (!stored.value.starts_with(key.name + "-")) continue;
      const unsigned number = number_of(key, stored.value);
      if (number < last) require(stored.value + " was carried out after " + std::to_string(last));
      last = number;
    }
  }

  std::vector<Caller> callers_;
  std::optional<Client> client_;
};

TEST(LateWriteRoom, NoSetOvertakesAnEarlierOneForEverySeed) {
  const Seeds seeds = seeds_of(2000);
  const RoomCounts sum = run_seeds<LateWriteRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.calls, 30 * seeds.count());
  EXPECT_GT(sum.special, seeds.count());
}

TEST(LateWriteRoom, AKeyThatDoesNotWaitForALateSetIsFound) {
  EXPECT_LT(first_finding<LateWriteRoom>({.cluster = {.keep_order = false}}), 500u);
}

}  // namespace
}  // namespace sheaf::sim
