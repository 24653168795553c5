// When the end of a connection means that another process uses its client ID, and the pauses.

#include "node/takeovers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/node/now_at.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;
using Nanos = std::chrono::nanoseconds;
using Pause = std::optional<Nanos>;

constexpr std::string_view name = "press-7";

protocol::CloseReason told() {
  return {.text = "the server ended the connection: session taken over", .taken_over = true};
}
protocol::CloseReason cut() { return {.text = "the server ended the connection", .cut = true}; }

class TakeoversTest : public testing::Test {
 protected:
  Pause end(const protocol::CloseReason& why, Nanos created, Nanos ended) {
    return takeovers.on_ended(why, name, true, created, at(ended));
  }
  void fail_attempt(Nanos time) {
    EXPECT_EQ(takeovers.on_ended({Reason::connect_failed, "refused"}, name, false, time, at(time)),
              std::nullopt);
  }
  Takeovers takeovers;
};

TEST_F(TakeoversTest, WhatTheServerSaysCountsAtOnce) {
  EXPECT_EQ(end(told(), 0s, 1h), 2s);
  takeovers = Takeovers();
  EXPECT_EQ(end(told(), 0s, 1ms), 2s);
}

TEST_F(TakeoversTest, DuringTheHandshakeItCountsToo) {
  EXPECT_EQ(takeovers.on_ended(told(), name, false, 0s, at(1ms)), 2s);
}

TEST_F(TakeoversTest, AConnectionWithoutANameOfItsOwnIsNotTakenOver) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(takeovers.on_ended(told(), "", true, 0s, at(1s)), std::nullopt);
    EXPECT_EQ(takeovers.on_ended(cut(), "", true, 0s, at(1s)), std::nullopt);
  }
}

TEST_F(TakeoversTest, AServerThatSaysNothingIsBelievedTheSecondTime) {
  EXPECT_EQ(end(cut(), 0s, 1h), std::nullopt) << "it may have restarted";
  EXPECT_EQ(end(cut(), 1h, 1h + 60ms), 2s);
}

