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
  Request& start(std::uint64_t only_on = 0) {
    Request& request = requests.emplace_back();
    request.operation.key = "key";
    request.only_on = only_on;
    request.operation.deadline = loop.now().mono + 1s;
    request.sink = this;
    node->start(request, loop.now());
    return request;
  }

  // A request times out after `time`, and its connection owes the reply. Returns its number.
  std::uint64_t time_out(std::chrono::nanoseconds time) {
    Request& late = start();
    loop.settle();  // it leaves
    const std::uint64_t connection = late.socket->id;
    network.session().dirty = true;
    loop.pass(time);
    node->expire(late, false, loop.now());
    loop.settle();
    return connection;
  }
  void late_reply_comes() {
    network.session().dirty = false;
    network.session().stream->on_read(1, loop.now());
    loop.settle();
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
  std::vector<std::uint64_t> ended_connections;
  std::deque<Request> requests;
  std::optional<ClientNode> node;

 private:
  void on_done(socket::Request& request, const socket::Completion& completion) override {
    ended[&request] = {completion.outcome, completion.reason, std::string(completion.text)};
  }
  void on_request_done(Request&, const socket::Completion&) override {}
  bool reroute(Request&, Now) override { return false; }
  void on_connection_ended(std::uint64_t connection, Now) override {
    ended_connections.push_back(connection);
  }
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

TEST_F(ClientNodeTest, AConnectionThatOwesALateReplyGoesOnOnceItHasCome) {
  time_out(100ms);
  EXPECT_TRUE(ended_connections.empty());
  EXPECT_EQ(network.dialing(), 1u) << "in its place, as if it had been closed";
  EXPECT_TRUE(node->last_signs().owes);
  start();
  EXPECT_EQ(network.session().in_flight(), 0u) << "it might wait in vain there";
  loop.pass(100ms);
  late_reply_comes();
  EXPECT_EQ(network.session().in_flight(), 1u);
  EXPECT_EQ(network.dialing(), 0u);
  EXPECT_EQ(network.sessions(), 1u);
  EXPECT_FALSE(node->last_signs().owes) << "it has been carried out";
  loop.pass(10s);
  EXPECT_TRUE(ended_connections.empty());
  EXPECT_EQ(node->stats().connections_lost, 0u);
}

TEST_F(ClientNodeTest, AConnectionThatIsReadyTakesThePlaceOfOneThatOwesALateReply) {
  const std::uint64_t connection = time_out(100ms);
  start();
  network.accept();
  EXPECT_EQ(ended_connections, std::vector{connection});
  EXPECT_EQ(network.sessions(), 1u);
  EXPECT_EQ(network.session().in_flight(), 1u);
  EXPECT_TRUE(node->last_signs().owes);
  network.session().answer();
  network.deliver(network.session());
  EXPECT_FALSE(node->last_signs().owes) << "it was made after the late request had ended";
}

TEST_F(ClientNodeTest, ALateReplyIsAwaitedForAsLongAsSilenceTakesToCount) {
  for (const auto time : {1ms, 100ms, 249ms}) {
    ended_connections.clear();
    const std::uint64_t connection = time_out(time);
    loop.pass(249ms - time);
    EXPECT_TRUE(ended_connections.empty());
    loop.pass(1ms);
    EXPECT_EQ(ended_connections, std::vector{connection});
    network.accept();
    start();
    network.session().answer();
    network.deliver(network.session());
  }
  ended_connections.clear();
  time_out(250ms);
  EXPECT_EQ(ended_connections.size(), 1u) << "at once";
  EXPECT_EQ(node->stats().connections_lost, 0u);
}

TEST_F(ClientNodeTest, WhatArrivesMeanwhileProlongsTheWaitForALateReply) {
  time_out(100ms);
  loop.pass(100ms);
  network.session().stream->on_read(1, loop.now());
  loop.pass(249ms);
  EXPECT_TRUE(ended_connections.empty());
  loop.pass(1ms);
  EXPECT_EQ(ended_connections.size(), 1u);
}

TEST_F(ClientNodeTest, WhatIsBoundToAConnectionGoesThereAlthoughItOwesALateReply) {
  const std::uint64_t connection = time_out(100ms);
  Request& bound = start(connection);
  ASSERT_EQ(network.session().in_flight(), 1u);
  loop.pass(200ms);
  EXPECT_TRUE(ended_connections.empty()) << "it has its own deadline";
  node->expire(bound, false, loop.now());
  loop.settle();
  EXPECT_EQ(ended_connections, std::vector{connection});
}

TEST_F(ClientNodeTest, WhatIsBoundToAConnectionThatIsReplacedIsAnsweredFirst) {
  const std::uint64_t connection = time_out(100ms);
  start(connection);
  network.accept();
  EXPECT_TRUE(ended_connections.empty());
  network.session().dirty = false;
  network.session().answer();
  network.deliver(network.session());
  EXPECT_EQ(ended_connections, std::vector{connection});
}

TEST_F(ClientNodeTest, AServerThatEndsAConnectionThatOwesALateReplyDelaysNoOther) {
  time_out(100ms);
  network.session().end(Reason::connection_lost, "cut");
  network.deliver(network.session());
  ASSERT_EQ(ended_connections.size(), 1u);
  EXPECT_EQ(node->stats().connections_lost, 1u);
  Request& next = start();
  network.accept();
  EXPECT_NE(next.socket, nullptr);
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
