// Threads that set keys of their own on servers that stop from time to time, so that sets end
// without an answer and are carried out later: memcached servers, or a cluster whose slots move.
// Their connections differ: the client's own and extra connections. The seed chooses the order in
// which threads continue. A run finds
//  - a set that was carried out before an earlier one of the same thread on the same key
//  - a value that was acknowledged and is not there
//  - a call that lasts longer than its timeout, or fails although only slots move

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/sim/kit/room_runs.h"
#include "tests/sim/kit/sim_resp.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// Special: sets that ended without an answer.
class LateWriteRoom : public ThreadRoom {
 protected:
  LateWriteRoom(const Draw& draw, const Plants& plants) : ThreadRoom(draw, plants) {
    stack_.config.pool_max = 1;  // what leaves first arrives first, on whatever connection
    for (std::uint64_t i = 2 + random_.below(3); i > 0; --i) {
      Caller& caller = callers_.emplace_back(Caller{Random(random_.fork()), {}});
      for (const char* const key : {"a", "b"}) {
        caller.keys.push_back({std::to_string(callers_.size()) + key});
      }
    }
  }

  // What happens to the servers while the threads call.
  virtual void disturb() = 0;
  virtual ServerLog stored() const = 0;
  // Requests are neither cut nor mixed up on their way.
  static void keep_in_order(LinkFaults& faults) {
    faults.jitter = 0us;
    faults.reset = 0;
  }
  // Several times within the time that the threads take.
  void now_and_then(std::uint64_t most, const std::function<void()>& what) {
    for (std::uint64_t i = 1 + random_.below(most); i > 0; --i) {
      stack_.world.after(draw_us(random_, 150'000), [what](Now) { what(); });
    }
  }
  const std::string& any_key() {
    return callers_[random_.below(callers_.size())].keys[random_.below(2)].name;
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
    disturb();
    run_threads(static_cast<unsigned>(callers_.size()),
                [this](unsigned number) { run_caller(callers_[number]); });
    if (random_.below(4) != 0) settle();
    client_.reset();
    for (const Caller& caller : callers_) {
      for (const Key& key : caller.keys) check_order(key);
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
    for (const Stored& set : stored()) {
      if (!set.value.starts_with(key.name + "-")) continue;
      const unsigned number = number_of(key, set.value);
      if (number < last) require(set.value + " was carried out after " + std::to_string(last));
      last = number;
    }
  }

  std::vector<Caller> callers_;
  std::optional<Client> client_;
};

class MemcachedRoom final : public LateWriteRoom {
 public:
  MemcachedRoom(std::uint64_t seed, const Plants& plants) : LateWriteRoom(draw(seed, 1), plants) {
    stack_.keep_log();
    for (unsigned i = 0; i < stack_.size(); ++i) keep_in_order(stack_.broker(i).faults);
  }

 private:
  void disturb() override {
    if (!faulty_) return;
    now_and_then(8, [this] {
      SimServer& server = stack_.broker(static_cast<unsigned>(random_.below(stack_.size())));
      if (server.serving()) server.stop_for(std::chrono::milliseconds(1 + random_.below(400)));
    });
  }
  ServerLog stored() const override { return stack_.log(); }
};

// The clients do not use the servers that every room has.
class ClusterRoom final : public LateWriteRoom {
 public:
  ClusterRoom(std::uint64_t seed, const Plants& plants)
      : LateWriteRoom(draw(seed, 0), plants),
        resp_(stack_.network, 3, seed, {.gossip = {1ms, 20ms}, .wary = true}) {
    stack_.config.kind = EndpointKind::redis;
    stack_.config.nodes = resp_.addresses();
    stack_.config.slots = ClusterConfig().slots;
    stack_.config.extra_connections = static_cast<unsigned>(random_.below(5));
    for (unsigned i = 0; i < 3; ++i) {
      resp_.server(i).faults.delay = draw_us(random_, 200);
      keep_in_order(resp_.server(i).faults);
    }
  }

 private:
  void disturb() override {
    now_and_then(8, [this] { move_a_slot(); });
    if (!faulty_) return;
    now_and_then(6, [this] {
      const auto node = static_cast<unsigned>(random_.below(3));
      const auto time = std::chrono::milliseconds(1 + random_.below(400));
      if (resp_.server(node).serving()) resp_.stop_for(node, time);
    });
    if (random_.below(4) == 0) now_and_then(1, [this] { resp_.go_down_for(30ms); });
  }
  void move_a_slot() {
    if (!resp_.settled()) return;
    const std::uint16_t slot = protocol::resp::hash_slot(any_key());
    const unsigned source = resp_.owner(slot);
    const unsigned target = (source + 1 + static_cast<unsigned>(random_.below(2))) % 3;
    const test::resp_model::ChangePace pace{draw_us(random_, 3'000), draw_us(random_, 5'000)};
    if (random_.below(2) == 0) {
      resp_.changes().migrate({slot, slot}, source, target, pace, resp_.now());
    } else {
      resp_.changes().flip({slot, slot}, source, target, pace, resp_.now());
    }
    ++counts_.changes;
  }
  ServerLog stored() const override { return resp_.stored(); }

  SimResp resp_;
};

TEST(LateWriteRoom, NoSetOvertakesAnEarlierOneOnMemcachedForEverySeed) {
  const Seeds seeds = seeds_of(2000);
  const RoomCounts sum = run_seeds<MemcachedRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.calls, 30 * seeds.count());
  EXPECT_GT(sum.special, seeds.count());
}

TEST(LateWriteRoom, NoSetOvertakesAnEarlierOneOnAClusterForEverySeed) {
  const Seeds seeds = seeds_of(2000);
  const RoomCounts sum = run_seeds<ClusterRoom>(seeds);
  if (!seeds.adds_up()) return;
  EXPECT_GT(sum.calls, 30 * seeds.count());
  EXPECT_GT(sum.special, seeds.count() / 2);
  EXPECT_GT(sum.changes, seeds.count());
}

TEST(LateWriteRoom, AKeyThatDoesNotWaitForALateSetIsFound) {
  EXPECT_LT(first_finding<MemcachedRoom>({.cluster = {.keep_order = false}}), 500u);
}

}  // namespace
}  // namespace sheaf::sim
