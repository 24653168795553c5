// One node on the real stack: its window, its pool, and its recovery after an outage. Each of these
// tests has detected the bug that it is for.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/kit/stack.h"
#include "tests/sim/kit/write_order.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

class NodeTest : public testing::Test {
 protected:
  Stack& start(EndpointKind kind = EndpointKind::state_store) {
    stack.emplace(21, 1, kind);
    return *stack;
  }
  StackClient& client() {
    if (stack->clients() == 0) stack->add_client();
    return stack->client();
  }
  SimServer& broker() { return stack->broker(0); }
  NodeStats stats() { return client().cluster().node(0).stats(); }
  void pass(std::chrono::nanoseconds time) { stack->world.run_for(time); }
  std::vector<Op*> ask(unsigned count, std::chrono::nanoseconds timeout) {
    std::vector<Op*> ops;
    for (unsigned i = 0; i < count; ++i) ops.push_back(&client().get("key", timeout));
    return ops;
  }
  const Op& ask_once() {
    const Op& op = *ask(1, 1s).front();
    pass(1s);
    return op;
  }
  std::optional<Stack> stack;
};

class NodeEvents : public NodeTest, public testing::WithParamInterface<EndpointKind> {
 protected:
  // Returns what was recorded since the last call: "level node operation key outcome: text".
  std::vector<std::string> events() {
    std::vector<std::string> lines;
    for (const LogRecord& record : std::exchange(log.records, {})) {
      const char* const levels[] = {"info", "warning", "error"};
      std::string line = levels[static_cast<int>(record.level)];
      line += " " + record.node + " " + record.operation + " " + record.key;
      if (record.outcome) line.append(" ").append(to_string(*record.outcome));
      lines.push_back(line + ": " + record.text);
    }
    return lines;
  }
  test::RecordedEvents log;
};

INSTANTIATE_TEST_SUITE_P(On, NodeEvents,
                         testing::Values(EndpointKind::state_store, EndpointKind::memcached),
                         [](const auto& test) {
                           return test.param == EndpointKind::memcached ? "memcached" : "mqtt";
                         });

using Lines = std::vector<std::string>;

TEST_P(NodeEvents, ALostReplyAndAnUnsentRequestAreRecordedWithTheirNodeKeyAndOutcome) {
  start(GetParam()).events = &log;
  ask_once();
  events();
  ask_once();
  EXPECT_EQ(events(), Lines{}) << "what goes well is not recorded";
  broker().stop();
  ask(1, 100ms);
  pass(200ms);
  EXPECT_EQ(events(), Lines{"error b0:1883 get <key> unknown: timed out"});
  broker().crash();
  pass(1s);
  events();
  ask(1, 100ms);
  pass(1ms);
  EXPECT_EQ(events(), Lines{"warning b0:1883 get <key> not sent: node down: connection refused"});
}

TEST_P(NodeEvents, EveryChangeOfANodesHealthIsRecordedOnceWithItsNode) {
  start(GetParam()).events = &log;
  ask_once();
  EXPECT_EQ(events(), Lines{"info b0:1883 health : up"});
  broker().crash();
  pass(1s);
  EXPECT_EQ(events(), Lines{"error b0:1883 health : down: connection refused"});
  pass(5s);
  EXPECT_EQ(events(), Lines{}) << "probes are not recorded";
  broker().restart();
  pass(5s);
  EXPECT_EQ(events(), (Lines{"info b0:1883 health : recovering", "info b0:1883 health : up"}));
}

TEST_F(NodeTest, AConnectionThatFailsGivesItsPartOfTheWindowBack) {
  start().config.max_in_flight = 4;
  ask_once();
  for (int round = 0; round < 3; ++round) {
    broker().stop();
    const auto lost = ask(4, 1s);
    pass(10ms);
    ASSERT_EQ(stats().in_flight, 4u);
    broker().reset_all();
    pass(10ms);
    for (const Op* op : lost) ASSERT_EQ(op->outcome, Outcome::unknown) << op->text;
    broker().go_on();
    pass(2s);
  }
  const Op& op = ask_once();
  EXPECT_TRUE(op.answered) << op.text;
}

TEST_F(NodeTest, AServerThatClosesAfterEveryLoginIsDialedLessAndLessOften) {
  start();
  client();
  std::vector<Deadline> logins;
  const Deadline end = stack->world.now().mono + 60s;
  stack->world.run(end, [&] {
    if (stats().connects == logins.size()) return false;
    logins.push_back(stack->world.now().mono);
    broker().reset_all();
    return false;
  });
  // Waits are drawn below 50 ms, 100 ms, 200 ms ... 5 s; half a minute has about twelve of the last
  // kind.
  EXPECT_GE(logins.size(), 12u);
  EXPECT_LE(logins.size(), 48u);
  const auto late = std::ranges::count_if(logins, [&](Deadline at) { return at >= end - 30s; });
  EXPECT_GE(late, 6);
  EXPECT_LE(late, 24);
}

