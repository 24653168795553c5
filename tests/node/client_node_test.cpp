#include "node/client_node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

// A node whose connection belongs to a test, in virtual time.
class ClientNodeTest : public testing::Test, private NodeOwner, private socket::RequestSink {
 protected:
  ClientNodeTest() {
    NodeOwner& owner = *this;
    NodeOptions options;
    options.max_in_flight = 8;
    node.emplace(options, NodeParts{loop, network, network, events}, owner, Random(1).fork());
    network.accept();
  }
  ~ClientNodeTest() override {
    node->shut_down(loop.now());
    loop.settle();
  }
  Request& start() {
    Request& request = requests.emplace_back();
    request.operation.key = "key";
    request.operation.deadline = loop.now().mono + 1s;
    request.sink = this;
    node->start(request, loop.now());
    return request;
  }

  // Takes the node down and answers its probes until its pool has a connection again.
  void fail_and_recover() {
    network.session().end(Reason::connection_lost, "cut");
    network.deliver(network.session());
    while (network.dialing() == 0) loop.pass(10ms);
    network.refuse();
    ASSERT_EQ(node->stats().health, NodeHealth::down);
    while (node->stats().health == NodeHealth::down) {
      if (network.dialing() > 0) network.accept();
      if (network.sessions() > 0 && network.session().in_flight() > 0) {
        network.session().answer();
        network.deliver(network.session());
      } else {
        loop.pass(10ms);
      }
    }
    while (network.dialing() == 0) loop.pass(1ms);
    network.accept();
  }

  FakeLoop loop;
  FakeNetwork network{loop};
  test::RecordedEvents events;
  struct End {
    Outcome outcome;
    Reason reason;
    std::string text;
  };
  std::map<const socket::Request*, End> ended;
  std::deque<Request> requests;
  std::optional<ClientNode> node;

 private:
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    ended[&request] = {completion.outcome, completion.reason, std::string(completion.text)};
  }
  void on_request_done(Request&, const socket::Completion&) override {}
  bool reroute(Request&, Now) override { return false; }
  void on_connection_ended(std::uint64_t, Now) override {}
};

TEST_F(ClientNodeTest, IsDownAfterThreeTimeoutsInSilenceButNotWhileBytesArrive) {
  for (const bool silent : {false, true}) {
    std::vector<Request*> asked;
    for (int i = 0; i < 3; ++i) asked.push_back(&start());
    loop.pass(500ms);
    if (!silent) network.session().stream->on_read(1, loop.now());
    loop.pass(500ms);
    for (Request* const request : asked) node->expire(*request, false, loop.now());
    ASSERT_EQ(node->stats().health, silent ? NodeHealth::down : NodeHealth::up);
    loop.settle();
    EXPECT_EQ(network.useless, silent ? 1u : 0u) << "probes prefer another address of the name";
  }
}

// The server gives the client ID of the connection to another process.
TEST_F(ClientNodeTest, DoesNotTakeBackANameAtOnceAndSaysMeanwhileWhoHasIt) {
  for (const std::chrono::milliseconds pause : {2s, 4s, 8s}) {
    FakeSession& session = network.session();
    session.name = "press-7";
    Request& in_flight = start();
    loop.pass(1ms);
    session.end_taken_over();
    network.deliver(session);
    EXPECT_EQ(ended.at(&in_flight).outcome, Outcome::unknown);
    EXPECT_EQ(node->stats().health, NodeHealth::down);
    const std::size_t dials = network.dials;
    Request& meanwhile = start();
    EXPECT_EQ(ended.at(&meanwhile).outcome, Outcome::not_sent);
    EXPECT_EQ(ended.at(&meanwhile).reason, Reason::authentication);
    EXPECT_EQ(ended.at(&meanwhile).text,
              "another process uses the client ID press-7: the server ended the connection: "
              "session taken over");
    loop.pass(pause - 1ms);
    EXPECT_EQ(network.dials, dials) << "neither a connection nor a probe";
    loop.pass(1ms);
    ASSERT_EQ(network.dialing(), 1u);
    network.accept();
    EXPECT_EQ(node->stats().health, NodeHealth::recovering);
    start();
    EXPECT_EQ(network.session().in_flight(), 1u);
    network.session().answer();
    network.deliver(network.session());
  }
  EXPECT_EQ(node->stats().downs, 3u);
  const auto reported = std::ranges::count_if(events.records, [](const LogRecord& record) {
    return record.operation == "health" &&
           record.text.starts_with("down: another process uses the client ID press-7: ");
  });
  EXPECT_EQ(reported, 3) << "once for each takeover";
}

TEST_F(ClientNodeTest, TheGrowingWindowOfItsReturnLetsWaitingRequestsOutAlsoIfNothingIsAnswered) {
  fail_and_recover();
  FakeSession& session = network.session(network.sessions() - 1);
  for (int i = 0; i < 8; ++i) start();
  EXPECT_LT(session.keys.size(), 8u);
  loop.pass(1s);
  EXPECT_GE(session.keys.size(), 3u);
  EXPECT_LT(session.keys.size(), 8u);
  loop.pass(1s);
  EXPECT_EQ(session.keys.size(), 8u);
}

}  // namespace
}  // namespace sheaf::node
