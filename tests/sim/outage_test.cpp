// A broker fails and returns: who notices, when, and what it costs. Callers ask every 10 ms, so
// while a broker is silent, many of their operations on a key are in flight. Where they write, the
// brokers' logs must have the writes of a key in the order of their start (WriteOrder).

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// A steady caller: gets a key of one broker every 10 ms, or starts one to four operations on it.
class Asker {
 public:
  Asker(Stack& stack, unsigned broker, bool writes = false)
      : stack_(stack), key_(stack.key_on(broker)), writes_(writes) {
    next();
  }
  // When the first operation succeeded that ended at or after `from`; never if none did.
  Deadline first_success(Deadline from) const {
    for (const Op* op : ops_) {
      if (op->answered && op->ended_at >= from) return op->ended_at;
    }
    return never;
  }
  const std::vector<Op*>& ops() const { return ops_; }
  void stop() { stopped_ = true; }

 private:
  void next() {
    if (stopped_) return;
    StackClient& client = stack_.client();
    ops_.push_back(&client.get(key_, 1s));
    for (std::uint64_t more = writes_ ? random_.below(4) : 0; more > 0; --more) {
      const std::string value = key_ + "=" + std::to_string(++written_);
      ops_.push_back(random_.below(4) == 0 ? &client.get(key_, 1s) : &client.set(key_, value, 1s));
    }
    stack_.world.after(10ms, [this](Now) { next(); });
  }
  Stack& stack_;
  std::string key_;
  const bool writes_;
  Random random_{1};
  std::vector<Op*> ops_;
  unsigned written_ = 0;
  bool stopped_ = false;
};

enum class Outage { crash, stop, cut };

// Returns how long after the broker's return the first success came.
std::chrono::nanoseconds outage(std::uint64_t seed, Outage kind, std::chrono::milliseconds length) {
  Stack stack(seed, 3);
  stack.keep_log();
  stack.add_client();
  Asker caller(stack, 1, true);
  stack.world.run_for(std::chrono::milliseconds(500 + seed % 997));
  SimServer& broker = stack.broker(1);
  if (kind == Outage::crash) broker.crash();
  if (kind == Outage::stop) broker.stop();
  if (kind == Outage::cut) broker.cut_off();
  stack.world.run_for(length);
  const std::uint64_t before = stack.client().cluster().node(1).stats().requests;
  if (kind == Outage::crash) broker.restart();
  if (kind == Outage::stop) broker.go_on();
  if (kind == Outage::cut) broker.reconnect();
  const Deadline back = stack.world.now().mono;
  stack.world.run_for(4s);
  EXPECT_GT(stack.client().cluster().node(1).stats().requests, before);
  caller.stop();
  stack.world.run_for(2s);
  EXPECT_TRUE(stack.client().all_ended());
  for (const Op* op : caller.ops()) {
    EXPECT_EQ(op->ended, 1u);
    EXPECT_LE(op->ended_at, op->deadline);
  }
  WriteOrder order;
  order.add(0, stack.client().operations());
  EXPECT_EQ(order.judge(stack.log()), std::vector<std::string>()) << "seed " << seed;
  const Deadline success = caller.first_success(back);
  EXPECT_NE(success, never) << "seed " << seed;
  return success - back;
}

