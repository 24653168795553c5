// Writes that depend on the present value of their key, step by step: by script and by a command
// that compares (session_transactions_test.cpp has transactions). Also what happens to a key.

#include <gtest/gtest.h>

#include "protocol/resp/changes/change.h"
#include "protocol/resp/changes/value_version.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view nothing = "";

Operation at_version(Operation made, std::string_view version) {
  made.condition = Condition::if_version;
  made.version = version;
  return made;
}

// The words of an EVAL, without its script.
std::string without_script(std::string commands) {
  const std::size_t begin = commands.find("EVAL ");
  const std::size_t end = commands.rfind(" 1 k");
  if (begin == commands.npos || end == commands.npos) return commands;
  return commands.substr(0, begin) + "EVAL" + commands.substr(end + 2);
}

class RespChanges : public testing::Test {
 protected:
  ReadyWire wire{Server::redis};
  const ValueVersion version = ValueVersion::of("old");
  const Operation swap = at_version(set("k", "new"), version.text());
  const Operation removal = at_version(operation(Verb::remove, "k"), version.text());
};

// ---- by a command that compares

class RespComparisons : public RespChanges {
 protected:
  const Operation equal = with(operation(Verb::remove, "k", "v"), Condition::if_value);
  ReadyWire valkey{Server::valkey};
  ReadyWire valkey_8{Server::valkey, test_options(), hello_of_valkey("8.1.1")};
};

