// Slots of a Redis cluster move while a client reads and writes, up to four operations on a key at
// once: real cluster, nodes, sockets and sessions. No call fails, no write is lost, and none is
// carried out twice. Each read returns the last write that was started before it, and the servers'
// log has the writes of a key in the order of their start.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>

#include "cluster/client_cluster.h"
#include "protocol/resp/wire/hash_slot.h"
#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using protocol::Verb;

constexpr unsigned server_count = 3;

// Starts one to four writes and reads of its key at once, again and again, with pauses up to
// `pause`, which may change. The first is a write.
class SlotWorker final : private socket::RequestSink, private socket::TimerSink {
 public:
  SlotWorker(StackClient& client, std::string key, std::uint64_t seed,
             const std::chrono::microseconds& pause)
      : cluster_(client.cluster()),
        timer_(client.loop().timer(*this)),
        key_(std::move(key)),
        pause_(pause),
        random_(seed) {}

  void start(Now now) {
    in_flight_ = 1 + random_.below(actions_.size());
    for (std::size_t i = 0; i < in_flight_; ++i) {
      const bool writes = i == 0 || random_.below(2) == 0;
      if (writes) ++writes_;
      Action& action = actions_[i];
      action.value = value(writes_ - 1);
      action.operation = {};
      action.operation.verb = writes ? Verb::set : Verb::get;
      action.operation.key = key_;
      if (writes) action.operation.value = action.value;
      action.operation.deadline = now.mono + 5s;
      action.sink = this;
    }
    for (std::size_t i = 0, count = in_flight_; i < count; ++i) cluster_.start(actions_[i], now);
  }
  void stop() { stopped_ = true; }
  bool over() const { return stopped_ && in_flight_ == 0; }
  const std::string& key() const { return key_; }
  unsigned writes() const { return writes_; }
  std::string value(unsigned write) const { return key_ + "=" + std::to_string(write); }
  std::vector<std::string> failures;

 private:
  struct Action final : cluster::Request {
    std::string value;  // what it writes, or must read
  };

  void on_done(socket::Request& request, const socket::Completion& completion) override {
    const auto& action = static_cast<Action&>(request);
    const bool reads = action.operation.verb == Verb::get;
    if (!completion.answered) {
      failures.push_back(std::string(completion.node) + ": " + std::string(completion.text));
    } else if (reads && completion.reply.value != action.value) {
      failures.push_back("read " + std::string(completion.reply.value) + " for " + action.value);
    }
    if (--in_flight_ > 0 || stopped_) return;
    const auto longest = static_cast<std::uint64_t>(pause_.count());
    timer_->set(completion.now.mono + std::chrono::microseconds(random_.below(longest)));
  }
  void on_timer(Now now) override {
    if (!stopped_) start(now);
  }

  cluster::ClientCluster& cluster_;
  const std::unique_ptr<socket::Timer> timer_;
  const std::string key_;
  const std::chrono::microseconds& pause_;  // the longest
  Random random_;
  std::array<Action, 4> actions_;
  std::size_t in_flight_ = 0;
  unsigned writes_ = 0;
  bool stopped_ = false;
};

class MovingSlotsWorld final : private socket::Deferred {
 public:
  explicit MovingSlotsWorld(std::uint64_t seed) : world(seed), resp(network, server_count, seed) {
    config.kind = EndpointKind::redis;
    config.nodes = resp.addresses();
    stack = std::make_unique<StackClient>(world, network, config, seed);
    for (unsigned i = 0; i < 12; ++i) {
      workers.emplace_back(*stack, "key" + std::to_string(i), 100 * seed + i, pause_);
    }
    stack->loop().defer(*this);
  }
  ~MovingSlotsWorld() { stack->loop().forget(*this); }