TEST(Outage, TheFirstSuccessComesWithin1200MsOfTheReturnInAllButOnePercent) {
  std::vector<std::chrono::nanoseconds> waits;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto kind = static_cast<Outage>(seed % 3);
    waits.push_back(outage(seed, kind, std::chrono::milliseconds(1000 + seed * 29'000 / 150)));
  }
  std::sort(waits.begin(), waits.end());
  EXPECT_LE(waits[waits.size() * 99 / 100 - 1], 1200ms);
}

// outage() checks the order of the caller's writes. One outage in ten is long.
TEST(Outage, EveryCallEndsAndWritesKeepTheirOrderForEverySeed) {
  for (const std::uint64_t seed : seeds_of(30)) {
    const auto kind = static_cast<Outage>(seed % 3);
    const unsigned longest = seed % 10 == 1 ? 10'000 : 1'500;
    outage(1'000 + seed, kind, std::chrono::milliseconds(50 + seed * 7'919 % longest));
  }
}

TEST(Outage, OtherNodesAreNotDisturbed) {
  Stack stack(5, 3);
  stack.add_client();
  Asker dead(stack, 1);
  Asker fine(stack, 0);
  stack.world.run_for(1s);
  stack.broker(1).stop();
  stack.world.run_for(10s);
  dead.stop();
  fine.stop();
  stack.world.run_for(2s);
  for (const Op* op : fine.ops()) {
    EXPECT_TRUE(op->answered);
    EXPECT_LE(op->ended_at - op->started, 10ms);
  }
}

TEST(Outage, ADownNodeFailsFastAndNamesItself) {
  Stack stack(6, 3);
  stack.add_client();
  Asker caller(stack, 2);
  stack.world.run_for(1s);
  stack.broker(2).stop();
  stack.world.run_for(5s);
  caller.stop();
  stack.world.run_for(1s);
  const Op& last = *caller.ops().back();
  EXPECT_EQ(last.outcome, Outcome::not_sent);
  EXPECT_EQ(last.node, "b2:1883");
  EXPECT_EQ(last.ended_at, last.started);
}

// Requests addressed to a node, for example for its statistics, where the operation's key is their
// group.
TEST(Outage, WhatIsAskedOfANodeGoesToNoOtherAlsoWithRehash) {
  Stack stack(6, 3, EndpointKind::memcached);
  stack.config.failover = FailoverMode::rehash;
  StackClient& client = stack.add_client();
  stack.world.run_for(1s);
  stack.broker(2).crash();
  stack.world.run_for(5s);
  ASSERT_FALSE(client.cluster().node(2).usable());
  struct Ended final : socket::RequestSink {
    std::string node;
    bool answered = true;
    void on_done(socket::Request&, const socket::Completion& completion) override {
      node = completion.node;
      answered = completion.answered;
    }
  } ended;
  cluster::Request request;
  request.operation.verb = protocol::Verb::stats;
  request.operation.key = "group";
  request.operation.deadline = stack.world.now().mono + 1s;
  request.sink = &ended;
  client.later([&](Now now) { client.cluster().start_on(2, request, now); });
  stack.world.run_for(2s);
  EXPECT_FALSE(ended.answered);
  EXPECT_EQ(ended.node, "b2:1883");
}

// The server accepts connections and is silent. With failover=owner the first attempt may take as
// long as an operation; here another server can take over.
TEST(Outage, WithRehashTheFirstRequestOfAClientPassesOverAServerThatHangs) {
  Stack stack(6, 3, EndpointKind::memcached);
  stack.config.failover = FailoverMode::rehash;
  stack.config.timeout = 5s;
  stack.broker(2).stop();
  StackClient& client = stack.add_client();
  const Op& op = client.get(stack.key_on(2), 5s);
  stack.world.run_for(4s);
  EXPECT_TRUE(op.answered);
  EXPECT_LE(op.ended_at - op.started, stack.config.connect_timeout + 100ms);
}

// Requests are in progress when our process stops, and the broker, also stopped, resumes a moment
// after it. Their replies have not arrived when the loop reads, and all time out in silence at
// once.
TEST(Outage, OurOwnPauseIsNotHeldAgainstTheNodes) {
  Stack stack(8, 1);
  StackClient& client = stack.add_client();
  const std::string key = stack.key_on(0);
  client.get(key, 1s);
  stack.world.run_for(1s);
  for (int i = 0; i < 5; ++i) {
    std::vector<const Op*> ops;
    for (int n = 0; n < 10; ++n) ops.push_back(&client.get(key, 1s));
    stack.broker(0).stop_for(3050ms);
    client.loop().pause(3s);  // begins after they are sent
    stack.world.run_for(5s);
    for (const Op* op : ops) {
      ASSERT_EQ(op->reason, Reason::timed_out);
      ASSERT_GT(op->ended_at, op->deadline + 1s) << "the pause was not longer than the deadline";
    }
  }
  EXPECT_EQ(client.cluster().node(0).stats().downs, 0u);
}

// Our process stops while it connects. What has arrived meanwhile is read, and then the rest of the
// log-in needs its time, although that is over.
TEST(Outage, OurOwnPauseDuringALogInIsNotHeldAgainstTheNode) {
  Stack stack(8, 1);
  stack.broker(0).faults.delay = 5ms;
  StackClient& client = stack.add_client();
  const Op& op = client.get(stack.key_on(0), 10s);
  stack.world.run_for(7ms);
  client.loop().pause(3s);
  stack.world.run_for(4s);
  EXPECT_TRUE(op.answered) << op.text;
  EXPECT_EQ(client.cluster().node(0).stats().downs, 0u);
}

// The number of connections and writes that clients send in half a minute to two stopped or crashed
// brokers.
std::uint64_t packets_to_dead_brokers(bool stopped, unsigned callers) {
  Stack stack(9, 2);
  stack.add_client();
  std::deque<Asker> crowd;
  for (unsigned i = 0; i < callers; ++i) crowd.emplace_back(stack, i % 2);
  stack.world.run_for(1s);
  for (unsigned i = 0; i < 2; ++i) {
    if (stopped) {
      stack.broker(i).stop();
    } else {
      stack.broker(i).crash();
    }
  }
  stack.world.run_for(3s);
  for (const NodeStats& stats : stack.client().cluster().nodes().stats()) {
    EXPECT_EQ(stats.health, NodeHealth::down);
  }
  const auto packets = [&] { return stack.broker(0).packets() + stack.broker(1).packets(); };
  const std::uint64_t before = packets();
  stack.world.run(stack.world.now().mono + 30s, [&] {
    for (unsigned i = 0; i < 2; ++i) {
      EXPECT_EQ(stack.client().cluster().node(i).stats().connections, 0u) << "only probes connect";
    }
    return testing::Test::HasFailure();
  });
  for (Asker& caller : crowd) caller.stop();
  return packets() - before;
}

TEST(Outage, WithAllNodesDownThePacketRateDoesNotDependOnTheCallRate) {
  for (const bool stopped : {true, false}) {
    const std::uint64_t few = packets_to_dead_brokers(stopped, 2);
    const std::uint64_t many = packets_to_dead_brokers(stopped, 200);
    // Each node gets two to four probes a second: a connection, and a log-in if it is accepted.
    EXPECT_GE(few, 2 * 30 * 2u);
    EXPECT_LE(few, 2 * 30 * 4 * 2u);
    EXPECT_LE(many, few + few / 10);
  }
}

}  // namespace
}  // namespace sheaf::sim
