// Writes that depend on the present value of their key, step by step: by script, and by
// transaction on Garnet and where scripts are refused.

#include <gtest/gtest.h>

#include "protocol/resp/change.h"
#include "protocol/resp/value_version.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view nothing = "";

Operation at_version(Operation made, std::string_view version) {
  made.condition = Condition::if_version;
  made.version = version;
  return made;
}

// The commands of an EVAL without the text of its script.
std::string without_script(std::string commands) {
  const std::size_t begin = commands.find("EVAL ");
  const std::size_t end = commands.rfind(" 1 k");
  if (begin == commands.npos || end == commands.npos) return commands;
  return commands.substr(0, begin) + "EVAL" + commands.substr(end + 2);
}

class RespChanges : public testing::Test {
 protected:
  ReadyWire wire{Server::redis};
  ReadyWire garnet{Server::garnet};
  const ValueVersion version = ValueVersion::of("old");
  const Operation swap = at_version(set("k", "new"), version.text());
  const Operation removal = at_version(operation(Verb::remove, "k"), version.text());
};

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

// What has only read may go over another connection.
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

// ---- by transaction

TEST_F(RespChanges, GarnetWatchesTheKeyAndWritesInATransaction) {
  garnet.submit(swap);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k");
  garnet.feed("+OK\r\n" + bulk("old"));
  EXPECT_EQ(garnet.sent(), "MULTI; SET k new; EXEC");
  garnet.feed("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);

  garnet.submit(living(with(set("k", "v"), Condition::if_absent_or_equal), 9ms));
  garnet.sent();
  garnet.feed("+OK\r\n_\r\n");
  EXPECT_EQ(garnet.sent(), "MULTI; SET k v PX 9; EXEC");
  garnet.feed("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);

  garnet.submit(removal);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("old"));
  EXPECT_EQ(garnet.sent(), "MULTI; DEL k; EXEC");
  garnet.feed("+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_EQ(garnet.sent(), nothing);
}

TEST_F(RespChanges, GarnetCountsAndAppendsInTransactionsThatKeepTheLife) {
  Operation more = operation(Verb::increment, "k");
  more.delta = 5;
  garnet.submit(more);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("12"));
  EXPECT_EQ(garnet.sent(), "MULTI; SET k 17 KEEPTTL; EXEC");
  garnet.feed("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);
  garnet.submit(operation(Verb::prepend, "k", "a"));
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("b"));
  EXPECT_EQ(garnet.sent(), "MULTI; SET k ab KEEPTTL; EXEC");
  garnet.feed("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);
  garnet.submit(more);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("many"));
  const Seen refused = garnet.next();
  EXPECT_EQ(refused.text, "ERR value is not an integer or out of range");
  EXPECT_EQ(refused.reason, Reason::wrong_type);
}

TEST_F(RespChanges, WhatIsNotToBeWrittenIsNoLongerWatched) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("other"));
  EXPECT_EQ(garnet.next().status, Status::not_stored);
  EXPECT_EQ(garnet.sent(), "UNWATCH");
  garnet.feed("+OK\r\n");
  EXPECT_TRUE(garnet.session.clean());
}

TEST_F(RespChanges, IfSomebodyHasWrittenTheTransactionBeginsAgain) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("old"));
  garnet.sent();
  garnet.feed("+OK\r\n+QUEUED\r\n*-1\r\n");
  EXPECT_EQ(garnet.next().text, "none");
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k");
  garnet.feed("+OK\r\n" + bulk("theirs"));
  EXPECT_EQ(garnet.next().status, Status::not_stored);
}

