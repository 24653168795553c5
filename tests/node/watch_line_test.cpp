// A watch line whose login is refused, or whose end looks like it. tests/sim/watch_line_test.cpp
// has the rest.

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
  int ups = 0;
  int downs = 0;
  int failures = 0;
  std::string failure;

 private:
  void on_request_done(Request&, const socket::Completion&) override {}
  bool reroute(Request&, Now) override { return false; }
  void on_connection_ended(std::uint64_t, Now) override {}
  void on_line_up(Now) override { ++ups; }
  void on_line_room(Now) override {}
  void on_line_notification(const protocol::Notification&, Now) override {}
  void on_line_down(Now, Now) override { ++downs; }
  void on_line_failed(const protocol::CloseReason& why, Now) override {
    ++failures;
    failure = why.text;
  }
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

// What ends a connection that was up may look like a refusal and concern that connection only: an
// alert after something in between has cut it, a server that ends all connections of a user. So a
// watch is never blind for longer than `most_wait` without a report.
TEST_F(RefusedWatchLine, AnEndOfAConnectionThatWasUpIsNoRefusalOfTheNext) {
  network.accept();
  ASSERT_EQ(ups, 1);
  FakeSession& session = network.session(network.sessions() - 1);
  session.end(Reason::authentication, "not authorized", true);
  network.deliver(session);
  EXPECT_EQ(downs, 1);
  EXPECT_EQ(failures, 0);
  const Deadline end = loop.now().mono + options.most_wait;
  while (network.dialing() == 0 && loop.now().mono < end) loop.pass(1ms);
  ASSERT_EQ(network.dialing(), 1u) << "the next attempt is made soon";
  network.refuse_log_in();
  EXPECT_EQ(failures, 1) << "and a refusal of it is reported, before the long wait";
  loop.pass(options.refused - 1ms);
  EXPECT_EQ(network.dialing(), 0u);
}

TEST_F(RefusedWatchLine, DoesNotTakeBackANameAtOnceAndReportsWhoHasIt) {
  network.accept();
  ASSERT_EQ(ups, 1);
  FakeSession& session = network.session(network.sessions() - 1);
  session.name = "press-7-watch";
  session.end_taken_over();
  network.deliver(session);
  EXPECT_EQ(downs, 1);
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(failure,
            "another process uses the client ID press-7-watch: the server ended the "
            "connection: session taken over");
  loop.pass(1s);
  line->renew_login(loop.now());
  loop.pass(1s - 1ms);
  EXPECT_EQ(network.dialing(), 0u) << "another login is no reason, either";
  loop.pass(1ms);
  ASSERT_EQ(network.dialing(), 1u);
  network.accept();
  EXPECT_EQ(ups, 2);
}

}  // namespace
}  // namespace sheaf::node
