// Commands that are passed through: what is written, what is answered, and which are refused.

#include <gtest/gtest.h>

#include "protocol/resp/command_rules.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

using Words = std::vector<std::string_view>;

TEST(RespCommand, ItsWordsAreSentAndItsWholeReplyIsTheValue) {
  ReadyWire wire;
  const Words words{"HGETALL", "a b", ""};
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
  Words words{"MSET"};
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
  const Words words{"LPUSH", "k", "v"};
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
  const Words words{"INCR", "k"};
  const Seen answer = wire.ask(asking(command(words)), "+OK\r\n:1\r\n+PONG\r\n");
  EXPECT_EQ(wire.written, "ASKING; INCR k; PING");
  EXPECT_EQ(answer.value, ":1\r\n");
}

TEST(RespCommand, AReplyAboveTheLimitIsRefusedAndTheConnectionGoesOn) {
  ReadyWire wire;
  const Words words{"GET", "k"};
  const Seen answer = wire.ask(command(words), bulk(std::string(2'000'001, 'v')));
  EXPECT_EQ(answer.status, Status::refused);
  EXPECT_EQ(answer.reason, Reason::too_large);
  EXPECT_TRUE(answer.executed);
  EXPECT_EQ(wire.ask(get("k"), "$1\r\nv\r\n").value, "v");
}

TEST(RespCommand, APushIsNoReply) {
  ReadyWire wire;
  const Words words{"ECHO", "x"};
  EXPECT_EQ(wire.ask(command(words), ">1\r\n+note\r\n$1\r\nx\r\n").value, "$1\r\nx\r\n");
}

// ---- what is refused

TEST(RespCommand, WhatChangesAConnectionOfOthersIsRefusedBeforeAByte) {
  ReadyWire wire;
  for (const Words& words :
       {Words{"MULTI"}, Words{"exec"}, Words{"Watch", "k"}, Words{"SUBSCRIBE", "c"},
        Words{"BLPOP", "k", "0"}, Words{"HELLO", "3"}, Words{"AUTH", "p"}, Words{"SELECT", "1"},
        Words{"CLIENT", "reply", "OFF"}, Words{"client", "TRACKING", "ON"}, Words{"QUIT"},
        Words{"XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", "s", "$"}, Words{"MONITOR"},
        Words{"READONLY"}, Words{"ASKING"}, Words{"WAIT", "1", "0"}, Words{"RESET"}}) {
    const LocalError error = wire.refusal(command(words));
    EXPECT_EQ(error.outcome, Outcome::unsupported) << words.front();
    EXPECT_NE(error.text.find("is not passed through: "), error.text.npos) << error.text;
  }
  EXPECT_EQ(wire.sent(), "");
  const Words multi{"multi"};
  EXPECT_EQ(wire.refusal(command(multi)).text,
            "MULTI is not passed through: a transaction would take in the requests of others on "
            "the same connection");
}

TEST(RespCommand, NamesOfKeysAndArgumentsRefuseNothing) {
  for (const Words& words :
       {Words{"XREAD", "STREAMS", "BLOCK", "0"}, Words{"GET", "MULTI"}, Words{"CLIENT", "ID"},
        Words{"CLIENT", "SETNAME", "REPLY"}, Words{"CLIENT"}, Words{"SET", "BLPOP", "QUIT"},
        Words{"XREAD"}, Words{"LMOVE", "a", "b", "LEFT", "RIGHT"}}) {
    EXPECT_FALSE(refusal_of_command(words)) << words.front();
  }
}

TEST(RespCommand, NoCommandAndTooManyWordsAreInvalid) {
  ReadyWire wire;
  const Words none;
  EXPECT_EQ(wire.refusal(command(none)).text, "the command is empty");
  const Words empty{""};
  EXPECT_EQ(wire.refusal(command(empty)).outcome, Outcome::invalid);
  const Words many(most_words + 1, "w");
  EXPECT_EQ(wire.refusal(command(many)).text,
            "the command has 1048577 words, above the 1048576 that a server takes");
  EXPECT_EQ(wire.sent(), "");
}

}  // namespace
}  // namespace sheaf::protocol::resp
