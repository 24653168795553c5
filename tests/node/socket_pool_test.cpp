#include "node/socket_pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "node/socket_lease.h"
#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using socket::ClientSocket;

class SocketPoolTest : public testing::Test,
                       private socket::ClientSocketOwner,
                       private socket::RequestSink {
 protected:
  SocketPool& make(unsigned min, unsigned max) {
    bounds.min = min;
    bounds.max = max;
    socket::ClientSocketOwner& owner = *this;
    return pool.emplace(bounds, maker, loop, owner, Random(1).fork());
  }
  Deadline maintain(std::size_t waiting = 0, bool usable = true) {
    return pool->maintain({waiting, usable, 500ms}, loop.now());
  }
  // A pool of `count` ready connections.
  SocketPool& ready(unsigned count) {
    make(count, count);
    maintain();
    while (network.dialing() > 0) network.accept();
    return *pool;
  }
  Request& request(const std::string& key = "key", std::uint64_t only_on = 0) {
    Request& request = requests.emplace_back();
    request.operation.key = keys.emplace_back(key);
    request.only_on = only_on;
    request.sink = this;
    return request;
  }
  // Puts a request on a socket, which is on loan until the request ends.
  void submit(ClientSocket& socket, Request& request) {
    pool->lend(socket);
    ASSERT_TRUE(socket.submit(request, loop.now()));
  }
  // Submits requests in one turn, and returns how many were in each write.
  std::vector<std::size_t> writes_of(unsigned count) {
    network.writes.clear();
    for (unsigned i = 0; i < count; ++i) submit(*pool->least_loaded(), request());
    loop.settle();
    return network.writes;
  }
  NodeStats stats() {
    NodeStats stats;
    pool->add_to(stats);
    return stats;
  }

  FakeLoop loop;
  FakeNetwork network{loop};
  test::NoEvents events;
  NodeOptions options;
  NodeParts parts{loop, network, network, events};
  SocketMaker maker{options, parts};
  PoolBounds bounds;
  std::deque<std::string> keys;
  std::deque<Request> requests;
  std::optional<SocketPool> pool;

 private:
  void on_socket_ready(ClientSocket& socket, Now now) override { pool->on_ready(socket, now); }
  void on_socket_reply(ClientSocket& socket, socket::Request&, const protocol::Reply&,
                       Now) override {
    pool->give_back(socket);
  }
  void on_socket_failed(ClientSocket& socket, socket::Request&, protocol::Sent, Now) override {
    pool->give_back(socket);
  }
  void on_socket_closed(ClientSocket& socket, const protocol::CloseReason& why, Now now) override {
    pool->on_closed(socket, why, now);
  }
  void on_done(socket::Request&, const socket::Completion&) override {}
};

TEST_F(SocketPoolTest, AnIdleServerGetsTheFirstPartOfABatchWhileTheRestIsWritten) {
  ready(1);
  network.session().capacity = 2'000;
  EXPECT_EQ(writes_of(15), std::vector<std::size_t>{15}) << "all at the end of the turn";
  EXPECT_EQ(writes_of(400), (std::vector<std::size_t>{128, 128, 128, 16})) << "it is at work";
  for (int i = 0; i < 415; ++i) network.session().answer();
  network.deliver(network.session());
  EXPECT_EQ(writes_of(400), (std::vector<std::size_t>{16, 32, 64, 128, 128, 32}));
}

TEST_F(SocketPoolTest, FillsUpToItsLowerBoundAndOpensMoreForWhatWaits) {
  make(2, 3);
  maintain();
  EXPECT_EQ(network.dialing(), 2u);
  maintain(5);
  EXPECT_EQ(network.dialing(), 2u) << "those that are under way will be room";
  network.accept();
  network.accept();
  maintain(5);
  ASSERT_EQ(network.dialing(), 0u) << "there is room";
  network.session(0).capacity = network.session(1).capacity = 0;
  maintain(5);
  ASSERT_EQ(network.dialing(), 1u);
  network.accept();
  network.session(2).capacity = 0;
  maintain(5);
  EXPECT_EQ(pool->size(), 3u) << "the upper bound";
}

TEST_F(SocketPoolTest, OpensNothingToANodeThatIsNotUsable) {
  make(2, 2);
  maintain(5, false);
  EXPECT_TRUE(pool->empty());
}

TEST_F(SocketPoolTest, AKeyHasOneConnectionAndKeysUseThemAll) {
  ready(3);
  std::set<ClientSocket*> used;
  for (int i = 0; i < 50; ++i) {
    const std::string key = std::to_string(i);
    ClientSocket* const socket = pool->socket_for(request(key));
    EXPECT_EQ(pool->socket_for(request(key)), socket);
    used.insert(socket);
  }
  EXPECT_EQ(used.size(), 3u);
  EXPECT_EQ(used.count(nullptr), 0u);
}

TEST_F(SocketPoolTest, AKeyWaitsForItsConnectionThoughAnotherHasRoom) {
  ready(2);
  network.session(0).capacity = network.session(1).capacity = 1;
  ClientSocket* const socket = pool->socket_for(request());
  submit(*socket, request());
  EXPECT_EQ(pool->socket_for(request()), nullptr);
  EXPECT_NE(pool->least_loaded(), nullptr);
}

