// What the original system did, layer by layer: one test for each row of its checklist.

#include <gtest/gtest.h>

#include "cluster/config/config_check.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using node::ClientNode;
using socket::ClientSocket;

// Watches a socket outside the pool.
struct RowWatcher final : socket::ClientSocketOwner {
  bool ready = false;
  bool closed = false;
  unsigned failed = 0;
  unsigned replied = 0;
  protocol::CloseReason reason;
  void on_socket_ready(ClientSocket&, Now) override { ready = true; }
  void on_socket_reply(ClientSocket&, socket::Request&, const protocol::Reply&, Now) override {
    ++replied;
  }
  void on_socket_failed(ClientSocket&, socket::Request&, protocol::Sent, Now) override { ++failed; }
  void on_socket_closed(ClientSocket&, const protocol::CloseReason& why, Now) override {
    closed = true;
    reason = why;
  }
};

using Fitness = socket::ClientSocket::Fitness;

class Rows : public testing::Test {
 protected:
  Stack& start(unsigned brokers = 1) {
    stack.emplace(7, brokers);
    stack->config.pool_min = 0;
    stack->config.pool_max = 3;
    stack->config.idle_timeout = 5s;
    return *stack;
  }
  StackClient& client() {
    if (stack->clients() == 0) stack->add_client();
    return stack->client();
  }
  ClientNode& node(unsigned index = 0) { return client().cluster().node(index); }
  ClientNode& owner_of(std::string_view key) {
    return node(client().cluster().topology().owner(key));
  }
  Now now() { return client().loop().now(); }
  // Lets virtual time pass.
  void pass(std::chrono::nanoseconds time) { stack->world.run_for(time); }
  Op& ask(std::chrono::nanoseconds timeout = 1s) {
    Op& op = client().get(stack->key_on(0), timeout);
    stack->world.run(stack->world.now().mono + timeout + 1s, [&] { return op.ended > 0; });
    return op;
  }
  protocol::Operation probe(std::chrono::nanoseconds timeout) {
    protocol::Operation operation;
    operation.verb = protocol::Verb::probe;
    operation.deadline = now().mono + timeout;
    return operation;
  }
  std::optional<Stack> stack;
};

TEST_F(Rows, S1_SocketConnectsWritesReadsAndIsResetBeforeItGoesBack) {
  start();
  RowWatcher watcher;
  auto socket = node().create_unpooled(watcher, now());
  EXPECT_NE(socket->fitness(), Fitness::as_new);  // not connected yet
  pass(1s);
  ASSERT_TRUE(watcher.ready);
  EXPECT_EQ(socket->fitness(), Fitness::as_new);
  socket::Request request;
  request.operation = probe(1s);
  ASSERT_TRUE(socket->submit(request, now()));
  EXPECT_NE(socket->fitness(), Fitness::as_new);  // a reply is owed
  pass(1s);
  EXPECT_EQ(watcher.replied, 1u);
  EXPECT_EQ(socket->fitness(), Fitness::as_new);
}

TEST_F(Rows, S2_SocketKnowsWhenItWasCreatedBusyAndIdle) {
  start();
  RowWatcher watcher;
  const Deadline created = now().mono;
  auto socket = node().create_unpooled(watcher, now());
  EXPECT_EQ(socket->times().created, created);
  pass(1s);
  EXPECT_EQ(socket->busy_since(), never);
  stack->broker(0).stop();
  socket::Request request;
  request.operation = probe(10s);
  const Deadline submitted = now().mono;
  ASSERT_TRUE(socket->submit(request, now()));
  pass(2s);
  EXPECT_EQ(socket->busy_since(), submitted);
  stack->broker(0).go_on();
  pass(1s);
  EXPECT_EQ(socket->busy_since(), never);
  EXPECT_GE(socket->times().idle_since, submitted + 2s);
}

TEST_F(Rows, S3_SocketCallsBackOnErrorAfterItsRequestsHaveFailed) {
  start();
  RowWatcher watcher;
  auto socket = node().create_unpooled(watcher, now());
  pass(1s);
  stack->broker(0).stop();
  socket::Request request;
  request.operation = probe(10s);
  ASSERT_TRUE(socket->submit(request, now()));
  pass(10ms);
  stack->broker(0).crash();
  pass(1s);
  EXPECT_EQ(watcher.failed, 1u);
  EXPECT_TRUE(watcher.closed);
  EXPECT_EQ(watcher.reason.reason, Reason::connection_lost);
  EXPECT_NE(socket->fitness(), Fitness::as_new);
}

TEST_F(Rows, S4_SocketKnowsItsEndpointAndErrorsNameIt) {
  start();
  RowWatcher watcher;
  auto socket = node().create_unpooled(watcher, now());
  EXPECT_EQ(socket->endpoint().host, "b0");
  EXPECT_EQ(socket->endpoint().port, 1883);
  stack->broker(0).crash();
  EXPECT_EQ(ask().node, "b0:1883");
}

