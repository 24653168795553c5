// Errors: their effect on a request and on the connection; redirects; and requests that follow one.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

using To = protocol::Redirect::Kind;

// ---- redirects

TEST(RespErrors, MovedAndAskSayWhereTo) {
  struct Case {
    std::string_view key;
    std::string error;
    Whereto to;
  };
  const std::uint16_t slot = hash_slot("k");
  const Case cases[] = {
      {"foo", "-MOVED 12182 10.0.0.1:7000\r\n", {To::moved, "10.0.0.1", 7000, 12182}},
      {"{foo}1", "-ASK 12182 node-2.example:7001\r\n", {To::ask, "node-2.example", 7001, 12182}},
      {"k", redirect("k", "MOVED", "fe80::1:7000"), {To::moved, "fe80::1", 7000, slot}},
      {"k", redirect("k", "MOVED", "[::1]:7000"), {To::moved, "::1", 7000, slot}},
      {"k", redirect("k", "MOVED", ":7000"), {To::moved, "", 7000, slot, false}},
      {"k", redirect("k", "ASK", "?:7000"), {To::ask, "", 7000, slot, true}},
      {"k", redirect("k", "MOVED", "unassigned:0"), {To::later, "", 0, 0}},
      {"k", redirect("k", "MOVED", "10.0.0.1:0"), {To::later, "", 0, 0}},
  };
  ReadyWire wire;
  for (const Case& expected : cases) {
    const Seen seen = wire.ask(get(expected.key), expected.error);
    EXPECT_EQ(seen.status, Status::refused) << expected.error;
    EXPECT_EQ(seen.redirect, expected.to) << expected.error;
  }
}

// Such a redirect answers another request, so replies no longer match their requests.
class RespOtherSlot : public testing::TestWithParam<const char*> {
 protected:
  // The request and its neighbour end with the connection.
  static void expect_the_end(Wire& wire, const Operation& operation, std::string_view before) {
    const Ticket ticket = wire.submit(operation);
    const Ticket next = wire.submit(get("other"));
    wire.take();
    wire.feed(std::string(before) + redirect("other", GetParam()));
    for (const Ticket each : {ticket, next}) {
      const Seen failed = wire.next();
      EXPECT_EQ(failed.kind, Event::Kind::failed);
      EXPECT_EQ(failed.ticket, each);
      EXPECT_EQ(failed.sent, Sent::maybe);
    }
    EXPECT_EQ(wire.end().reason, Reason::protocol_error);
    EXPECT_EQ(
        wire.session.close_reason().text,
        "the server broke the protocol: a redirect for a slot that was not requested: " +
            redirect("other", GetParam()).substr(1, redirect("other", GetParam()).size() - 3));
  }
};

TEST_P(RespOtherSlot, EndsTheConnectionWhateverWasAsked) {
  const Operation operations[] = {get("k"),
                                  set("k", "v"),
                                  operation(Verb::remove, "k"),
                                  living(operation(Verb::touch, "k"), 1s),
                                  operation(Verb::get_and_touch, "k"),
                                  with(set("k", "v"), Condition::if_absent_or_equal),
                                  operation(Verb::increment, "k"),
                                  operation(Verb::probe),
                                  operation(Verb::server_version),
                                  operation(Verb::stats, "other")};
  for (const Operation& each : operations) {
    ReadyWire wire;
    expect_the_end(wire, each, "");
  }
  ReadyWire wire;
  expect_the_end(wire, asking(get("k")), "+OK\r\n");
}

TEST_P(RespOtherSlot, OfOneOfManyIsThatOfTheKeyWhoseTurnItIs) {
  const std::vector<std::string_view> keys{"a", "other", "c"};
  {
    ReadyWire wire;
    wire.submit(many(keys));
    wire.take();
    wire.feed(redirect("a", GetParam()) + redirect("other", GetParam()) + "_\r\n");
    EXPECT_TRUE(wire.next().redirect);
    EXPECT_EQ(wire.next().index, 1u);
    EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  }
  ReadyWire wire;
  expect_the_end(wire, many(keys), "");
}