TEST_F(SocketPoolTest, RetiredConnectionsFinishWhatIsOnThemAndClose) {
  const Deadline made = loop.now().mono;
  ready(2);
  ClientSocket* const busy = pool->socket_for(request());
  const std::uint64_t id = busy->id;
  submit(*busy, request());
  pool->retire_ready(made - 1ms, loop.now());
  EXPECT_NE(pool->socket_for(request()), nullptr) << "they were made after that";
  pool->retire_ready(made, loop.now());
  loop.settle();
  EXPECT_EQ(pool->size(), 1u) << "the idle one has closed";
  EXPECT_EQ(pool->socket_for(request()), nullptr);
  EXPECT_EQ(pool->least_loaded(), nullptr);
  EXPECT_FALSE(pool->any_ready());
  EXPECT_EQ(pool->socket_for(request("key", id)), busy) << "what is bound to it";
  maintain();
  network.accept();
  EXPECT_NE(pool->socket_for(request()), nullptr);
  EXPECT_NE(pool->socket_for(request()), busy);
  FakeSession& session = network.session(0);
  session.answer();
  network.deliver(session);
  EXPECT_EQ(pool->size(), 2u) << "those that were made in the places of the two";
  EXPECT_TRUE(pool->has_lost(request("key", id)));
}

TEST_F(SocketPoolTest, ConnectionsToStrangersFinishAndAreReplaced) {
  ready(2);
  network.session(0).id = "ours";
  network.session(1).id = "foreign";
  Request& busy = request();
  submit(*pool->least_loaded(), busy);
  ClientSocket* const used = busy.socket;
  protocol::KnownServers known;
  pool->leave_strangers(known, loop.now());
  EXPECT_FALSE(used->retired) << "nothing is known";
  known.assign({"ours", "other"});
  pool->leave_strangers(known, loop.now());
  loop.settle();
  EXPECT_EQ(network.sessions(), 1u) << "the foreign one has closed";
  EXPECT_EQ(network.session(0).id, "ours");
  EXPECT_EQ(network.useless, 1u) << "other addresses of the name are tried first";
  known.assign({"new"});
  pool->leave_strangers(known, loop.now());
  loop.settle();
  ASSERT_EQ(network.sessions(), 1u) << "it is owed a reply";
  EXPECT_TRUE(used->retired);
  network.session(0).answer();
  network.deliver(network.session(0));
  EXPECT_EQ(network.sessions(), 0u);
}

TEST_F(SocketPoolTest, WhatCannotGoOnWithAnotherLoginIsReplacedAndFinishesFirst) {
  ready(2);
  network.session(0).renews = network.session(1).renews = false;
  ClientSocket* const busy = pool->socket_for(request());
  submit(*busy, request());
  pool->renew_login(loop.now());
  loop.settle();
  EXPECT_EQ(pool->size(), 1u) << "the idle one has closed";
  EXPECT_EQ(pool->least_loaded(), nullptr);
  maintain();
  EXPECT_EQ(network.dialing(), 2u);
  network.accept();
  EXPECT_NE(pool->least_loaded(), busy);
  pool->renew_login(loop.now());
  EXPECT_EQ(network.session(0).renewals, 1u) << "one that is retired is not asked again";
  FakeSession& session = network.session(0);
  session.answer();
  network.deliver(session);
  EXPECT_EQ(pool->size(), 2u);
  EXPECT_EQ(stats().connections_lost, 0u);
}

TEST_F(SocketPoolTest, WhatGoesOnWithAnotherLoginStays) {
  ready(2);
  pool->renew_login(loop.now());
  loop.settle();
  EXPECT_EQ(network.session(0).renewals + network.session(1).renewals, 2u);
  EXPECT_EQ(pool->size(), 2u);
  EXPECT_NE(pool->least_loaded(), nullptr);
}

// A client that gets a new but wrong login for each attempt must not retry forever.
TEST_F(SocketPoolTest, AnotherLoginIsTriedAtOnceButNotWithoutEnd) {
  make(1, 1);
  maintain();
  unsigned at_once = 0;
  for (; network.dialing() > 0 && at_once < 100; ++at_once) {
    network.refuse_for_another_login();
    maintain();
  }
  EXPECT_GT(at_once, 2u);
  EXPECT_LT(at_once, 10u);
  loop.turn(maintain());
  maintain();
  EXPECT_EQ(network.dialing(), 1u);
  network.accept();
  network.session().end_for_another_login();
  network.deliver(network.session());
  maintain();
  EXPECT_EQ(network.dialing(), 1u) << "one that was ready begins a new count";
}