  cluster::ClientCluster& client() { return stack->cluster(); }
  std::uint16_t slot_of(const SlotWorker& worker) const {
    return protocol::resp::hash_slot(worker.key());
  }
  // Moves a slot key by key. At the end the target learns of it first or last.
  void migrate(std::uint16_t slot, unsigned target, bool target_first) {
    const unsigned from = resp.owner(slot);
    resp.cluster().set_importing(slot, target, from);
    resp.cluster().set_migrating(slot, from, target);
    pass();
    while (resp.cluster().move_one_key(slot, from, target, resp.now())) pass();
    outlast_bounces();  // of a request that does not use ASK
    for (const unsigned who : target_first ? std::vector{target, from} : std::vector{from, target})
      resp.cluster().set_owner(slot, who, target, resp.now()), pass();
    settle();
  }
  // Moves a slot at once. The old owner knows it first, so for a moment each of the two sends
  // requests to the other.
  void hand_over(std::uint16_t slot, unsigned target) {
    const unsigned from = resp.owner(slot);
    resp.cluster().give({slot, slot}, from, target, resp.now());
    world.run_for(std::chrono::microseconds(world.random().below(8'000)));
    resp.cluster().take({slot, slot}, from, target, resp.now());
    settle();
  }
  // Bounces pause for up to 62 ms by then. Little is in flight until shortly before the end.
  void outlast_bounces() {
    pause_ = 8ms;
    world.run_for(62ms);
    pause_ = busy;
    world.run_for(8ms);
  }
  void pass() { world.run_for(std::chrono::microseconds(world.random().below(3'000))); }
  void settle() {
    EXPECT_TRUE(world.run(world.now().mono + 1s, [this] { return resp.settled(); }));
  }
  std::uint64_t redirects() const { return resp.log().errors("MOVED") + resp.log().errors("ASK"); }
  std::vector<Deadline> fetches() const { return resp.log().fetch_times()["default"]; }
  void finish() {
    for (SlotWorker& worker : workers) worker.stop();
    const auto over = [this] { return std::ranges::all_of(workers, &SlotWorker::over); };
    EXPECT_TRUE(world.run(world.now().mono + 6s, over));
    for (const NodeConfig& server : config.nodes) {
      EXPECT_EQ(network.find(server.identity())->accepted(), 1u) << "no connection was given up";
    }
    std::map<std::string, unsigned> stored;
    for (const Stored& one : resp.stored()) ++stored[one.value];
    WriteOrder order;
    for (const SlotWorker& worker : workers) {
      EXPECT_EQ(worker.failures, std::vector<std::string>()) << worker.key();
      for (unsigned i = 0; i < worker.writes(); ++i) {
        ASSERT_EQ(stored[worker.value(i)], 1u) << worker.value(i);
        order.begin_write(0, worker.key(), worker.value(i));
        order.acknowledge(worker.value(i));
      }
    }
    EXPECT_EQ(order.judge(resp.stored()), std::vector<std::string>());
  }

  SimWorld world;
  SimNetwork network{world};
  SimResp resp;
  ClusterConfig config;
  std::unique_ptr<StackClient> stack;
  std::deque<SlotWorker> workers;

 private:
  static constexpr std::chrono::microseconds busy = 2ms;

  void run_deferred(Now now) override {
    for (SlotWorker& worker : workers) worker.start(now);
  }

  std::chrono::microseconds pause_ = busy;  // of the workers
};

// The first request for the map waits for its connection before it is sent.
void expect_calm(const std::vector<Deadline>& fetches) {
  for (std::size_t i = 1; i < fetches.size(); ++i) EXPECT_GE(fetches[i] - fetches[i - 1], 995ms);
}

TEST(MovingSlots, NothingFailsWhileSlotsMigrateKeyByKeyOrAllAtOnceForEverySeed) {
  const Seeds seeds = seeds_of(60);
  std::uint64_t redirects = 0;
  for (const std::uint64_t seed : seeds) {
    MovingSlotsWorld world(seed);
    world.world.run_for(20ms);
    for (unsigned i = 0; i < 5; ++i) {
      FastRandom& random = world.world.random();
      const std::uint16_t slot = world.slot_of(world.workers[random.below(world.workers.size())]);
      const unsigned owner = world.resp.owner(slot);
      const auto target =
          static_cast<unsigned>((owner + 1 + random.below(server_count - 1)) % server_count);
      if (random.below(2) == 0) {
        world.migrate(slot, target, random.below(2) == 0);
      } else {
        world.hand_over(slot, target);
      }
      world.outlast_bounces();  // so no redirect below is one of them
      const std::uint64_t before = world.redirects();
      world.world.run_for(5ms);
      EXPECT_EQ(world.redirects(), before) << "the slot is known to have moved";
    }
    world.finish();
    redirects += world.redirects();
    expect_calm(world.fetches());
  }
  if (!seeds.adds_up()) return;
  EXPECT_GT(redirects, 5 * seeds.count());
}

// A request for many keys, then one for each unsure key.
class ReadOfMany final : private socket::RequestSink {
 public:
  explicit ReadOfMany(cluster::ClientCluster& cluster) : cluster_(cluster) {}
  void start(const std::vector<std::string_view>& keys, Now now) {
    keys_ = keys;
    request_.operation.verb = Verb::get_many;
    request_.operation.keys = keys_;
    begin(now);
  }
  std::map<std::string, std::string> values;
  std::vector<std::string> unsure;

 private:
  void begin(Now now) {
    request_.operation.deadline = now.mono + 1s;
    request_.sink = this;
    request_.route = keys_[0];
    cluster_.start(request_, now);
  }
  void on_item(socket::Request&, std::uint32_t index, const protocol::Reply& reply, Now) override {
    const std::string key(keys_[index]);
    if (reply.unsure) {
      unsure.push_back(key);
    } else {
      values[key] = reply.value;
    }
  }
  void on_done(socket::Request&, const socket::Completion& completion) override {
    EXPECT_TRUE(completion.answered) << completion.text;
    if (request_.operation.verb == Verb::get) {
      values[std::string(keys_[0])] = completion.reply.value;
    } else if (unsure.size() == 1) {
      keys_ = {unsure[0]};
      request_.operation.keys = {};
      request_.operation.key = keys_[0];
      request_.operation.verb = Verb::get;
      begin(completion.now);
    }
  }

  cluster::ClientCluster& cluster_;
  std::vector<std::string_view> keys_;
  cluster::Request request_;
};

TEST(MovingSlots, AKeyOfManyThatHasMovedIsUnsureAndItsOwnRequestGoesThere) {
  MovingSlotsWorld world(1);
  world.world.run_for(5ms);
  for (SlotWorker& worker : world.workers) worker.stop();
  world.world.run_for(5ms);
  std::vector<std::string_view> keys;
  for (const SlotWorker& worker : world.workers) {
    if (world.resp.owner(world.slot_of(worker)) == 0) keys.push_back(worker.key());
  }
  ASSERT_GE(keys.size(), 2u);
  world.hand_over(protocol::resp::hash_slot(keys[1]), 1);
  ReadOfMany read(world.client());
  read.start(keys, world.stack->loop().now());
  world.world.run_for(10ms);
  EXPECT_EQ(read.unsure, std::vector<std::string>{std::string(keys[1])});
  EXPECT_EQ(read.values.size(), keys.size());
  for (const auto& [key, value] : read.values) EXPECT_TRUE(value.starts_with(key + "=")) << value;
}

TEST(MovingSlots, AClusterThatIsDownForThreeSecondsFailsNothing) {
  MovingSlotsWorld world(1);
  world.world.run_for(2s);
  world.resp.go_down_for(3s);
  world.world.run_for(3s);
  world.world.run_for(1s);
  world.finish();
  EXPECT_GE(world.fetches().size(), 2u);
  expect_calm(world.fetches());
}

}  // namespace
}  // namespace sheaf::sim
