// A broker goes and comes back: who notices, when, and what it costs.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/kit/stack.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// A steady caller: one get of a broker's key every 10 ms.
class Caller {
 public:
  Caller(Stack& stack, unsigned broker) : stack_(stack), key_(stack.key_on(broker)) { next(); }
  // When the first operation started at or after `from` succeeded; never if none did.
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
    ops_.push_back(&stack_.client().get(key_, 1s));
    stack_.world.after(10ms, [this](Now) { next(); });
  }
  Stack& stack_;
  std::string key_;
  std::vector<Op*> ops_;
  bool stopped_ = false;
};

enum class Outage { crash, stop, cut };

// Returns how long after the broker's return the first success came.
std::chrono::nanoseconds outage(std::uint64_t seed, Outage kind, std::chrono::milliseconds length) {
  Stack stack(seed, 3);
  stack.add_client();
  Caller caller(stack, 1);
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

TEST(Outage, OtherNodesAreNotDisturbed) {
  Stack stack(5, 3);
  stack.add_client();
  Caller dead(stack, 1);
  Caller fine(stack, 0);
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
  Caller caller(stack, 2);
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

TEST(Outage, OurOwnPauseIsNotHeldAgainstTheNodes) {
  Stack stack(8, 3);
  stack.add_client();
  Caller caller(stack, 0);
  stack.world.run_for(1s);
  for (int i = 0; i < 5; ++i) {
    stack.client().loop().pause(3s);
    stack.world.run_for(5s);
  }
  caller.stop();
  stack.world.run_for(2s);
  for (const NodeStats& stats : stack.client().cluster().stats()) EXPECT_EQ(stats.downs, 0u);
}

TEST(Outage, WithAllNodesDownThePacketRateDoesNotDependOnTheCallRate) {
  const auto accepted_after = [](unsigned callers) {
    Stack stack(9, 2);
    stack.add_client();
    std::deque<Caller> crowd;
    for (unsigned i = 0; i < callers; ++i) crowd.emplace_back(stack, i % 2);
    stack.world.run_for(1s);
    stack.broker(0).stop();
    stack.broker(1).stop();
    stack.world.run_for(30s);
    for (Caller& caller : crowd) caller.stop();
    stack.world.run_for(2s);
    std::uint64_t probes = 0;
    for (const NodeStats& stats : stack.client().cluster().stats()) probes += stats.probes;
    return probes;
  };
  const auto few = accepted_after(1);
  const auto many = accepted_after(20);
  EXPECT_LE(many, 2 * 2 * 31 * 4u);
  EXPECT_GT(few, 0u);
}

TEST(Outage, AReturningNodeRefusesNothingWhileItsShareGrows) {
  Stack stack(10, 1);
  stack.config.max_in_flight = 64;
  stack.add_client();
  stack.world.run_for(500ms);
  stack.broker(0).crash();
  stack.world.run_for(2s);
  stack.broker(0).restart();
  stack.world.run_for(1200ms);
  ASSERT_EQ(stack.client().cluster().node(0).health(), NodeHealth::recovering);
  const std::string key = stack.key_on(0);
  std::vector<Op*> ops;
  for (int i = 0; i < 500; ++i) ops.push_back(&stack.client().get(key, 5s));
  stack.world.run_for(6s);
  for (const Op* op : ops) EXPECT_TRUE(op->answered) << op->text;
}

}  // namespace
}  // namespace sheaf::sim