TEST_P(RespOtherSlot, OfACommandIsThatOfNoneOfItsWords) {
  const std::vector<std::string_view> words{"LMOVE", "a", "other", "LEFT", "RIGHT"};
  {
    ReadyWire wire;
    EXPECT_TRUE(wire.ask(command(words), redirect("other", GetParam())).redirect);
  }
  const std::vector<std::string_view> others{"LMOVE", "a", "b", "LEFT", "RIGHT"};
  ReadyWire wire;
  expect_the_end(wire, command(others), "");
}

TEST_P(RespOtherSlot, IsNoticedOfARequestThatWasGivenUp) {
  ReadyWire wire;
  const Ticket given_up = wire.submit(get("k"));
  wire.take();
  wire.session.cancel(given_up, wire.now());
  wire.feed(redirect("other", GetParam()));
  EXPECT_EQ(wire.end().reason, Reason::protocol_error);

  ReadyWire passed_through;  // its words may be gone
  const std::vector<std::string_view> words{"INCR", "k"};
  const Ticket command_given_up = passed_through.submit(command(words));
  passed_through.take();
  passed_through.session.cancel(command_given_up, passed_through.now());
  passed_through.feed(redirect("other", GetParam()));
  EXPECT_TRUE(passed_through.session.clean());
}

INSTANTIATE_TEST_SUITE_P(Words, RespOtherSlot, testing::Values("MOVED", "ASK"),
                         [](const auto& test) { return std::string(test.param); });

TEST(RespErrors, WhatIsNotServedAtTheMomentIsToBeSentAgain) {
  ReadyWire wire;
  for (const std::string_view error :
       {"-CLUSTERDOWN Hash slot not served\r\n", "-TRYAGAIN Multiple keys request\r\n",
        "-MIGRATING\r\n", "-LOADING Redis is loading\r\n", "-MASTERDOWN Link with MASTER\r\n",
        "-READONLY You can't write against a read only replica.\r\n", "-BUSY Redis is busy\r\n",
        "-UNBLOCKED force unblock\r\n"}) {
    const Seen seen = wire.ask(set("k", "v"), error);
    EXPECT_EQ(seen.status, Status::refused) << error;
    EXPECT_EQ(seen.redirect, Whereto{}) << error;
    EXPECT_EQ(seen.text + "\r\n", error.substr(1));
    wire.events.clear();  // READONLY also shows another role
  }
}

TEST(RespErrors, AllOthersRefuseAndLeadNowhere) {
  ReadyWire wire;
  struct Case {
    std::string_view error;
    Reason reason;
  };
  const Case cases[] = {
      {"-WRONGTYPE Operation against a key\r\n", Reason::wrong_type},
      {"-OOM command not allowed\r\n", Reason::quota},
      {"-ERR unknown command\r\n", Reason::unknown_command},
      {"-ERR syntax error\r\n", Reason::syntax},
      {"-NOPERM this user has no permissions\r\n", Reason::not_authorized},
      {"-CROSSSLOT Keys in request\r\n", Reason::bad_argument},
      {"-NOREPLICAS Not enough good replicas\r\n", Reason::other},
      {"-MISCONF Redis is configured\r\n", Reason::other},
      {"-MOVED 99999 a:1\r\n", Reason::protocol_error},
      {"-MO\r\n", Reason::other},
      {"-\r\n", Reason::other},
      {"!10\r\nERR resp-3\r\n", Reason::other},
  };
  for (const Case& expected : cases) {
    const Seen seen = wire.ask(set("k", "v"), expected.error);
    EXPECT_EQ(seen.status, Status::refused) << expected.error;
    EXPECT_EQ(seen.reason, expected.reason) << expected.error;
    EXPECT_EQ(seen.redirect, std::nullopt) << expected.error;
  }
  EXPECT_FALSE(wire.session.closed());
}

// ---- errors that end the connection

struct Fatal {
  std::string_view error;
  Reason reason;
  bool permanent;
};