// When its last request has failed, the pool aborts a connection that is not as good as new.
TEST_F(TakeoversTest, ACutCountsAlsoIfThePoolHasAbortedTheConnectionSince) {
  protocol::CloseReason aborted = cut();
  aborted.reason = Reason::closed;
  EXPECT_EQ(end(aborted, 0s, 1s), std::nullopt);
  EXPECT_EQ(end(aborted, 1s, 1'900ms), 2s);
}

TEST_F(TakeoversTest, ConnectionsThatLiveForAWhileAndAreCutAreNotTakenOver) {
  for (Nanos time = 0s; time < 1h; time += 3s) EXPECT_EQ(end(cut(), time, time + 3s), Pause());
}

TEST_F(TakeoversTest, ConnectionsOfAPoolThatAreCutTogetherCountOnce) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(end(cut(), 0s, 5s), std::nullopt);
  EXPECT_EQ(end(cut(), 6s, 6'900ms), 2s);
}

TEST_F(TakeoversTest, ConnectionsOfAPoolThatAreTakenOverTogetherAreOneTakeover) {
  EXPECT_EQ(end(told(), 0s, 5s), 2s);
  EXPECT_EQ(end(told(), 0s, 6s), 1s) << "what is left of that pause";
  EXPECT_EQ(end(cut(), 1s, 8s), std::nullopt);
  EXPECT_EQ(end(told(), 7s, 9s), 4s);
}

TEST_F(TakeoversTest, AFailedAttemptBetweenTwoCutsMeansThatTheServerRestarted) {
  for (Nanos time = 0s; time < 10s; time += 1s) {
    EXPECT_EQ(end(cut(), time, time + 500ms), std::nullopt);
    fail_attempt(time + 600ms);
  }
}

TEST_F(TakeoversTest, EndsOfOtherKindsBetweenTwoCutsStartTheCountAgain) {
  EXPECT_EQ(end(cut(), 0ms, 500ms), std::nullopt);
  EXPECT_EQ(end({Reason::protocol_error, "RST"}, 500ms, 1s), std::nullopt);
  EXPECT_EQ(end(cut(), 1s, 1'500ms), std::nullopt);
  protocol::CloseReason alert = cut();
  alert.reason = Reason::authentication;
  EXPECT_EQ(end(alert, 1'500ms, 2s), std::nullopt) << "an alert of TLS";
  EXPECT_EQ(end(cut(), 2s, 2'500ms), std::nullopt);
}

// The server hung: our first attempt timed out, the second one succeeded, and only then did the
// server read the CONNECT of the first.
TEST_F(TakeoversTest, AnAttemptThatWeHaveGivenUpMayTakeOverOurNextConnectionOnce) {
  fail_attempt(0s);
  EXPECT_EQ(end(told(), 1s, 1s + 5ms), std::nullopt);
  EXPECT_EQ(end(told(), 2s, 2s + 5ms), 2s) << "there was only one such attempt";
}

TEST_F(TakeoversTest, AnAttemptThatWeGaveUpLongBeforeIsNoExcuse) {
  fail_attempt(0s);
  EXPECT_EQ(end(told(), 1s, 12s), 2s);
}

TEST_F(TakeoversTest, PausesDoubleWhileTheOtherProcessComesBackAndStartAnewAfterIt) {
  std::vector<Nanos> pauses;
  Nanos now = 0s;
  for (int i = 0; i < 8; ++i) {
    const Pause pause = end(told(), now, now + 1s);
    ASSERT_TRUE(pause);
    pauses.push_back(*pause);
    now += 1s + *pause + *pause;  // the other one has waited as long as we
  }
  EXPECT_EQ(pauses, (std::vector<Nanos>{2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}));
  EXPECT_EQ(end(told(), now, now + 3min), 2s);
}

TEST_F(TakeoversTest, AfterATakeoverOneCutIsEnough) {
  EXPECT_EQ(end(told(), 0s, 1s), 2s);
  EXPECT_EQ(end(cut(), 3s, 5s), 4s);
}

// Two clients with one ID at a server that tells (or cuts): reliability F34 allows 12 CONNECTs in
// the first minute.
void let_two_fight(const protocol::CloseReason& why, unsigned most) {
  struct Side {
    Takeovers takeovers{};
    Nanos next = 0s;     // when it connects
    Nanos created = 0s;  // when it connected last
  };
  Side sides[2];
  sides[0].next = 0s;
  sides[1].next = 20s;  // the second process starts
  std::vector<Nanos> connects;
  int holder = -1;
  for (;;) {
    const int who = sides[0].next <= sides[1].next ? 0 : 1;
    const Nanos now = sides[who].next;
    if (now > 20min) break;
    connects.push_back(now);
    sides[who].created = now;
    sides[who].next = Nanos::max();
    if (holder >= 0) {
      Side& other = sides[holder];
      const Pause pause = other.takeovers.on_ended(why, name, true, other.created, at(now));
      other.next = now + pause.value_or(30ms);
    }
    holder = who;
  }
  const auto in = [&](Nanos from, Nanos to) {
    return static_cast<unsigned>(
        std::ranges::count_if(connects, [&](Nanos time) { return time >= from && time < to; }));
  };
  EXPECT_LE(in(20s, 80s), most);
  EXPECT_GE(in(20s, 80s), 4u) << "the ID changes hands";
  EXPECT_LE(in(10min, 20min), 10u);
}

TEST_F(TakeoversTest, TwoProcessesWithOneIdConnectTwelveTimesInTheFirstMinuteAtMost) {
  let_two_fight(told(), 12);
  let_two_fight(cut(), 12);
}

TEST_F(TakeoversTest, TheSentenceNamesTheIdAndSaysHowSureItIs) {
  EXPECT_EQ(name_is_taken(name, told()).text,
            "another process uses the client ID press-7: the server ended the connection: session "
            "taken over");
  EXPECT_EQ(name_is_taken(name, cut()).text,
            "another process seems to use the client ID press-7: the server ended the connection");
  EXPECT_EQ(name_is_taken(name, cut()).reason, Reason::authentication);
  EXPECT_FALSE(name_is_taken(name, told()).permanent);
}

}  // namespace
}  // namespace sheaf::node
