// Hedged reads of a model cluster of the Redis protocol, one primary with a replica, in virtual
// time: one of the two hangs again and again, or both become slower. A run finds
//  - a read that ends without its value, or with another one
//  - more hedges than 5 % of the reads
//  - reads that are late all the same
// SlotLoad, whose reads are hedged here while slots move, finds old values.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/slot_load.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

constexpr unsigned key_count = 32;
constexpr unsigned reader_count = 3;

std::string key_at(std::uint64_t number) { return "key" + std::to_string(number); }
std::string value_at(std::uint64_t number) { return "value of " + key_at(number); }

// Reads one key after another.
class TimedReader final : private socket::RequestSink, private socket::TimerSink {
 public:
  TimedReader(StackClient& client, std::uint64_t seed)
      : client_(client), random_(seed), timer_(client.loop().timer(*this)) {}

  void go_on() {
    resting_ = false;
    timer_->set(client_.loop().world().now().mono);
  }
  void rest() { resting_ = true; }
  bool busy() const { return busy_; }
  std::vector<std::chrono::nanoseconds> times;

 private:
  void on_timer(Now now) override {
    if (resting_) return;
    busy_ = true;
    began_ = now.mono;
    number_ = random_.below(key_count);
    key_ = key_at(number_);
    request_.operation = {};
    request_.operation.verb = protocol::Verb::get;
    request_.operation.key = key_;
    request_.operation.deadline = now.mono + 2s;
    request_.may_lag = true;
    request_.sink = this;
    client_.cluster().start(request_, now);
  }
  void on_done(socket::Request&, const socket::Completion& completion) override {
    EXPECT_TRUE(completion.answered) << completion.text;
    EXPECT_EQ(completion.reply.value, value_at(number_));
    EXPECT_TRUE(std::exchange(busy_, false));
    times.push_back(completion.now.mono - began_);
    timer_->set(completion.now.mono + std::chrono::microseconds(random_.below(300)));
  }

  StackClient& client_;
  FastRandom random_;
  std::unique_ptr<socket::Timer> timer_;
  cluster::Request request_;
  std::string key_;
  std::uint64_t number_ = 0;
  Deadline began_{0};
  bool busy_ = false;
  bool resting_ = true;
};

struct HedgeRun {
  HedgeRun(std::uint64_t seed, bool hedged) : world(seed), resp(network, 1, seed), random(seed) {
    resp.add_replica(0);
    for (unsigned node = 0; node < 2; ++node) {
      resp.server(node).faults.delay = 150us;
      resp.server(node).faults.jitter = 60us;
    }
    world.run_for(1s);
    ClusterConfig config;
    config.kind = EndpointKind::redis;
    config.nodes = resp.addresses();
    config.reads = ReadTarget::replicas;
    config.hedged_reads = hedged;
    client = std::make_unique<StackClient>(world, network, config, seed);
    world.run_for(1s);
    for (unsigned i = 0; i < key_count; ++i) {
      const Op& op = client->set(key_at(i), value_at(i), 2s);
      world.run(world.now().mono + 2s, [&op] { return op.ended > 0; });
      EXPECT_TRUE(op.answered) << op.text;
    }
    for (unsigned i = 0; i < reader_count; ++i) readers.emplace_back(*client, 10 * seed + i);
  }
  ~HedgeRun() {
    for (TimedReader& reader : readers) reader.rest();
    world.run(world.now().mono + 5s,
              [this] { return std::ranges::none_of(readers, &TimedReader::busy); });
    EXPECT_TRUE(std::ranges::none_of(readers, &TimedReader::busy));
  }
  HedgeRun(const HedgeRun&) = delete;
  HedgeRun& operator=(const HedgeRun&) = delete;