TEST_F(RespComparisons, ValkeyComparesTheWholeValueByItself) {
  for (ReadyWire* const each : {&valkey, &valkey_8}) {
    each->submit(living(swap, 1'500ms));
    EXPECT_EQ(each->sent(), "GET k");
    each->feed(bulk("old"));
    EXPECT_EQ(each->sent(), "SET k new IFEQ old PX 1500");
    each->feed("+OK\r\n");
    EXPECT_EQ(each->next().status, Status::done);
  }
  valkey.submit(removal);
  valkey.sent();
  valkey.feed(bulk("old"));
  EXPECT_EQ(valkey.sent(), "DELIFEQ k old");
  valkey.feed(":1\r\n");
  EXPECT_EQ(valkey.next().status, Status::done);
  EXPECT_EQ(valkey.ask(equal, ":1\r\n").status, Status::done);
  EXPECT_EQ(valkey.written, "DELIFEQ k v");
}

TEST_F(RespComparisons, WhatIsNotEqualIsReadAndJudged) {
  valkey.submit(swap);
  valkey.sent();
  for (int round = 0; round < 3; ++round) {
    valkey.feed(bulk("old"));
    EXPECT_EQ(valkey.sent(), "SET k new IFEQ old") << "it was another one, and is the same again";
    valkey.feed("_\r\n");
    EXPECT_EQ(valkey.sent(), "GET k");
  }
  valkey.feed(bulk("other"));
  EXPECT_EQ(valkey.next().status, Status::not_stored);
  for (const auto& [present, status] : {std::pair(bulk("other"), Status::not_stored),
                                        std::pair(std::string("_\r\n"), Status::absent)}) {
    valkey.submit(equal);
    valkey.sent();
    valkey.feed(":0\r\n");
    EXPECT_EQ(valkey.sent(), "GET k");
    valkey.feed(present);
    EXPECT_EQ(valkey.next().status, status);
  }
  EXPECT_TRUE(valkey.session.clean());
}

TEST_F(RespComparisons, WhereOneIsMissingOrForbiddenAScriptDoesIt) {
  EXPECT_EQ(valkey_8.ask(equal, ":1\r\n").status, Status::done);
  EXPECT_EQ(without_script(valkey_8.written), "EVAL k v") << "DELIFEQ came with Valkey 9";
  for (const std::string error : {"-NOPERM no DELIFEQ\r\n", "-ERR unknown command 'DELIFEQ'\r\n"}) {
    ReadyWire other{Server::valkey};
    other.submit(equal);
    EXPECT_EQ(other.sent(), "DELIFEQ k v");
    other.feed(error);
    EXPECT_EQ(without_script(other.sent()), "EVAL k v");
    other.feed(":1\r\n");
    EXPECT_EQ(other.next().status, Status::done);
    other.submit(swap);
    other.sent();
    other.feed(bulk("old"));
    EXPECT_EQ(without_script(other.sent()), "EVAL k old new") << "from now on";
    other.feed(":1\r\n");
    other.next();
  }
}

TEST_F(RespComparisons, WithoutScriptsTheyNeedNoTransaction) {
  valkey.submit(operation(Verb::append, "k", "v"));
  valkey.sent();
  valkey.feed("-NOPERM no EVAL\r\n");
  EXPECT_EQ(valkey.sent(), "WATCH k; GET k; MULTI");
  valkey.feed("+OK\r\n_\r\n+OK\r\n");
  EXPECT_EQ(valkey.next().status, Status::not_stored);
  EXPECT_EQ(valkey.sent(), "DISCARD");
  valkey.submit(swap);
  EXPECT_EQ(valkey.sent(), "GET k");
  valkey.feed("+OK\r\n" + bulk("old"));
  EXPECT_EQ(valkey.sent(), "SET k new IFEQ old");
}

TEST_F(RespComparisons, WhatIsNoReplyToThemEndsTheConnection) {
  for (const std::string reply : {":1\r\n", "+QUEUED\r\n", "$3\r\nold\r\n"}) {
    ReadyWire other{Server::valkey};
    other.submit(swap);
    other.sent();
    other.feed(bulk("old"));
    other.sent();
    other.feed(reply);
    EXPECT_EQ(other.next().sent, Sent::maybe) << reply;
  }
}

TEST_F(RespComparisons, OneThatIsGivenUpHasPerhapsBeenDone) {
  const Ticket ticket = valkey.submit(swap);
  valkey.sent();
  valkey.feed(bulk("old"));
  valkey.sent();
  EXPECT_EQ(valkey.session.cancel(ticket, valkey.now()), Sent::maybe);
  valkey.feed("_\r\n");
  EXPECT_EQ(valkey.sent(), nothing) << "nobody wants to know any more";
}

// ---- by script

TEST_F(RespChanges, AVersionIsComparedByReadingAndThenTheWholeValueByAScript) {
  wire.submit(swap);
  EXPECT_EQ(wire.sent(), "GET k");
  wire.feed(bulk("old"));
  EXPECT_EQ(wire.next().text, "none");
  EXPECT_EQ(without_script(wire.sent()), "EVAL k old new");
  wire.feed(":1\r\n");
  EXPECT_EQ(wire.next().status, Status::done);

  wire.submit(living(swap, 1'500ms));
  wire.sent();
  wire.feed(bulk("old"));
  EXPECT_EQ(without_script(wire.sent()), "EVAL k old new PX 1500");
  wire.feed(":0\r\n");
  EXPECT_EQ(wire.next().status, Status::not_stored) << "somebody has written meanwhile";

  wire.submit(removal);
  wire.sent();
  wire.feed(bulk("old"));
  EXPECT_EQ(without_script(wire.sent()), "EVAL k old");
  wire.feed(":-1\r\n");
  EXPECT_EQ(wire.next().status, Status::absent);
}

TEST_F(RespChanges, AnotherValueThanThatOfTheVersionEndsTheChangeAtOnce) {
  EXPECT_EQ(wire.ask(swap, bulk("other")).status, Status::not_stored);
  EXPECT_EQ(wire.ask(swap, "_\r\n").status, Status::absent);
  EXPECT_EQ(wire.ask(removal, bulk("")).status, Status::not_stored);
  EXPECT_EQ(wire.ask(swap, bulk(std::string(2'000'001, 'v'))).reason, Reason::too_large);
  EXPECT_EQ(wire.ask(swap, "-WRONGTYPE no text\r\n").status, Status::refused);
  EXPECT_EQ(wire.sent(), nothing);
}

TEST_F(RespChanges, WhatNamesItsValueIsOneScript) {
  const Operation same = with(living(set("k", "v"), 9ms), Condition::if_absent_or_equal);
  EXPECT_EQ(wire.ask(same, ":1\r\n").status, Status::done);
  EXPECT_EQ(without_script(wire.written), "EVAL k v PX 9");
  EXPECT_EQ(wire.ask(same, ":0\r\n").status, Status::not_stored);
  const Operation equal = with(operation(Verb::remove, "k", "v"), Condition::if_value);
  EXPECT_EQ(wire.ask(equal, ":1\r\n").status, Status::done);
  EXPECT_EQ(without_script(wire.written), "EVAL k v");
  EXPECT_EQ(wire.ask(equal, ":0\r\n").status, Status::not_stored);
  EXPECT_EQ(wire.ask(equal, ":-1\r\n").status, Status::absent);
  EXPECT_EQ(wire.ask(operation(Verb::append, "k", "v"), ":1\r\n").status, Status::done);
  EXPECT_EQ(wire.ask(operation(Verb::prepend, "k", "v"), ":-1\r\n").status, Status::not_stored);
}

// The arguments of each SET in the script of a change.
std::vector<std::string> sets_in_script(const Operation& change) {
  ReadyWire redis{Server::redis};
  redis.submit(change);
  std::string script = redis.sent();
  std::vector<std::string> sets;
  constexpr std::string_view call = "redis.call('SET', KEYS[1], ";
  for (std::size_t at = script.find(call); at != script.npos; at = script.find(call, at)) {
    at += call.size();
    sets.push_back(script.substr(at, script.find(") ", at) - at));
  }
  return sets;
}

// A SET without KEEPTTL would make the key live forever.
TEST_F(RespChanges, AScriptThatChangesAValueInItsPlaceKeepsTheTimeToLive) {
  using Calls = std::vector<std::string>;
  EXPECT_EQ(sets_in_script(operation(Verb::prepend, "k", "v")), Calls{"ARGV[1] .. v, 'KEEPTTL'"});
  EXPECT_EQ(sets_in_script(operation(Verb::append, "k", "v")), Calls{}) << "APPEND keeps it";
  const Calls counting{"unpack(ARGV, 3)", "'0', 'KEEPTTL'"};  // a new key, and not less than 0
  EXPECT_EQ(sets_in_script(operation(Verb::increment, "k")), counting);
  EXPECT_EQ(sets_in_script(operation(Verb::decrement, "k")), counting);
}

TEST_F(RespChanges, CountersAreOneScript) {
  Operation more = operation(Verb::increment, "k");
  more.delta = 5;
  wire.ask(more, bulk("12"));
  EXPECT_EQ(without_script(wire.written), "EVAL k INCRBY 5");
  EXPECT_EQ(wire.ask(more, "_\r\n").status, Status::absent);
  more.initial = 7;
  wire.ask(living(more, 1s), bulk("7"));
  EXPECT_EQ(without_script(wire.written), "EVAL k INCRBY 5 7 PX 1000");
  Operation fewer = operation(Verb::decrement, "k");
  fewer.delta = ~std::uint64_t{0};
  wire.ask(fewer, bulk("0"));
  EXPECT_EQ(without_script(wire.written), "EVAL k DECRBY 9223372036854775807");
  more.delta = ~std::uint64_t{0};
  EXPECT_EQ(wire.refusal(more).reason, Reason::too_large);
}

TEST_F(RespChanges, ARequestThatIsAskingAsksForBothOfItsSteps) {
  wire.submit(asking(swap));
  EXPECT_EQ(wire.sent(), "ASKING; GET k; PING");
  wire.feed("+OK\r\n" + bulk("old") + "+PONG\r\n");
  EXPECT_EQ(without_script(wire.sent()).substr(0, 12), "ASKING; EVAL");
  wire.feed("+OK\r\n:1\r\n");
  EXPECT_EQ(wire.next().status, Status::done);
  wire.feed("+PONG\r\n");
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespChanges, ARedirectEndsTheStepAndTheChangeHasDoneNothing) {
  const Seen first = wire.ask(swap, redirect("k"));
  ASSERT_TRUE(first.redirect);
  EXPECT_EQ(first.redirect->port, 7000);
  wire.submit(swap);
  wire.sent();
  wire.feed(bulk("old"));
  wire.sent();
  wire.feed("-TRYAGAIN later\r\n");
  EXPECT_TRUE(wire.next().redirect);
}

// A change that has only read may be sent again on another connection.
TEST_F(RespChanges, BeforeItsLastStepAChangeWasNotSent) {
  const Ticket given_up = wire.submit(swap);
  wire.sent();
  EXPECT_EQ(wire.session.cancel(given_up, wire.now()), Sent::no);
  wire.feed(bulk("old"));
  EXPECT_EQ(wire.sent(), nothing) << "nobody wants it any more";
  wire.submit(swap);
  wire.submit(swap);
  wire.sent();
  wire.feed(bulk("old"));
  wire.sent();
  wire.session.on_eof(wire.now());
  wire.poll();
  const Seen reading = wire.next();
  const Seen writing = wire.next();
  EXPECT_EQ(reading.kind, Event::Kind::failed);
  EXPECT_EQ(writing.kind, Event::Kind::failed);
  EXPECT_NE(reading.sent, writing.sent) << "the second has only read";
}

TEST_F(RespChanges, OthersGoOnBetweenTheSteps) {
  wire.submit(swap);
  wire.submit(get("other"));
  EXPECT_EQ(wire.sent(), "GET k; GET other");
  wire.feed(bulk("old") + bulk("x"));
  EXPECT_EQ(wire.next().value, "x");
  EXPECT_EQ(without_script(wire.sent()), "EVAL k old new");
  wire.feed(":1\r\n");
  EXPECT_EQ(wire.next().status, Status::done);
  EXPECT_EQ(wire.session.in_flight(), 0u);
}

TEST_F(RespChanges, AReplyThatIsNoneToItsStepEndsTheConnection) {
  for (const std::string_view odd : {":2\r\n", "+OK\r\n", "_\r\n", "*0\r\n"}) {
    ReadyWire one;
    one.submit(swap);
    one.sent();
    one.feed(bulk("old"));
    one.sent();
    one.feed(odd);
    EXPECT_EQ(one.end().reason, Reason::protocol_error) << odd;
  }
}

TEST_F(RespChanges, VersionsThatAreNoneAreRefused) {
  EXPECT_EQ(wire.refusal(at_version(set("k", "v"), "")).outcome, Outcome::invalid);
  EXPECT_EQ(wire.refusal(at_version(set("k", "v"), "17")).outcome, Outcome::invalid);
}

// ---- what happens to a key

Change change_of(Operation made) { return Change(made); }

TEST(RespJudge, DecidesByTheTable) {
  const auto act = [](Operation made, std::optional<std::string_view> present) {
    Change change = change_of(std::move(made));
    return judge(change, present, 10).act;
  };
  using enum Verdict::Act;
  const Operation equal = with(set("k", "v"), Condition::if_absent_or_equal);
  EXPECT_EQ(act(equal, std::nullopt), store);
  EXPECT_EQ(act(equal, "v"), store);
  EXPECT_EQ(act(equal, "w"), Verdict::Act::nothing);
  const Operation removes = with(operation(Verb::remove, "k", "v"), Condition::if_value);
  EXPECT_EQ(act(removes, "v"), remove);
  EXPECT_EQ(act(removes, "w"), Verdict::Act::nothing);
}

TEST(RespJudge, CountsWithinTheRangeOfServers) {
  const auto count = [](Verb verb, std::uint64_t delta, std::optional<std::string_view> present) {
    Operation made = operation(verb, "k");
    made.delta = delta;
    Change change = change_of(made);
    const Verdict verdict = judge(change, present, 100);
    return std::string(verdict.act == Verdict::Act::store ? verdict.value : verdict.refusal);
  };
  EXPECT_EQ(count(Verb::increment, 1, "9223372036854775806"), "9223372036854775807");
  EXPECT_EQ(count(Verb::increment, 1, "9223372036854775807"),
            "ERR increment or decrement would overflow");
  EXPECT_EQ(count(Verb::decrement, 5, "3"), "0");
  EXPECT_EQ(count(Verb::decrement, ~std::uint64_t{0}, "3"), "0");
  for (const std::string_view bad :
       {"", "-1", "+1", "01", " 1", "1 ", "x", "9223372036854775808"}) {
    EXPECT_EQ(count(Verb::increment, 1, bad), "ERR value is not an integer or out of range") << bad;
  }
}

TEST(RespJudge, NothingGrowsAboveTheLimit) {
  Change fits = change_of(operation(Verb::append, "k", "ab"));
  EXPECT_EQ(judge(fits, "12345678", 10).value, "12345678ab");
  Change too_long = change_of(operation(Verb::append, "k", "abc"));
  EXPECT_EQ(judge(too_long, "12345678", 10).status, Status::refused);
}

}  // namespace
}  // namespace sheaf::protocol::resp