TEST(RespErrors, WithoutALoginTheConnectionIsOfNoUse) {
  const Fatal cases[] = {
      {"-NOAUTH Authentication required.\r\n", Reason::authentication, true},
      {"-DENIED Redis is running in protected mode\r\n", Reason::not_authorized, true},
      {"-ERR max number of clients reached\r\n", Reason::connection_lost, false},
  };
  for (const Fatal& fatal : cases) {
    ReadyWire wire;
    const Ticket first = wire.submit(set("k", "v"));
    const Ticket second = wire.submit(set("k", "v"));
    wire.take();
    wire.feed(fatal.error);
    const Seen refused = wire.next();
    EXPECT_EQ(refused.ticket, first);
    EXPECT_EQ(refused.status, Status::refused) << "nothing was executed, for certain";
    EXPECT_EQ(refused.text + "\r\n", fatal.error.substr(1));
    const Seen failed = wire.next();
    EXPECT_EQ(failed.ticket, second);
    EXPECT_EQ(failed.kind, Event::Kind::failed);
    EXPECT_EQ(failed.sent, Sent::maybe);
    EXPECT_EQ(wire.end().reason, fatal.reason) << fatal.error;
    EXPECT_EQ(wire.session.close_reason().permanent, fatal.permanent) << fatal.error;
    EXPECT_EQ(wire.session.close_reason().text,
              "the server refuses the connection: " + refused.text);
  }
}

