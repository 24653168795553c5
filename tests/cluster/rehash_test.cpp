// failover=rehash, request by request: what another server takes over while a node is down, and
// what it must never see. The test plays the servers.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

#include "cluster/client_cluster.h"
#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

struct Write final : socket::RequestSink {
  void on_done(socket::Request&, const socket::Completion& completion) override {
    ++ends;
    answered = completion.answered;
    outcome = completion.outcome;
    node = completion.node;
  }
  Request request;
  unsigned ends = 0;
  bool answered = false;
  Outcome outcome = Outcome::invalid;
  std::string node;
};

// Three servers with one connection each.
class RehashTest : public testing::Test {
 protected:
  static ClusterConfig three_servers() {
    ClusterConfig made;
    made.nodes = {{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}};
    made.locator = LocatorKind::ring;
    made.failover = FailoverMode::rehash;
    made.pool_min = made.pool_max = 1;
    return made;
  }
  RehashTest() {
    while (network.dialing() > 0) network.accept();
  }
  ~RehashTest() override {
    cluster.shut_down(loop.now());
    for (int i = 0; i < 10 && !cluster.empty(); ++i) loop.settle();
  }

  Write& set(std::chrono::nanoseconds timeout = 5s) {
    Write& write = writes.emplace_back();
    write.request.operation.verb = protocol::Verb::set;
    write.request.operation.key = key;
    write.request.operation.value = "value";
    write.request.operation.deadline = loop.now().mono + timeout;
    write.request.sink = &write;
    cluster.start(write.request, loop.now());
    loop.settle();
    return write;
  }
  // Null: the client has no connection to this node.
  node::FakeSession* session(unsigned node) {
    for (std::size_t i = 0; i < network.sessions(); ++i) {
      if (network.session(i).node == node) return &network.session(i);
    }
    return nullptr;
  }
  unsigned owner() const { return cluster.topology().owner(key); }
  // Ends the owner's connection, and refuses new ones until the node counts as down.
  void lose_owner() {
    session(owner())->end(Reason::connection_lost, "reset");
    network.deliver(*session(owner()));
    for (int i = 0; i < 100 && cluster.node(owner()).usable(); ++i) {
      if (network.dialing() > 0) network.refuse();
      loop.pass(10ms);
    }
    ASSERT_FALSE(cluster.node(owner()).usable());
  }
  // The number of requests sent to servers other than the owner of `key`.
  std::size_t sent_to_others() {
    std::size_t sent = 0;
    for (const unsigned node : {0u, 1u, 2u}) {
      if (node != owner()) sent += session(node)->verbs.size();
    }
    return sent;
  }

  const std::string key = "line4/speed";
  const ClusterConfig config = three_servers();
  node::FakeLoop loop;
  node::FakeNetwork network{loop};
  test::NoEvents events;
  ClientCluster cluster{config, Topology::make(config),
                        node::NodeParts{loop, network, network, events}, Random(1).fork()};
  std::deque<Write> writes;
};

TEST_F(RehashTest, AWriteInFlightWhenItsNodeGoesDownIsUnknownAndNoOtherServerSeesIt) {
  const Write& write = set();
  ASSERT_EQ(session(owner())->in_flight(), 1u);
  lose_owner();
  EXPECT_EQ(write.ends, 1u);
  EXPECT_FALSE(write.answered);
  EXPECT_EQ(write.outcome, Outcome::unknown);
  EXPECT_EQ(write.node, cluster.topology().identity(owner()));
  EXPECT_EQ(sent_to_others(), 0u);
  loop.pass(6s);
  EXPECT_EQ(write.ends, 1u);
  EXPECT_EQ(sent_to_others(), 0u);
}

// The deadlines of other requests show that the node is silent, long before the write's own.
TEST_F(RehashTest, AWriteInFlightOnANodeThatFallsSilentIsUnknownAndNoOtherServerSeesIt) {
  const Write& write = set();
  for (int i = 0; i < 3; ++i) set(300ms);
  ASSERT_EQ(session(owner())->in_flight(), 4u);
  loop.pass(1s);
  ASSERT_FALSE(cluster.node(owner()).usable());
  for (const Write& each : writes) {
    EXPECT_EQ(each.ends, 1u);
    EXPECT_EQ(each.outcome, Outcome::unknown);
  }
  EXPECT_EQ(write.node, cluster.topology().identity(owner()));
  EXPECT_EQ(sent_to_others(), 0u);
}

TEST_F(RehashTest, AWriteThatWaitedForItsNodeGoesToTheStandInOnce) {
  session(owner())->capacity = 1;
  set();
  const Write& waiting = set();
  ASSERT_EQ(session(owner())->in_flight(), 1u);
  lose_owner();
  EXPECT_EQ(waiting.ends, 0u);
  EXPECT_EQ(sent_to_others(), 1u);
  set();
  EXPECT_EQ(sent_to_others(), 2u) << "and so does a new one";
}

}  // namespace
}  // namespace sheaf::cluster