TEST_F(Rows, S5_TheEndOfALeaseReturnsTheSocketToThePool) {
  start();
  ask();
  node::SocketLease lease = node().acquire();
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->leases, 1u);
  ClientSocket& socket = *lease;
  {
    const node::SocketLease moved = std::move(lease);
    EXPECT_FALSE(lease);  // NOLINT(bugprone-use-after-move): a moved lease is empty
  }
  EXPECT_EQ(socket.leases, 0u);
  EXPECT_TRUE(node().acquire());
  EXPECT_EQ(node().stats().connections, 1u);
}

TEST_F(Rows, N1_NodeOpensItsPoolAndShutsItDown) {
  start().config.pool_min = 2;
  pass(0s);
  client();
  pass(1s);
  EXPECT_EQ(node().stats().connections, 2u);
  client().shut_down();
  pass(1s);
  EXPECT_TRUE(node().empty());
  EXPECT_EQ(stack->broker(0).connections(), 0u);
  EXPECT_EQ(ask().outcome, Outcome::shutdown);
}

TEST_F(Rows, N2_NodeLendsASocketAndTakesItBack) {
  start();
  EXPECT_FALSE(node().acquire());  // none connected yet
  ask();
  auto lease = node().acquire();
  ASSERT_TRUE(lease);
  EXPECT_TRUE(lease->ready());
  lease.give_back();
  EXPECT_FALSE(lease);
  EXPECT_EQ(ask().status, protocol::Status::absent);
}

TEST_F(Rows, N3_NodeRemovesSocketsThatAreIdleTooLong) {
  start();
  ask();
  EXPECT_EQ(node().stats().connections, 1u);
  pass(6s);
  EXPECT_EQ(node().stats().connections, 0u);
  EXPECT_EQ(stack->broker(0).connections(), 0u);
  EXPECT_EQ(ask().status, protocol::Status::absent);  // opens one again when needed
}

TEST_F(Rows, N4_NodeEndsASocketThatIsBusyTooLongAndFailsItsRequest) {
  start().config.busy_timeout = 3s;
  ask();
  stack->broker(0).stop();
  Op& op = ask(20s);
  EXPECT_EQ(op.ended, 1u);
  EXPECT_EQ(op.outcome, Outcome::unknown);
  EXPECT_NEAR(std::chrono::duration<double>(op.ended_at - op.started).count(), 3.0, 0.1);
}

TEST_F(Rows, N5_NodeRefillsItsPoolToTheLowerBound) {
  start().config.pool_min = 2;
  client();
  pass(1s);
  const std::size_t accepted = stack->broker(0).accepted();
  stack->broker(0).reset_all();
  pass(2s);
  EXPECT_EQ(node().stats().connections, 2u);
  EXPECT_EQ(stack->broker(0).accepted(), accepted + 2);
}

TEST_F(Rows, N6_NodeCreatesASocketOutsideThePool) {
  start();
  RowWatcher watcher;
  auto socket = node().create_unpooled(watcher, now());
  pass(1s);
  EXPECT_TRUE(socket->ready());
  EXPECT_EQ(node().stats().connections, 0u);
  EXPECT_FALSE(node().acquire());
}

TEST_F(Rows, OperationsOnOneKeyLeaveInTheOrderOfTheirStartThoughThePoolHasManySockets) {
  start().config.pool_min = 3;
  client();
  pass(1s);
  ASSERT_EQ(node().stats().connections, 3u);
  stack->broker(0).faults.jitter = 20ms;  // connections overtake each other
  for (int round = 0; round < 50; ++round) {
    const std::string key = stack->key_on(0, static_cast<unsigned>(round % 5));
    for (int i = 0; i < 10; ++i) client().set(key, std::to_string(10 * round + i), 5s);
    const Op& last = client().get(key, 5s);
    pass(1s);
    ASSERT_EQ(last.got, std::to_string(10 * round + 9));
  }
}

TEST_F(Rows, N7_ADownNodeIsTestedByASocketOutsideThePoolAndByNoUserRequest) {
  start();
  ask();
  stack->broker(0).crash();
  pass(200ms);
  EXPECT_EQ(ask().outcome, Outcome::not_sent);  // a connection attempt is refused
  EXPECT_EQ(node().stats().health, NodeHealth::down);
  const std::uint64_t requests = node().stats().requests;
  const Op& fast = ask();
  EXPECT_EQ(fast.outcome, Outcome::not_sent);
  EXPECT_EQ(fast.reason, Reason::node_down);
  EXPECT_EQ(fast.ended_at, fast.started);  // at once
  pass(3s);
  EXPECT_GE(node().stats().probes, 3u);
  EXPECT_EQ(node().stats().connections, 0u);
  stack->broker(0).restart();
  pass(1200ms);
  EXPECT_NE(node().stats().health, NodeHealth::down);
  EXPECT_EQ(node().stats().requests, requests + 1);  // only the one that failed fast
  EXPECT_EQ(ask().status, protocol::Status::absent);
}