TEST_F(SocketPoolTest, ABoundRequestGoesOnItsConnectionOrIsLost) {
  ready(2);
  ClientSocket* const socket = pool->socket_for(request());
  const std::uint64_t id = socket->id;
  EXPECT_EQ(pool->socket_for(request("another key", id)), socket);
  EXPECT_FALSE(pool->has_lost(request("key", id)));
  EXPECT_FALSE(pool->has_lost(request()));
  socket->close(loop.now());
  loop.settle();
  EXPECT_EQ(pool->socket_for(request("key", id)), nullptr);
  EXPECT_TRUE(pool->has_lost(request("key", id)));
  EXPECT_FALSE(pool->has_lost(request()));
}

TEST_F(SocketPoolTest, ASocketThatIsOwedAReplyIsClosedWhenItsLastLoanEnds) {
  ready(1);
  Request& first = request();
  submit(*pool->least_loaded(), first);
  const SocketLease lease(*pool, *pool->least_loaded());
  network.session().dirty = true;
  network.session().answer();
  network.deliver(network.session());
  EXPECT_EQ(pool->size(), 1u) << "it is still lent";
  {
    SocketLease last(*pool, *lease);
    SocketLease moved = std::move(last);
    moved.give_back();
  }
  EXPECT_EQ(pool->size(), 1u);
  const_cast<SocketLease&>(lease).give_back();
  loop.settle();
  EXPECT_EQ(pool->size(), 0u);
  EXPECT_EQ(stats().connections_lost, 0u) << "it was closed by us";
}

// One that comes back would take over keys that have requests in flight on the others.
TEST_F(SocketPoolTest, AmongSeveralASocketThatOwesALateReplyIsClosedAtOnce) {
  for (const unsigned count : {1u, 2u}) {
    ready(count);
    Request& late = request();
    ClientSocket& socket = *pool->socket_for(late);
    submit(socket, late);
    loop.settle();  // it leaves
    for (std::size_t i = 0; i < count; ++i) network.session(i).dirty = true;
    socket.cancel(late, loop.now());
    pool->give_back(socket);
    loop.settle();
    EXPECT_EQ(pool->size(), 1u);
    EXPECT_EQ(pool->least_loaded() == nullptr, count == 1);
    pool->close_all(loop.now());
    loop.settle();
  }
}

TEST_F(SocketPoolTest, AfterFailuresAttemptsAreSpacedUntilSomethingShowsThatTheNodeAnswers) {
  make(1, 1);
  for (int failure = 0; failure < 8; ++failure) {
    const Deadline next = maintain();
    if (network.dialing() == 0) {
      ASSERT_GT(next, loop.now().mono);
      loop.turn(next);
      maintain();
    }
    ASSERT_EQ(network.dialing(), 1u);
    network.refuse();
  }
  EXPECT_EQ(stats().connect_failures, 8u);
  maintain();
  EXPECT_EQ(network.dialing(), 0u) << "the eighth wait has not passed";
  pool->skip_backoff(loop.now());
  maintain();
  EXPECT_EQ(network.dialing(), 1u);
}

TEST_F(SocketPoolTest, AConnectionThatWasReadyCountsAsLost) {
  ready(1);
  network.session().end(Reason::connection_lost, "reset");
  network.deliver(network.session());
  EXPECT_TRUE(pool->empty());
  EXPECT_EQ(stats().connections_lost, 1u);
  EXPECT_EQ(stats().connect_failures, 0u);
  EXPECT_EQ(stats().connects, 1u);
}

TEST_F(SocketPoolTest, AConnectionThatIsLostWithARequestInFlightCountsAsLost) {
  ready(1);
  submit(*pool->least_loaded(), request());
  network.session().end(Reason::connection_lost, "reset");
  loop.settle();
  EXPECT_TRUE(pool->empty());
  EXPECT_EQ(stats().connections_lost, 1u);
}

TEST_F(SocketPoolTest, EndsWhatIsBusyOrIdleForTooLong) {
  bounds.busy_timeout = 3s;
  bounds.idle_timeout = 5s;
  make(0, 2);
  maintain(1);
  network.accept();
  submit(*pool->least_loaded(), request());
  EXPECT_EQ(maintain(), loop.now().mono + 3s);
  loop.pass(3s);
  maintain();
  loop.settle();
  EXPECT_TRUE(pool->empty());
  EXPECT_EQ(stats().connections_lost, 1u);
  loop.pass(1s);
  maintain(1);
  network.accept();
  EXPECT_EQ(maintain(), loop.now().mono + 5s);
  loop.pass(5s);
  maintain();
  loop.settle();
  EXPECT_TRUE(pool->empty());
  EXPECT_EQ(stats().connections_lost, 1u);
}

TEST_F(SocketPoolTest, NoTwoConnectionsHaveOneNumberAndEachNamesItsNode) {
  options.index = 7;
  ready(3);
  std::set<std::uint64_t> ids;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t id = pool->socket_for(request(std::to_string(i)))->id;
      EXPECT_EQ(SocketMaker::node_of(id), 7u);
      ids.insert(id);
    }
    pool->close_all(loop.now());
    loop.settle();
    maintain();
    while (network.dialing() > 0) network.accept();
  }
  EXPECT_EQ(ids.size(), 9u);
}

}  // namespace
}  // namespace sheaf::node
