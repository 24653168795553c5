// Goodput: how many operations a server with more to do than it can answers before their deadlines.
// Nothing slows the callers down, as with asynchronous calls that others ask for.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/sim/kit/sim_mangler.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

// A server that works on one reply after another.
class BusyServer {
 public:
  BusyServer(SimWorld& world, SimServer& server) : world_(world) {
    server.mangle = [this] { return std::make_unique<Replies>(*this); };
  }
  std::chrono::nanoseconds each{100us};  // for a reply

 private:
  // Replies are single lines, because no key has a value.
  class Replies final : public SimMangler {
   public:
    explicit Replies(BusyServer& server) : server_(server) {}
    void on_bytes(std::string_view bytes, const Emit& emit) override {
      while (!bytes.empty()) {
        const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
        emit(std::string(bytes.substr(0, end)), server_.next());
        bytes.remove_prefix(end);
      }
    }

   private:
    BusyServer& server_;
  };
  // How long from now on until the next reply is ready.
  std::chrono::nanoseconds next() {
    const Deadline now = world_.now().mono;
    free_ = std::max(free_, now) + each;
    return free_ - now;
  }

  SimWorld& world_;
  Deadline free_{0};  // when it has done everything
};

class Overload {
 public:
  explicit Overload(std::chrono::nanoseconds timeout) : timeout_(timeout) {
    stack_.add_client();
    pass(100ms);
  }
  SimServer& server() { return stack_.broker(0); }
  BusyServer& busy() { return busy_; }
  void pass(std::chrono::nanoseconds time) { stack_.world.run_for(time); }

  // Asks for this multiple of what the server can do. Returns the part of what it can do that was
  // answered in time.
  double goodput(double load, std::chrono::nanoseconds time) {
    const auto each = static_cast<double>(busy_.each.count());
    const auto gap = std::chrono::nanoseconds(static_cast<std::int64_t>(each / load));
    const Deadline end = stack_.world.now().mono + time;
    for (unsigned i = 0; stack_.world.now().mono < end; ++i) {
      client().get("k" + std::to_string(i % 1'000), timeout_);
      pass(gap);
    }
    pass(timeout_ + 1ms);
    EXPECT_TRUE(client().all_ended());
    const auto answered = std::ranges::count_if(client().operations(), &Op::answered);
    given_up_ = std::ranges::count_if(client().operations(), [](const Op& op) {
      return op.text.starts_with("the server is asked for more");
    });
    client().forget_operations();
    return static_cast<double>(answered) * each / static_cast<double>(time.count());
  }
  // How many were given up in the last goodput().
  std::ptrdiff_t given_up() const { return given_up_; }
  NodeStats stats() { return client().cluster().node(0).stats(); }

 private:
  StackClient& client() { return stack_.client(); }
  Stack stack_{1, 1, EndpointKind::memcached};
  BusyServer busy_{stack_.world, stack_.broker(0)};
  const std::chrono::nanoseconds timeout_;
  std::ptrdiff_t given_up_ = 0;
};

TEST(Overload, WhatAServerCanDoIsAnsweredInTimeAtThreeTimesTheLoad) {
  for (const auto timeout : {5ms, 20ms, 100ms, 500ms}) {
    Overload overload(timeout);
    EXPECT_NEAR(overload.goodput(0.9, 2s), 0.9, 0.01);
    EXPECT_EQ(overload.given_up(), 0);
    EXPECT_GT(overload.goodput(1.2, 2s), 0.95) << timeout.count() << " ms";
    EXPECT_GT(overload.goodput(3, 2s), 0.95) << timeout.count() << " ms";
    EXPECT_GT(overload.given_up(), 0);
    overload.pass(1s);
    EXPECT_NEAR(overload.goodput(0.9, 2s), 0.9, 0.01);
    EXPECT_EQ(overload.given_up(), 0);
    EXPECT_EQ(overload.stats().downs, 0u);
  }
}

// A time-out is no reason to send less if it is the network that takes the time.
TEST(Overload, AfterATimeOutASlowNetworkIsUsedAsBefore) {
  Overload overload(30ms);
  overload.server().faults.delay = 10ms;
  overload.pass(100ms);
  EXPECT_NEAR(overload.goodput(0.5, 1s), 0.5, 0.01);
  overload.server().stop_for(50ms);
  EXPECT_GT(overload.goodput(0.5, 1s), 0.45);
  EXPECT_GT(overload.stats().timed_out, 0u);
  EXPECT_NEAR(overload.goodput(0.5, 1s), 0.5, 0.01);
  EXPECT_EQ(overload.given_up(), 0);
}

TEST(Overload, AServerThatIsFastAgainIsUsedAgain) {
  Overload overload(20ms);
  EXPECT_NEAR(overload.goodput(0.9, 1s), 0.9, 0.01);
  overload.busy().each = 5ms;
  EXPECT_GT(overload.goodput(20, 1s), 0.5);  // 0.4 s go to what was sent before the first time-out
  overload.busy().each = 100us;
  EXPECT_GT(overload.goodput(0.9, 1s), 0.88);
  EXPECT_NEAR(overload.goodput(0.9, 1s), 0.9, 0.01);
}

TEST(Overload, ALateServerIsUsedAgainAtOnceAfterAStop) {
  for (const auto stop : {30ms, 100ms, 400ms}) {
    Overload overload(20ms);
    EXPECT_NEAR(overload.goodput(0.5, 1s), 0.5, 0.01);
    overload.server().stop_for(stop);
    const double lost = std::chrono::duration<double>(stop).count();
    EXPECT_GT(overload.goodput(0.5, 2s), 0.5 * (2 - lost - 0.1) / 2);
  }
}

// A state store answers in any order, and a lost answer of a patient request stays outstanding.
TEST(Overload, AnAnswerThatNeverComesHoldsNothingBackForLong) {
  Stack stack(1, 1);
  MangleRates rates;
  MangleCounts counts;
  Random random(1);
  stack.broker(0).mangle = [&] { return std::make_unique<PublishMangler>(rates, random, counts); };
  StackClient& client = stack.add_client();
  stack.world.run_for(1s);
  rates.drop = 1;
  client.get("lost", 60s);
  stack.world.run_for(1ms);
  rates.drop = 0.002;  // so that requests time out now and then, and one is always in flight
  constexpr unsigned count = 400'000;
  for (unsigned i = 0; i < count; ++i) {
    client.get("k" + std::to_string(i % 1'000), 500ms);
    stack.world.run_for(50us);
  }
  stack.world.run_for(500ms);
  EXPECT_GE(std::ranges::count_if(client.operations(), &Op::answered), 0.99 * count);
}

}  // namespace
}  // namespace sheaf::sim
