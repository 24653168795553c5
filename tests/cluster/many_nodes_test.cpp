// Many nodes that join or leave at once: calls wait while the lane works for them, so it does so in
// parts.

#include <gtest/gtest.h>

#include "cluster/client_cluster.h"
#include "cluster/placement/node_table.h"
#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;

class ManyNodes : public testing::Test {
 protected:
  ManyNodes() {
    config.kind = EndpointKind::memcached;
    config.slots = 1'024;
  }
  ~ManyNodes() override {
    cluster->shut_down(loop.now());
    loop.settle();
  }
  std::shared_ptr<const Topology> topology_of(unsigned count) {
    config.nodes.clear();
    for (unsigned i = 0; i < count; ++i) config.nodes.push_back({"n" + std::to_string(i), 1, 1});
    return Topology::make(config, table, ++epoch);
  }
  void open(unsigned count) {
    auto topology = topology_of(count);
    cluster = std::make_unique<ClientCluster>(config, std::move(topology),
                                              node::NodeParts{loop, network, network, log},
                                              Random(1).fork());
    loop.settle();
  }
  void have(unsigned count) {
    cluster->apply(topology_of(count), loop.now());
    loop.settle();
  }
  void accept_all() {
    for (int i = 0; i < 100; ++i) {
      while (network.dialing() > 0) network.accept();
      loop.pass(1ms);
    }
  }

  struct Sink final : socket::RequestSink {
    void on_done(socket::Request&, const socket::Completion&) override {}
  } sink;
  Request request;
  ClusterConfig config;
  NodeTable table;
  std::uint64_t epoch = 0;
  node::FakeLoop loop;
  node::FakeNetwork network{loop};
  test::NoEvents log;
  std::unique_ptr<ClientCluster> cluster;
};

TEST_F(ManyNodes, AFewConnectAtOnce) {
  open(8);
  EXPECT_EQ(network.dialing(), 8u);
}

TEST_F(ManyNodes, TheRestConnectInParts) {
  open(17);
  EXPECT_EQ(network.dialing(), 8u);
  loop.pass(1ms);
  EXPECT_EQ(network.dialing(), 12u);
  loop.pass(1ms);
  EXPECT_EQ(network.dialing(), 16u);
  loop.pass(1ms);
  EXPECT_EQ(network.dialing(), 17u);
}

TEST_F(ManyNodes, ThoseThatJoinConnectInParts) {
  open(10);
  accept_all();
  have(40);
  EXPECT_EQ(network.dialing(), 8u);
  loop.pass(1ms);
  EXPECT_EQ(network.dialing(), 12u);
}

TEST_F(ManyNodes, OneThatARequestWaitsForConnectsAtOnce) {
  open(60);
  request.operation.verb = protocol::Verb::get;
  request.operation.key = "key";
  request.operation.deadline = loop.now().mono + 5s;
  request.sink = &sink;
  cluster->start_on(cluster->topology().find("n59:1")->index(), request, loop.now());
  EXPECT_EQ(network.dialing(), 9u);
}

TEST_F(ManyNodes, ThoseThatLeaveCloseInParts) {
  open(60);
  accept_all();
  have(30);
  EXPECT_EQ(cluster->nodes().size(), 60u);
  loop.pass(1ms);
  EXPECT_GE(cluster->nodes().size(), 44u);
  for (int i = 0; i < 25; ++i) loop.pass(1ms);
  EXPECT_EQ(cluster->nodes().size(), 30u);
}

}  // namespace
}  // namespace sheaf::cluster