// No one knows which request the server could not read.
TEST(RespErrors, AfterAProtocolErrorNothingIsKnown) {
  for (const std::string_view error : {"-ERR Protocol error: invalid bulk length\r\n",
                                       "-ERR Protocol Error: Unable to parse\r\n"}) {
    ReadyWire wire;
    const std::string value(50'000, 'v');
    wire.submit(get("k"));
    wire.take();
    wire.submit(set("k", value));
    wire.take(1'000);
    wire.feed(error);
    EXPECT_EQ(wire.next().sent, Sent::maybe);
    EXPECT_EQ(wire.next().sent, Sent::no) << "it has not left whole";
    EXPECT_EQ(wire.end().reason, Reason::protocol_error);
    EXPECT_FALSE(wire.session.close_reason().permanent);
  }
}

TEST(RespErrors, ARefusedConnectionEndsAListAndWhatNobodyAsked) {
  const std::vector<std::string_view> keys{"a", "b"};
  ReadyWire wire;
  wire.submit(many(keys));
  wire.take();
  wire.feed("-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::failed);
  EXPECT_EQ(wire.end().reason, Reason::authentication);

  ReadyWire idle;
  idle.feed("-ERR max number of clients reached\r\n");
  EXPECT_EQ(idle.end().reason, Reason::connection_lost);
}

// ---- asking

TEST(RespAsking, IsAPairThatAPingCloses) {
  ReadyWire wire(Server::garnet);
  const Ticket ticket = wire.submit(asking(get("k")));
  const Ticket other = wire.submit(get("other"));
  EXPECT_EQ(wire.sent(), "ASKING; GET k; PING; GET other");
  wire.feed("+OK\r\n");
  EXPECT_TRUE(wire.events.empty());
  wire.feed("$1\r\nv\r\n");
  const Seen own = wire.next();
  EXPECT_EQ(own.ticket, ticket);
  EXPECT_EQ(own.value, "v");
  EXPECT_EQ(wire.session.in_flight(), 1u);
  wire.feed("+PONG\r\n$1\r\no\r\n");
  const Seen next = wire.next();
  EXPECT_EQ(next.ticket, other);
  EXPECT_EQ(next.value, "o");
  EXPECT_TRUE(wire.session.clean());
  EXPECT_EQ(wire.session.counters().late_replies, 0u);
}

TEST(RespAsking, EveryRequestForOneKeyCan) {
  ReadyWire wire;
  wire.submit(asking(with(living(set("k", "v"), 5ms), Condition::if_absent)));
  EXPECT_EQ(wire.sent(), "ASKING; SET k v PX 5 NX; PING");
  wire.feed("+OK\r\n_\r\n+PONG\r\n");
  EXPECT_EQ(wire.next().status, Status::not_stored);
  wire.submit(asking(operation(Verb::remove, "k")));
  EXPECT_EQ(wire.sent(), "ASKING; DEL k; PING");
  wire.submit(asking(living(operation(Verb::touch, "k"), 1s)));
  EXPECT_EQ(wire.sent(), "ASKING; PEXPIRE k 1000; PING");
  wire.submit(asking(operation(Verb::get_and_touch, "k")));
  EXPECT_EQ(wire.sent(), "ASKING; GETEX k PERSIST; PING");
}

TEST(RespAsking, ARefusedAskingLeavesTheCommandItsOwnReply) {
  ReadyWire wire;
  wire.submit(asking(get("k")));
  wire.take();
  wire.feed("-ERR This instance has cluster support disabled\r\n" + redirect("k") + "+PONG\r\n");
  EXPECT_EQ(wire.next().redirect, (Whereto{To::moved, "10.0.0.1", 7000, hash_slot("k")}));
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST(RespAsking, EachOfItsRepliesIsChecked) {
  for (const std::string_view odd :
       {"$1\r\nv\r\n", "+PONG\r\n", "_\r\n", "+OK\r\n+OK\r\n", "+OK\r\n+PONG\r\n",
        "+OK\r\n$1\r\nv\r\n$1\r\nv\r\n", "+OK\r\n$1\r\nv\r\n+OK\r\n",
        "+OK\r\n$1\r\nv\r\n+PONG\r\n+PONG\r\n"}) {
    ReadyWire wire;
    wire.submit(asking(get("k")));
    wire.take();
    wire.feed(odd);
    while (!wire.events.empty() && wire.events.front().kind == Event::Kind::reply) wire.next();
    EXPECT_EQ(wire.end().reason, Reason::protocol_error) << odd;
  }
}

TEST(RespAsking, TheConnectionIsAsGoodAsNewBeforeItsPingIsAnswered) {
  ReadyWire wire;
  wire.submit(asking(get("k")));
  wire.take();
  wire.feed("+OK\r\n");
  EXPECT_FALSE(wire.session.clean());
  wire.feed("$1\r\nv\r\n");
  EXPECT_EQ(wire.next().value, "v");
  EXPECT_TRUE(wire.session.clean()) << "else it would be closed when it is given back";
  wire.feed("+PONG\r\n");
  EXPECT_TRUE(wire.session.clean());
}

TEST(RespAsking, ACancelledPairKeepsItsThreePlaces) {
  ReadyWire wire;
  const Ticket pair = wire.submit(asking(get("k")));
  wire.take();
  wire.feed("+OK\r\n");
  EXPECT_EQ(wire.session.cancel(pair, wire.now()), Sent::maybe);
  wire.submit(get("other"));
  wire.take();
  wire.feed("$1\r\nv\r\n");
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
  EXPECT_FALSE(wire.session.clean());
  wire.feed("+PONG\r\n$1\r\no\r\n");
  EXPECT_EQ(wire.next().value, "o");
}

TEST(RespAsking, CancelledBeforeItLeavesNothingIsWritten) {
  ReadyWire wire;
  const Ticket pair = wire.submit(asking(get("k")));
  EXPECT_EQ(wire.session.cancel(pair, wire.now()), Sent::no);
  EXPECT_EQ(wire.sent(), "");
  EXPECT_TRUE(wire.session.clean());
  EXPECT_EQ(wire.ask(get("k"), "$1\r\nv\r\n").value, "v");
}

// The command may have been executed although the PING after it has not left.
TEST(RespAsking, WhatIsCutOffMayHaveRun) {
  ReadyWire wire;
  wire.submit(asking(operation(Verb::remove, "k")));
  wire.take(40);
  wire.session.on_eof(wire.now());
  wire.poll();
  EXPECT_EQ(wire.next().sent, Sent::maybe);
}

TEST(RespAsking, TheReplyMayComeBeforeThePingHasLeftButNotBeforeTheValue) {
  const std::string value(50'000, 'v');
  ReadyWire wire;
  wire.submit(asking(set("k", value)));
  wire.take(50'050);
  wire.feed("+OK\r\n+OK\r\n");
  EXPECT_EQ(wire.next().status, Status::done);
  wire.take();
  wire.feed("+PONG\r\n");
  EXPECT_TRUE(wire.session.clean());

  ReadyWire early;
  early.submit(asking(set("k", value)));
  early.take(1'000);
  early.feed("+OK\r\n");
  EXPECT_FALSE(early.session.closed()) << "that was to ASKING";
  early.feed("+OK\r\n");
  EXPECT_EQ(early.end().reason, Reason::protocol_error);
}

}  // namespace
}  // namespace sheaf::protocol::resp