// EXEC forgets all that is watched, so a second one would watch in vain.
TEST_F(RespChanges, TransactionsOfAConnectionComeOneAfterAnother) {
  garnet.submit(swap);
  const Ticket given_up = garnet.submit(swap);
  garnet.submit(removal);
  garnet.submit(get("other"));
  EXPECT_EQ(garnet.session.in_flight(), 4u);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; GET other");
  EXPECT_EQ(garnet.session.cancel(given_up, garnet.now()), Sent::no);
  garnet.feed("+OK\r\n" + bulk("old") + bulk("x"));
  EXPECT_EQ(garnet.next().value, "x");
  EXPECT_EQ(garnet.sent(), "MULTI; SET k new; EXEC");
  garnet.feed("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k");
  garnet.feed("+OK\r\n" + bulk("old"));
  EXPECT_EQ(garnet.sent(), "MULTI; DEL k; EXEC");
}

TEST_F(RespChanges, ATransactionThatIsGivenUpBeforeItLeavesMakesRoomForTheNext) {
  const Ticket first = garnet.submit(swap);
  garnet.submit(removal);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("old"));
  EXPECT_EQ(garnet.session.cancel(first, garnet.now()), Sent::no);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k");
  garnet.feed("+OK\r\n_\r\n");
  EXPECT_EQ(garnet.next().status, Status::absent);
}

TEST_F(RespChanges, ARedirectInPlaceOfTheResultsIsOne) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("old"));
  garnet.sent();
  garnet.feed("+OK\r\n+QUEUED\r\n" + redirect("k"));
  EXPECT_TRUE(garnet.next().redirect);
}

TEST_F(RespChanges, AKeyThatCannotBeWatchedIsNotWritten) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed(redirect("k") + bulk("old"));
  EXPECT_TRUE(garnet.next().redirect);
  EXPECT_EQ(garnet.sent(), "UNWATCH");
}

TEST_F(RespChanges, WhatIsNotQueuedIsReportedAndNeverCountedAsDone) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("old"));
  garnet.sent();
  garnet.feed("+OK\r\n-OOM no memory\r\n-EXECABORT Transaction discarded\r\n");
  const Seen refused = garnet.next();
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.text, "OOM no memory");
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("old"));
  garnet.sent();
  garnet.feed("+OK\r\n-OOM no memory\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(garnet.end().reason, Reason::protocol_error) << "out of step";
}

TEST_F(RespChanges, OnGarnetAChangeOfAKeyOnItsWayIsToBeSentAgain) {
  garnet.submit(asking(swap));
  EXPECT_EQ(garnet.sent(), "ASKING; GET k; PING");
  garnet.feed("+OK\r\n" + bulk("old") + "+PONG\r\n");
  const Seen later = garnet.next();
  ASSERT_TRUE(later.redirect);
  EXPECT_EQ(later.redirect->kind, protocol::Redirect::Kind::later);
  EXPECT_EQ(garnet.ask(asking(swap), "+OK\r\n_\r\n+PONG\r\n").status, Status::absent);
}

TEST_F(RespChanges, WhereScriptsAreRefusedTransactionsDoTheirWork) {
  for (const std::string_view refusal :
       {"-NOPERM User x has no permissions to run the 'eval' command\r\n",
        "-ERR unknown command 'EVAL', with args beginning with: 'local'\r\n"}) {
    ReadyWire one;
    one.submit(operation(Verb::append, "k", "b"));
    one.sent();
    one.feed(refusal);
    EXPECT_EQ(one.next().text, "none");
    EXPECT_EQ(one.sent(), "WATCH k; GET k");
    one.feed("+OK\r\n" + bulk("a"));
    EXPECT_EQ(one.sent(), "MULTI; SET k ab KEEPTTL; EXEC");
    one.feed("+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
    EXPECT_EQ(one.next().status, Status::done);
    one.submit(swap);
    EXPECT_EQ(one.sent(), "WATCH k; GET k") << "from now on";
  }
}

TEST_F(RespChanges, VersionsThatAreNoneAreRefused) {
  EXPECT_EQ(wire.refusal(at_version(set("k", "v"), "")).outcome, Outcome::invalid);
  EXPECT_EQ(wire.refusal(at_version(set("k", "v"), "17")).outcome, Outcome::invalid);
}

// ---- what becomes of a key

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