  void begin() {
    for (TimedReader& reader : readers) reader.go_on();
  }
  // One of the servers hangs now and then.
  void stall_for(std::chrono::nanoseconds time) {
    const Deadline end = world.now().mono + time;
    while (world.now().mono < end) {
      world.run_for(std::chrono::milliseconds(15 + random.below(30)));
      resp.server(static_cast<unsigned>(random.below(2))).stop_for(8ms);
    }
    world.run_for(10ms);
  }
  std::uint64_t reads() const {
    std::uint64_t all = 0;
    for (const TimedReader& reader : readers) all += reader.times.size();
    return all;
  }
  std::uint64_t hedges() const {
    std::uint64_t all = 0;
    for (const NodeStats& node : client->cluster().nodes().stats()) all += node.hedges;
    return all;
  }
  std::uint64_t won() const {
    std::uint64_t all = 0;
    for (const NodeStats& node : client->cluster().nodes().stats()) all += node.hedges_won;
    return all;
  }
  std::chrono::nanoseconds quantile(double q) const {
    std::vector<std::chrono::nanoseconds> all;
    for (const TimedReader& reader : readers)
      all.insert(all.end(), reader.times.begin(), reader.times.end());
    std::ranges::sort(all);
    return all[static_cast<std::size_t>(q * static_cast<double>(all.size() - 1))];
  }
  void expect_few_hedges() const { EXPECT_LE(20 * hedges(), reads() + reader_count); }

  SimWorld world;
  SimNetwork network{world};
  SimResp resp;
  FastRandom random;
  std::unique_ptr<StackClient> client;
  std::deque<TimedReader> readers;
};

TEST(HedgedReads, AServerThatHangsNowAndThenDelaysFewReadsForEverySeed) {
  std::chrono::nanoseconds plain{0};
  std::chrono::nanoseconds hedged{0};
  const Seeds seeds = seeds_of(20);
  for (const std::uint64_t seed : seeds) {
    for (const bool hedges : {false, true}) {
      HedgeRun run(seed, hedges);
      run.begin();
      run.world.run_for(100ms);
      run.stall_for(1s);
      (hedges ? hedged : plain) += run.quantile(0.99);
      if (!hedges) {
        EXPECT_EQ(run.hedges(), 0u);
        continue;
      }
      EXPECT_GT(run.won(), 5u);
      run.expect_few_hedges();
      EXPECT_LT(run.quantile(0.99), 5ms);
    }
  }
  EXPECT_LT(2 * hedged, plain);
}

TEST(HedgedReads, ServersThatAreAllTenTimesSlowerAreSparedForEverySeed) {
  for (const std::uint64_t seed : seeds_of(20)) {
    HedgeRun run(seed, true);
    run.begin();
    run.world.run_for(300ms);
    const std::uint64_t before = run.hedges();
    for (unsigned node = 0; node < 2; ++node) {
      run.resp.server(node).faults.delay = 1500us;
      run.resp.server(node).faults.jitter = 600us;
    }
    const std::uint64_t reads = run.reads();
    run.world.run_for(1s);
    EXPECT_GT(run.reads(), reads + 500);
    EXPECT_LE(run.hedges() - before, 10u);
    const std::uint64_t trained = run.hedges();
    run.world.run_for(1s);
    EXPECT_EQ(run.hedges(), trained);
  }
}

// The judge of the load knows the values, so it also finds one that came back.
TEST(HedgedReads, NoOldValueIsReadWhileSlotsMoveAndServersHangForEverySeed) {
  std::uint64_t hedges = 0;
  const Seeds seeds = seeds_of(5);
  for (const std::uint64_t seed : seeds) {
    SlotLoad load(seed, 2, 2, {.gossip = {1ms, 100ms}},
                  {.from = ReadTarget::replicas, .hedged = true});
    load.add_replicas();
    load.world.run_for(65s);  // until each client has asked for the map again
    load.run(200us);
    load.world.run_for(500ms);
    FastRandom random(seed);
    for (int i = 0; i < 20; ++i) {
      load.world.run_for(std::chrono::milliseconds(random.below(40)));
      load.resp.server(static_cast<unsigned>(random.below(4))).stop_for(20ms);
    }
    load.flip_all(1'024, 200ms, std::chrono::milliseconds(seed % 30));
    load.judge();
    load.expect_no_errors();
    for (std::size_t i = 0; i < load.users(); ++i) {
      for (const NodeStats& node : load.user(i).client().cluster().nodes().stats()) {
        hedges += node.hedges;
      }
    }
  }
  EXPECT_TRUE(hedges > 0 || seeds.count() < 3);
}

}  // namespace
}  // namespace sheaf::sim
