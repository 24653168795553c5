// A watch line whose login is refused. tests/sim/watch_line_test.cpp has the rest.

#include "node/watch_line.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

class RefusedWatchLine : public testing::Test, private NodeOwner, private WatchLineOwner {
 protected:
  RefusedWatchLine() {
    NodeOwner& owner = *this;
    WatchLineOwner& line_owner = *this;
    node.emplace(NodeOptions{}, NodeParts{loop, network, network, events}, owner, Random(1).fork());
    network.accept();
    line.emplace(*node, loop, line_owner, Random(2).fork(), options);
    line->open(loop.now());
  }
  ~RefusedWatchLine() override {
    line->shut_down(loop.now());
    node->shut_down(loop.now());
    loop.settle();
  }

  FakeLoop loop;
  FakeNetwork network{loop};
  test::NoEvents events;
  WatchLineOptions options;
  std::optional<ClientNode> node;
  std::optional<WatchLine> line;
  int failures = 0;

 private:
  void on_request_done(Request&, const socket::Completion&) override {}
  bool reroute(Request&, Now) override { return false; }
  void on_connection_ended(std::uint64_t, Now) override {}
  void on_line_up(Now) override {}
  void on_line_room(Now) override {}
  void on_line_notification(const protocol::Notification&, Now) override {}
  void on_line_down(Now, Now) override {}
  void on_line_failed(const protocol::CloseReason&, Now) override { ++failures; }
};

TEST_F(RefusedWatchLine, DoesNotAskAgainSoonAServerThatRefusesItsLogin) {
  for (int i = 1; i <= 5; ++i) {
    ASSERT_EQ(network.dialing(), 1u);
    network.refuse_log_in();
    EXPECT_EQ(failures, i);
    loop.pass(options.refused - 1ms);
    EXPECT_EQ(network.dialing(), 0u);
    loop.pass(1ms);
  }
}

}  // namespace
}  // namespace sheaf::node