TEST_F(Rows, C1_ClusterInitialisesAllItsNodes) {
  start(3).config.pool_min = 1;
  client();
  pass(1s);
  for (const NodeStats& stats : client().cluster().nodes().stats()) {
    EXPECT_EQ(stats.health, NodeHealth::up);
    EXPECT_EQ(stats.connections, 1u);
  }
}

TEST_F(Rows, C2_ClusterFindsTheNodeOfAKeyByConsistentHashing) {
  start(3);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(owner_of(stack->key_on(i)).options().identity, "b" + std::to_string(i) + ":1883");
  }
}

TEST_F(Rows, C3_ClusterLendsASocketForAKeyOrNone) {
  start(3);
  EXPECT_FALSE(owner_of(stack->key_on(0)).acquire());
  ask();
  const auto lease = owner_of(stack->key_on(0)).acquire();
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->endpoint().host, "b0");
  EXPECT_FALSE(owner_of(stack->key_on(1)).acquire());
}

// A configuration that Client::open accepts; tests/contract/rehash_test.cpp opens such clients.
TEST_F(Rows, C4_ClusterGivesTheKeysOfAFailedNodeToTheOthersAndBackAgain) {
  start(3);
  stack->config.failover = FailoverMode::rehash;
  const auto wrong = cluster::check_config(stack->config);
  ASSERT_FALSE(wrong) << wrong->text;
  const auto set_all = [&] {
    std::vector<const Op*> ops;
    for (unsigned i = 0; i < 60; ++i) {
      ops.push_back(&client().set(stack->key_on(i % 3, i / 3), "v", 300ms));
    }
    pass(400ms);
    return std::ranges::count_if(ops, [](const Op* op) { return op->answered; });
  };
  EXPECT_EQ(set_all(), 60);
  stack->broker(0).crash();
  pass(50ms);
  EXPECT_EQ(set_all(), 60) << "what waits for the failed node goes to the others";
  for (unsigned i = 0; i < 20; ++i) {
    const Op& got = client().get(stack->key_on(0, i), 300ms);
    pass(50ms);
    EXPECT_EQ(got.got, "v") << got.text << " at " << got.node;
    EXPECT_NE(got.node, "b0:1883");
  }
  stack->broker(0).restart();
  pass(1200ms);
  const Op& home = client().get(stack->key_on(0), 300ms);
  pass(50ms);
  EXPECT_EQ(home.node, "b0:1883");
}

// Half of the nodes is more than a third; one node may always be missing.
TEST_F(Rows, C4_NothingMovesWhenMoreThanAThirdOfTheNodesIsGone) {
  for (const auto& [nodes, most] :
       {std::pair(2u, 1u), {3u, 1u}, {4u, 1u}, {5u, 1u}, {6u, 2u}, {7u, 2u}}) {
    start(nodes).config.failover = FailoverMode::rehash;
    for (unsigned i = 0; i < nodes; ++i) client().get(stack->key_on(i), 300ms);
    pass(400ms);
    for (unsigned down = 1; down <= most + 1 && down < nodes; ++down) {
      stack->broker(down - 1).crash();
      pass(50ms);
      for (unsigned i = 0; i < down; ++i) client().get(stack->key_on(i), 100ms);
      pass(400ms);
      ASSERT_EQ(node(down - 1).stats().health, NodeHealth::down);
      const Op& op = client().get(stack->key_on(0), 100ms);
      pass(100ms);
      EXPECT_EQ(op.answered, down <= most) << down << " of " << nodes;
      EXPECT_EQ(op.node == "b0:1883", down > most) << down << " of " << nodes;
    }
  }
}

TEST_F(Rows, C5_ClusterBringsFailedNodesBack) {
  start(3);
  ask();
  stack->broker(0).crash();
  EXPECT_FALSE(ask().answered);
  pass(10s);
  stack->broker(0).restart();
  pass(1200ms);
  EXPECT_TRUE(ask().answered);
  EXPECT_EQ(client().cluster().node(1).stats().health,
            NodeHealth::connecting);  // no one has asked it
}

TEST_F(Rows, C6_WeightsGiveSharesOfTheKeys) {
  start(3);
  stack->config.nodes[2].weight = 2;
  stack->config.slots = ClusterConfig().slots;
  const auto topology = cluster::Topology::make(stack->config);
  unsigned owned[3] = {};
  for (int i = 0; i < 10'000; ++i) ++owned[topology->locate("user:" + std::to_string(i)).node];
  EXPECT_NEAR(owned[0], 2500, 125);
  EXPECT_NEAR(owned[1], 2500, 125);
  EXPECT_NEAR(owned[2], 5000, 250);
}

}  // namespace
}  // namespace sheaf::sim
