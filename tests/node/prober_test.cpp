#include "node/prober.h"

#include <gtest/gtest.h>

#include "tests/node/fake_sockets.h"
#include "tests/support/event_logs.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

class ProberTest : public testing::Test, private ProberOwner {
 protected:
  void ask() { prober.ask(loop.now().mono + 500ms, loop.now()); }
  void deliver() { network.deliver(network.session()); }

  FakeLoop loop;
  FakeNetwork network{loop};
  test::NoEvents events;
  NodeOptions options;
  NodeParts parts{loop, network, network, events};
  SocketMaker maker{options, parts};
  std::vector<std::string> results;  // "good", or why not
  bool again = false;                // asks again in each result
  Prober prober{maker, *this, 200ms};

 private:
  void on_probe_result(bool good, const protocol::CloseReason* why, Now now) override {
    results.push_back(good ? "good" : why == nullptr ? "bad" : "bad: " + why->text);
    if (why != nullptr && why->permanent) results.back() += ", for good";
    if (again) prober.ask(now.mono + 500ms, now);
  }
};

using Results = std::vector<std::string>;

TEST_F(ProberTest, AGoodAnswerIsReportedAndTheNextQuestionUsesTheSameConnection) {
  ask();
  EXPECT_EQ(prober.deadline(), loop.now().mono + 500ms);
  network.accept();
  EXPECT_EQ(network.session().verbs, std::vector{protocol::Verb::probe});
  EXPECT_EQ(results, Results{});
  network.session().answer();
  deliver();
  EXPECT_EQ(results, Results{"good"});
  EXPECT_EQ(prober.deadline(), never);
  ask();
  network.session().answer();
  deliver();
  EXPECT_EQ(results, (Results{"good", "good"}));
  EXPECT_EQ(network.dials, 1u);
}

TEST_F(ProberTest, ANodeThatRefusesTheConnectionIsReportedWithTheReason) {
  ask();
  network.refuse();
  EXPECT_EQ(results, Results{"bad: connection refused"});
  EXPECT_TRUE(prober.empty());
  EXPECT_EQ(prober.deadline(), never);
}

TEST_F(ProberTest, WithoutAnAnswerInTimeTheConnectionIsClosedAndTheNextQuestionDialsAnew) {
  ask();
  network.accept();
  loop.turn(prober.deadline());
  prober.on_deadline(loop.now());
  EXPECT_EQ(results, Results{"bad"});
  loop.settle();
  EXPECT_TRUE(prober.empty());
  ask();
  EXPECT_EQ(network.dials, 2u);
}

TEST_F(ProberTest, AConnectionThatIsNotThereInTimeIsGivenUp) {
  ask();
  loop.turn(prober.deadline() - 301ms);
  EXPECT_EQ(results, Results{});
  loop.turn(prober.deadline() - 300ms);
  EXPECT_EQ(results, Results{"bad: connect timed out"});
}

TEST_F(ProberTest, ARefusedQuestionIsABadAnswer) {
  ask();
  network.accept();
  network.session().answer(protocol::Status::refused);
  deliver();
  EXPECT_EQ(results, Results{"bad"});
  EXPECT_EQ(network.sessions(), 0u);
}

TEST_F(ProberTest, AConnectionThatEndsBetweenQuestionsIsNotReportedAndReplaced) {
  ask();
  network.accept();
  network.session().answer();
  deliver();
  network.session().end(Reason::connection_lost, "reset");
  deliver();
  EXPECT_EQ(results, Results{"good"});
  EXPECT_TRUE(prober.empty());
  ask();
  network.accept();
  network.session().answer();
  deliver();
  EXPECT_EQ(results, (Results{"good", "good"}));
}

TEST_F(ProberTest, OnlyAnAttemptToConnectIsRefusedForGood) {
  ask();
  network.refuse_log_in();
  EXPECT_EQ(results.back(), "bad: WRONGPASS, for good");
  ask();
  network.accept();
  network.session().end(Reason::authentication, "not authorized", true);
  deliver();
  EXPECT_EQ(results.back(), "bad: not authorized") << "the next one may be let in";
}

// The next dial of the name prefers another of its addresses.
TEST_F(ProberTest, AServerThatNeverBecomesReadyIsUselessAtItsAddress) {
  ask();
  network.refuse_for_another_login();
  EXPECT_EQ(network.useless, 0u) << "the next attempt asks the same server in another way";
  ask();
  network.accept();
  network.session().end(Reason::connection_lost, "reset");
  deliver();
  EXPECT_EQ(network.useless, 0u) << "it may be back";
  ask();
  network.accept();
  prober.close(loop.now());
  loop.settle();
  EXPECT_EQ(network.useless, 0u) << "we ended it";
  ask();
  network.refuse_log_in();
  EXPECT_EQ(network.useless, 1u);
}

TEST_F(ProberTest, ClosingEndsTheQuestionWithoutAReport) {
  ask();
  network.accept();
  prober.close(loop.now());
  EXPECT_EQ(prober.deadline(), never);
  loop.settle();
  EXPECT_EQ(results, Results{});
  EXPECT_TRUE(prober.empty());
  NodeStats stats;
  prober.add_to(stats);
  EXPECT_EQ(stats.connects, 1u);
}

TEST_F(ProberTest, TheOwnerMayAskAgainAtOnce) {
  again = true;
  ask();
  network.refuse();
  EXPECT_EQ(network.dialing(), 1u);
  network.accept();
  loop.turn(prober.deadline());
  prober.on_deadline(loop.now());
  loop.settle();
  EXPECT_EQ(network.dialing(), 1u);
  network.accept();
  network.session().answer();
  deliver();
  network.session().answer();
  deliver();
  EXPECT_EQ(results, (Results{"bad: connection refused", "bad", "good", "good"}));
  EXPECT_EQ(network.dials, 3u);
}

TEST_F(ProberTest, AKeptConnectionThatCannotGoOnWithAnotherLoginIsClosed) {
  ask();
  network.accept();
  network.session().answer();
  deliver();
  prober.renew_login(loop.now());
  EXPECT_FALSE(prober.empty());
  network.session().renews = false;
  prober.renew_login(loop.now());
  loop.settle();
  EXPECT_TRUE(prober.empty());
  EXPECT_EQ(results, Results{"good"}) << "nothing was being asked";
  ask();
  EXPECT_EQ(network.dials, 2u);
}

TEST_F(ProberTest, AQuestionOnAConnectionThatCannotGoOnIsAskedAnew) {
  ask();
  network.accept();
  network.session().renews = false;
  again = true;
  prober.renew_login(loop.now());
  EXPECT_EQ(results, Results{"bad"});
  EXPECT_EQ(network.dialing(), 1u);
}

}  // namespace
}  // namespace sheaf::node
