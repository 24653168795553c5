// Requests that their submitter cancels: what is known about them, what happens to the others, and
// that a cancellation says nothing about the node. Stop and cancel in any order, with several
// operations on a key, are in tests/sim/faults_test.cpp and tests/sim/rooms/stop_room_test.cpp.

#include <gtest/gtest.h>

#include "tests/sim/kit/stack.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

class CancelTest : public testing::TestWithParam<EndpointKind> {
 protected:
  void start(std::uint32_t max_in_flight = 512) {
    stack.config.max_in_flight = max_in_flight;
    stack.add_client();
    pass(500ms);
    EXPECT_TRUE(answered(client().set("key", "value", 1s)));
  }
  StackClient& client() { return stack.client(); }
  SimServer& server() { return stack.broker(0); }
  NodeStats stats() { return client().cluster().node(0).stats(); }
  void pass(std::chrono::nanoseconds time) { stack.world.run_for(time); }
  bool answered(const Op& op) {
    pass(500ms);
    return op.answered;
  }
  // Cancels the operation and expects it to have ended by the end of the turn.
  void cancel(Op& op) {
    EXPECT_EQ(op.ended, 0u);
    client().cancel(op);
    pass(1us);
    EXPECT_EQ(op.ended, 1u);
    EXPECT_EQ(op.reason, Reason::cancelled) << op.text;
  }
  test::RecordedEvents log;
  Stack stack{31, 1, GetParam()};
};

INSTANTIATE_TEST_SUITE_P(On, CancelTest,
                         testing::Values(EndpointKind::state_store, EndpointKind::memcached),
                         [](const auto& test) {
                           return test.param == EndpointKind::memcached ? "memcached" : "mqtt";
                         });

TEST_P(CancelTest, ARequestThatWaitsForRoomIsNotSentAndTheOthersGoOn) {
  start(1);
  server().stop();
  const Op& first = client().set("key", "first", 10s);
  Op& second = client().set("key", "second", 10s);
  const Op& third = client().get("key", 10s);
  pass(10ms);
  cancel(second);
  EXPECT_EQ(second.outcome, Outcome::not_sent);
  EXPECT_EQ(stats().waiting, 1u);
  server().go_on();
  ASSERT_TRUE(answered(third)) << third.text;
  EXPECT_TRUE(first.answered);
  EXPECT_EQ(third.got, "first");
}

TEST_P(CancelTest, ARequestOnItsWayIsUnknownAndItsReplyMeetsNobody) {
  start();
  server().stop();
  Op& cancelled = client().set("key", "cancelled", 10s);
  const Op& next = client().get("key", 10s);
  pass(10ms);
  cancel(cancelled);
  EXPECT_EQ(cancelled.outcome, Outcome::unknown);
  EXPECT_EQ(stats().in_flight, 1u);
  server().go_on();
  ASSERT_TRUE(answered(next)) << next.text;
  EXPECT_EQ(next.got, "cancelled") << "what was sent is executed, in its order";
  EXPECT_EQ(cancelled.ended, 1u);
  const Op& last = client().get("key", 1s);
  ASSERT_TRUE(answered(last));
  EXPECT_EQ(last.connection, next.connection);
}

// The bytes are in the session's queue; the kernel has not seen them.
TEST_P(CancelTest, ARequestOfTheSameTurnWasNotSent) {
  start();
  Op& op = client().set("key", "never", 10s);
  client().cancel(op);
  pass(1s);
  EXPECT_EQ(op.ended, 1u);
  EXPECT_EQ(op.outcome, Outcome::not_sent) << op.text;
  const Op& read = client().get("key", 1s);
  ASSERT_TRUE(answered(read));
  EXPECT_EQ(read.got, "value");
}

// On memcached the reply is still to come, and the request takes room until it has.
TEST_P(CancelTest, ItsRoomInTheWindowIsGivenToTheNext) {
  start(2);
  server().stop();
  client().get("key", 10s);
  Op& first = client().get("key", 10s);
  const Op& second = client().get("key", 10s);
  pass(10ms);
  ASSERT_EQ(stats().waiting, 1u);
  cancel(first);
  EXPECT_EQ(stats().waiting, GetParam() == EndpointKind::memcached ? 1u : 0u);
  server().go_on();
  EXPECT_TRUE(answered(second));
}

TEST_P(CancelTest, WhatHasEndedIsLeftAlone) {
  start();
  Op& op = client().get("key", 1s);
  ASSERT_TRUE(answered(op));
  client().cancel(op);
  pass(1s);
  EXPECT_EQ(op.ended, 1u);
  EXPECT_TRUE(op.answered);
}

TEST_P(CancelTest, ItSaysNothingAboutTheNodeAndIsNoEvent) {
  stack.events = &log;
  start();
  log.records.clear();
  server().stop();
  const Op& patient = client().get("key", 10s);  // memcached drops a connection that only owes
  for (int i = 0; i < 20; ++i) {
    Op& op = client().get("key", 10s);
    pass(100ms);
    cancel(op);
  }
  EXPECT_EQ(stats().health, NodeHealth::up);
  EXPECT_EQ(log.records.size(), 0u);
  server().go_on();
  EXPECT_TRUE(answered(patient)) << patient.text;
}

}  // namespace
}  // namespace sheaf::sim