// The connection of a key is full. The other connection has room, but a request on it would
// overtake. The server's log has all 900 in their order (WriteOrder).
TEST_F(NodeTest, TheOrderOfAKeyIsKeptWhenItsConnectionIsFull) {
  start().keep_log();
  stack->config.pool_min = stack->config.pool_max = 2;
  client();
  pass(1s);
  ASSERT_EQ(stats().connections, 2u);
  broker().faults.jitter = 20ms;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 900; ++i) client().set("key", std::to_string(900 * round + i), 5s);
    pass(1ms);
    ASSERT_EQ(stats().in_flight, 512u);
    ASSERT_EQ(stats().waiting, 388u);
    const Op& last = client().get("key", 5s);
    pass(2s);
    ASSERT_EQ(last.got, std::to_string(900 * round + 899));
  }
  WriteOrder order;
  order.add(0, client().operations());
  EXPECT_EQ(order.judge(stack->log()), std::vector<std::string>());
  EXPECT_EQ(stack->log().size(), 4'500u);
}

// Memcached pairs replies by their order, so it still owes a reply to a request that timed out.
TEST_F(NodeTest, ASocketThatIsOwedAReplyLeavesThePoolAndAnotherTakesItsPlace) {
  start(EndpointKind::memcached);
  const Op& first = ask_once();
  ASSERT_TRUE(first.answered);
  broker().stop();
  const Op& late = *ask(1, 100ms).front();
  pass(260ms);
  EXPECT_EQ(late.outcome, Outcome::unknown);
  broker().go_on();
  pass(2s);
  const Op& next = ask_once();
  ASSERT_TRUE(next.answered) << next.text;
  EXPECT_NE(next.connection, first.connection);
  EXPECT_EQ(broker().connections(), 1u);
}

// The server answers what it was asked first before it greets the connection that was to follow.
TEST_F(NodeTest, ALateReplyLetsItsConnectionGoOn) {
  start(EndpointKind::memcached);
  const Op& first = ask_once();
  broker().stop();
  const Op& late = *ask(1, 100ms).front();
  pass(150ms);
  EXPECT_EQ(late.outcome, Outcome::unknown);
  const Op& waiting = *ask(1, 1s).front();
  pass(50ms);
  EXPECT_EQ(broker().connections(), 2u) << "another one is made meanwhile";
  broker().go_on();
  pass(1ms);
  ASSERT_TRUE(waiting.answered) << waiting.text;
  EXPECT_EQ(waiting.connection, first.connection);
  EXPECT_EQ(stats().late_replies, 1u);
  pass(1s);
  EXPECT_EQ(broker().connections(), 1u);
  EXPECT_EQ(stats().connects, 1u);
  EXPECT_EQ(stats().connections_lost, 0u);
}

TEST_F(NodeTest, ARequestDoesNotWaitForAConnectionThatIsBehind) {
  start(EndpointKind::memcached);
  const Op& first = ask_once();
  broker().cut_off();
  ask(1, 100ms);
  pass(99ms);
  broker().reconnect();
  pass(2ms);
  const Op& next = *ask(1, 1s).front();
  pass(1ms);
  ASSERT_TRUE(next.answered) << next.text;
  EXPECT_NE(next.connection, first.connection);
  EXPECT_EQ(stats().connections, 1u);
}

TEST_F(NodeTest, ASocketWithOthersOnItStaysWhenOneOfThemTimesOut) {
  start(EndpointKind::memcached);
  const Op& first = ask_once();
  broker().stop();
  ask(1, 100ms);
  const Op& patient = *ask(1, 5s).front();
  pass(200ms);
  broker().go_on();
  pass(1s);
  ASSERT_TRUE(patient.answered) << patient.text;
  EXPECT_EQ(patient.connection, first.connection);
  EXPECT_EQ(ask_once().connection, first.connection);
}

// A window of 64 is narrowed to a part that grows over two seconds. On a link of 100 ms round trip
// the number of requests in flight shows the part.
TEST_F(NodeTest, AReturningNodeGetsAGrowingPartOfItsWindowAndRefusesNothing) {
  start().config.max_in_flight = 64;
  client();
  pass(500ms);
  broker().crash();
  ask(1, 100ms);
  pass(2s);
  ASSERT_EQ(stats().health, NodeHealth::down);
  broker().restart();
  stack->world.run(stack->world.now().mono + 2s,
                   [&] { return stats().health == NodeHealth::recovering; });
  const Deadline back = stack->world.now().mono;
  broker().faults.delay = 50ms;
  const auto ops = ask(3'000, 10s);
  std::vector<std::uint32_t> most;  // in flight, in each quarter of the ramp
  for (int quarter = 1; quarter <= 4; ++quarter) {
    most.push_back(0);
    stack->world.run(back + quarter * 500ms, [&] {
      most.back() = std::max(most.back(), stats().in_flight);
      return false;
    });
  }
  EXPECT_GT(stats().waiting, 0u);
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    EXPECT_GT(most[quarter], 16 * quarter) << quarter;
    EXPECT_LE(most[quarter], 16 * (quarter + 1)) << quarter;
  }
  pass(8s);
  for (const Op* op : ops) EXPECT_TRUE(op->answered) << op->text;
}

}  // namespace
}  // namespace sheaf::sim
