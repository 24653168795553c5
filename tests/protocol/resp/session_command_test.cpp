// Pass-through commands: what is written, what is answered, and which are refused.

#include <gtest/gtest.h>

#include "protocol/resp/changes/command_rules.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

using WordList = std::vector<std::string_view>;

TEST(RespCommand, ItsWordsAreSentAndItsWholeReplyIsTheValue) {
  ReadyWire wire;
  const WordList words{"HGETALL", "a b", ""};
  for (const std::string_view reply :
       {"%1\r\n$1\r\nf\r\n:3\r\n", "*0\r\n", "_\r\n", "$-1\r\n", "+OK\r\n", ":-7\r\n", ",1.5\r\n",
        "#t\r\n", "(12345678901234567890\r\n", "$2\r\nab\r\n", "~1\r\n*1\r\n_\r\n"}) {
    const Seen answer = wire.ask(command(words), reply);
    EXPECT_EQ(wire.written, "HGETALL a b ");
    EXPECT_EQ(answer.kind, Event::Kind::reply);
    EXPECT_EQ(answer.status, Status::done);
    EXPECT_EQ(answer.value, reply);
  }
}

TEST(RespCommand, ManyWordsAndALongOneArrive) {
  ReadyWire wire;
  const std::string value(100'000, 'v');
  WordList words{"MSET"};
  std::string expected = "MSET";
  for (int i = 0; i < 100; ++i) {
    words.emplace_back("k");
    words.emplace_back(i == 50 ? std::string_view(value) : "w");
    expected += " k " + std::string(words.back());
  }
  EXPECT_EQ(wire.ask(command(words), "+OK\r\n").status, Status::done);
  EXPECT_EQ(wire.written, expected);
}

TEST(RespCommand, AnErrorRefusesItAndARedirectLeadsOn) {
  ReadyWire wire;
  const WordList words{"LPUSH", "k", "v"};
  const Seen wrong = wire.ask(command(words), "-WRONGTYPE no list\r\n");
  EXPECT_EQ(wrong.status, Status::refused);
  EXPECT_EQ(wrong.text, "WRONGTYPE no list");
  EXPECT_FALSE(wrong.redirect);
  const Seen moved = wire.ask(command(words), redirect("k"));
  EXPECT_EQ(moved.redirect, (Whereto{.kind = protocol::Redirect::Kind::moved,
                                     .host = "10.0.0.1",
                                     .port = 7000,
                                     .slot = hash_slot("k")}));
}

TEST(RespCommand, OneThatAsksIsKeptBetweenAskingAndPing) {
  ReadyWire wire;
  const WordList words{"INCR", "k"};
  const Seen answer = wire.ask(asking(command(words)), "+OK\r\n:1\r\n+PONG\r\n");
  EXPECT_EQ(wire.written, "ASKING; INCR k; PING");
  EXPECT_EQ(answer.value, ":1\r\n");
}

TEST(RespCommand, AReplyAboveTheLimitIsRefusedAndTheConnectionGoesOn) {
  ReadyWire wire;
  const WordList words{"GET", "k"};
  const Seen answer = wire.ask(command(words), bulk(std::string(2'000'001, 'v')));
  EXPECT_EQ(answer.status, Status::refused);
  EXPECT_EQ(answer.reason, Reason::too_large);
  EXPECT_TRUE(answer.executed);
  EXPECT_EQ(wire.ask(get("k"), "$1\r\nv\r\n").value, "v");
}

// A reply of `levels` nested arrays.
std::string nested(std::size_t levels) {
  std::string reply;
  for (std::size_t i = 0; i < levels; ++i) reply += "*1\r\n";
  return reply + "_\r\n";
}

std::string list_of(std::size_t items, std::string_view item) {
  std::string reply = "*" + std::to_string(items) + "\r\n";
  for (std::size_t i = 0; i < items; ++i) reply += item;
  return reply;
}

TEST(RespCommand, AReplyThatIsTooLargeInAnyWayEndsOnlyItsOwnRequest) {
  const WordList words{"EVAL", "script", "0"};
  const std::string large = bulk(std::string(2'000'001, 'v'));
  for (const std::string& reply :
       {list_of(1'048'577, ":1\r\n"), list_of(3, large), "%1\r\n+k\r\n" + large,
        list_of(2, nested(32)), list_of(3, bulk(std::string(800'000, 'v'))),
        "+" + std::string(70'000, 's') + "\r\n", verbatim(std::string(2'000'001, 'v')),
        "!2000001\r\n" + large.substr(10)}) {
    ReadyWire wire;
    wire.submit(set("before", "v"));
    wire.submit(command(words));
    wire.submit(set("after", "v"));
    wire.take();
    wire.feed("+OK\r\n" + reply + "+OK\r\n", 50'000);
    EXPECT_EQ(wire.next().status, Status::done);
    const Seen answer = wire.next();
    EXPECT_EQ(answer.reason, Reason::too_large) << reply.substr(0, 20);
    EXPECT_EQ(answer.text,
              "the command was carried out; its reply is above value_limit, 1048576 "
              "values or 32 levels");
    EXPECT_TRUE(answer.executed);
    EXPECT_EQ(wire.next().status, Status::done);
    EXPECT_TRUE(wire.session.clean());
  }
}

TEST(RespCommand, AReplyJustWithinTheLimitsIsTheValue) {
  ReadyWire wire(Server::redis, SessionOptions{});
  const WordList words{"CLUSTER", "SLOTS"};
  for (const std::string& reply :
       {list_of(1'048'576, ":1\r\n"), nested(32), "+" + std::string(65'536, 's') + "\r\n",
        list_of(1, bulk(std::string(16u << 20, 'v')))}) {
    EXPECT_TRUE(wire.ask(command(words), reply).value == reply) << reply.substr(0, 20);
  }
}

TEST(RespCommand, AReplyThatIsTooLargeIsTheSameInWhateverPieces) {
  const WordList words{"EVAL", "script", "0"};
  const std::string bytes = bulk("a") + nested(33) + bulk("b");
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    for (const std::size_t step : {std::size_t{1}, bytes.size()}) {
      ReadyWire wire;
      wire.submit(get("a"));
      wire.submit(command(words));
      wire.submit(get("b"));
      wire.take();
      wire.feed(bytes.substr(0, split), step);
      wire.feed(bytes.substr(split), step);
      EXPECT_EQ(wire.next().value, "a") << split;
      EXPECT_EQ(wire.next().reason, Reason::too_large) << split;
      EXPECT_EQ(wire.next().value, "b") << split;
      EXPECT_TRUE(wire.session.clean()) << split;
    }
  }
}

TEST(RespCommand, ALargeReplyMayBeOfNobodyAnyMore) {
  ReadyWire wire;
  const WordList words{"EVAL", "script", "0"};
  const Ticket given_up = wire.submit(command(words));
  wire.submit(get("b"));
  wire.take();
  const std::string large = nested(33);
  wire.feed(large.substr(0, 50));
  wire.session.cancel(given_up, wire.now());
  wire.feed(large.substr(50) + bulk("b"));
  EXPECT_EQ(wire.next().value, "b");
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
}

TEST(RespCommand, OnlyToACommandMayAnythingButATextBeTooLarge) {
  for (const Operation& made : {get("k"), set("k", "v"), operation(Verb::stats)}) {
    for (const std::string& large : {nested(33), "+" + std::string(70'000, 's')}) {
      ReadyWire wire;
      wire.submit(made);
      wire.take();
      wire.feed(large);
      EXPECT_EQ(wire.end().reason, Reason::protocol_error) << large.substr(0, 5);
    }
  }
  ReadyWire statistics;
  EXPECT_EQ(statistics.ask(operation(Verb::stats), verbatim(std::string(2'000'001, 'v'))).reason,
            Reason::too_large);
}

TEST(RespCommand, APushIsNoReply) {
  ReadyWire wire;
  const WordList words{"ECHO", "x"};
  EXPECT_EQ(wire.ask(command(words), ">1\r\n+note\r\n$1\r\nx\r\n").value, "$1\r\nx\r\n");
}

// ---- what is refused

TEST(RespCommand, WhatChangesAConnectionOfOthersIsRefusedBeforeAByte) {
  ReadyWire wire;
  for (const WordList& words :
       {WordList{"MULTI"}, WordList{"exec"}, WordList{"Watch", "k"}, WordList{"SUBSCRIBE", "c"},
        WordList{"BLPOP", "k", "0"}, WordList{"HELLO", "3"}, WordList{"AUTH", "p"},
        WordList{"SELECT", "1"}, WordList{"CLIENT", "reply", "OFF"},
        WordList{"client", "TRACKING", "ON"}, WordList{"QUIT"},
        WordList{"XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", "s", "$"}, WordList{"MONITOR"},
        WordList{"READONLY"}, WordList{"ASKING"}, WordList{"WAIT", "1", "0"}, WordList{"RESET"}}) {
    const LocalError error = wire.refusal(command(words));
    EXPECT_EQ(error.outcome, Outcome::unsupported) << words.front();
    EXPECT_NE(error.text.find("is not passed through: "), error.text.npos) << error.text;
  }
  EXPECT_EQ(wire.sent(), "");
  const WordList multi{"multi"};
  EXPECT_EQ(wire.refusal(command(multi)).text,
            "MULTI is not passed through: a transaction would include other requests on the same "
            "connection");
}

TEST(RespCommand, NamesOfKeysAndArgumentsRefuseNothing) {
  for (const WordList& words :
       {WordList{"XREAD", "STREAMS", "BLOCK", "0"}, WordList{"GET", "MULTI"},
        WordList{"CLIENT", "ID"}, WordList{"CLIENT", "SETNAME", "REPLY"}, WordList{"CLIENT"},
        WordList{"SET", "BLPOP", "QUIT"}, WordList{"XREAD"},
        WordList{"LMOVE", "a", "b", "LEFT", "RIGHT"}}) {
    EXPECT_FALSE(refusal_of_command(words)) << words.front();
  }
}

TEST(RespCommand, NoCommandAndTooManyWordsAreInvalid) {
  ReadyWire wire;
  const WordList none;
  EXPECT_EQ(wire.refusal(command(none)).text, "the command is empty");
  const WordList empty{""};
  EXPECT_EQ(wire.refusal(command(empty)).outcome, Outcome::invalid);
  const WordList many(most_words + 1, "w");
  EXPECT_EQ(wire.refusal(command(many)).text,
            "the command has 1048577 words, above the 1048576 that a server takes");
  EXPECT_EQ(wire.sent(), "");
}

}  // namespace
}  // namespace sheaf::protocol::resp
