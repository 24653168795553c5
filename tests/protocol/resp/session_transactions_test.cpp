// Writes that depend on the present value of their key, by transaction: on Garnet, and on servers
// that refuse scripts.

#include <gtest/gtest.h>

#include "protocol/resp/changes/value_version.h"
#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view no_bytes = "";

class RespTransactions : public testing::Test {
 protected:
  static Operation at_version(Operation made, std::string_view version) {
    made.condition = Condition::if_version;
    made.version = version;
    return made;
  }

  ReadyWire garnet{Server::garnet};
  const ValueVersion version = ValueVersion::of("old");
  const Operation swap = at_version(set("k", "new"), version.text());
  const Operation removal = at_version(operation(Verb::remove, "k"), version.text());
};

// The server's answers about a key whose value is "old", and to MULTI.
const std::string opened_on_old = "+OK\r\n" + bulk("old") + "+OK\r\n";
constexpr std::string_view done_once = "+QUEUED\r\n*1\r\n+OK\r\n";

TEST_F(RespTransactions, GarnetWatchesTheKeyAndWritesInATransaction) {
  garnet.submit(swap);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; MULTI");
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "SET k new; EXEC");
  garnet.feed(done_once);
  EXPECT_EQ(garnet.next().status, Status::done);

  garnet.submit(living(with(set("k", "v"), Condition::if_absent_or_equal), 9ms));
  garnet.sent();
  garnet.feed("+OK\r\n_\r\n+OK\r\n");
  EXPECT_EQ(garnet.sent(), "SET k v PX 9; EXEC");
  garnet.feed(done_once);
  EXPECT_EQ(garnet.next().status, Status::done);

  garnet.submit(removal);
  garnet.sent();
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "DEL k; EXEC");
  garnet.feed("+QUEUED\r\n*1\r\n:1\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_EQ(garnet.sent(), no_bytes);
  EXPECT_TRUE(garnet.session.clean());
}

TEST_F(RespTransactions, GarnetCountsAndAppendsInTransactionsThatKeepTheLife) {
  Operation more = operation(Verb::increment, "k");
  more.delta = 5;
  garnet.submit(more);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("12") + "+OK\r\n");
  EXPECT_EQ(garnet.sent(), "SET k 17 KEEPTTL; EXEC");
  garnet.feed(done_once);
  EXPECT_EQ(garnet.next().status, Status::done);
  garnet.submit(operation(Verb::prepend, "k", "a"));
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("b") + "+OK\r\n");
  EXPECT_EQ(garnet.sent(), "SET k ab KEEPTTL; EXEC");
  garnet.feed(done_once);
  EXPECT_EQ(garnet.next().status, Status::done);
  garnet.submit(more);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("many") + "+OK\r\n");
  const Seen refused = garnet.next();
  EXPECT_EQ(refused.text, "ERR value is not an integer or out of range");
  EXPECT_EQ(refused.reason, Reason::wrong_type);
}

TEST_F(RespTransactions, WhatIsNotToBeWrittenIsDiscardedAndNoLongerWatched) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk("other"));
  EXPECT_EQ(garnet.next().text, "none") << "it cannot be discarded before it is open";
  garnet.feed("+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::not_stored);
  EXPECT_EQ(garnet.sent(), "DISCARD");
  garnet.feed("+OK\r\n");
  EXPECT_TRUE(garnet.session.clean());
  EXPECT_EQ(garnet.session.counters().late_replies, 0u);
}

TEST_F(RespTransactions, IfSomebodyHasWrittenTheTransactionBeginsAgain) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed(opened_on_old);
  garnet.sent();
  garnet.feed("+QUEUED\r\n*-1\r\n");
  EXPECT_EQ(garnet.next().text, "none");
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; MULTI");
  garnet.feed("+OK\r\n" + bulk("theirs") + "+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::not_stored);
}

TEST_F(RespTransactions, AfterATransactionThatWasAbortedNothingOfTheChangeHasBeenSent) {
  const Ticket ticket = garnet.submit(swap);
  garnet.sent();
  garnet.feed(opened_on_old);
  garnet.sent();
  garnet.feed("+QUEUED\r\n*-1\r\n");
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; MULTI");
  EXPECT_EQ(garnet.session.cancel(ticket, garnet.now()), Sent::no);
}

// EXEC ends all watches of the connection, so a second transaction would have watched in vain.
TEST_F(RespTransactions, TransactionsOfAConnectionComeOneAfterAnother) {
  garnet.submit(swap);
  const Ticket given_up = garnet.submit(swap);
  garnet.submit(removal);
  EXPECT_EQ(garnet.session.in_flight(), 3u);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; MULTI");
  EXPECT_EQ(garnet.session.cancel(given_up, garnet.now()), Sent::no);
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "SET k new; EXEC");
  garnet.feed(done_once);
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; MULTI");
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "DEL k; EXEC");
}

// Otherwise a caller that asks again and again could keep all others waiting.
TEST_F(RespTransactions, AChangeThatIsAskedForInTheAnswerOfAnotherWaitsForItsTurn) {
  garnet.submit(swap);
  garnet.submit(removal);
  garnet.sent();
  garnet.feed(opened_on_old);
  garnet.sent();
  garnet.feed(done_once);
  EXPECT_EQ(garnet.next().status, Status::done);
  garnet.submit(swap);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; MULTI");
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "DEL k; EXEC");
  garnet.feed("+QUEUED\r\n*1\r\n:1\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_EQ(garnet.sent(), "WATCH k; GET k; MULTI");
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "SET k new; EXEC");
}

// They would become part of it.
TEST_F(RespTransactions, WhatOthersAskWhileATransactionIsOpenLeavesBehindItsEnd) {
  garnet.submit(get("before"));
  garnet.submit(swap);
  garnet.submit(get("a"));
  const Ticket given_up = garnet.submit(get("b"));
  EXPECT_EQ(garnet.sent(), "GET before; WATCH k; GET k; MULTI");
  const std::string large(20'000, 'v');
  garnet.submit(set("c", large));
  garnet.submit(get("d"));
  EXPECT_EQ(garnet.sent(), no_bytes);
  garnet.feed(bulk("x"));
  EXPECT_EQ(garnet.next().value, "x");
  EXPECT_EQ(garnet.session.cancel(given_up, garnet.now()), Sent::no);
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "SET k new; EXEC; GET a; SET c " + large + "; GET d");
  garnet.submit(get("e"));
  EXPECT_EQ(garnet.sent(), "GET e") << "behind the end nothing waits";
  garnet.feed(std::string(done_once) + bulk("1") + "+OK\r\n" + bulk("2") + bulk("3"));
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_EQ(garnet.next().value, "1");
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_EQ(garnet.next().value, "2");
  EXPECT_EQ(garnet.next().value, "3");
  EXPECT_TRUE(garnet.session.clean());
}

TEST_F(RespTransactions, OthersWaitAlsoForATransactionThatIsDiscarded) {
  garnet.submit(swap);
  garnet.submit(get("a"));
  garnet.sent();
  garnet.feed("+OK\r\n_\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::absent);
  garnet.submit(removal);
  EXPECT_EQ(garnet.sent(), "DISCARD; GET a; WATCH k; GET k; MULTI");
  garnet.feed("+OK\r\n" + bulk("1") + opened_on_old);
  EXPECT_EQ(garnet.next().value, "1");
  EXPECT_EQ(garnet.sent(), "DEL k; EXEC");
}

TEST_F(RespTransactions, ASilentServerIsAskedBehindTheEndOfATransaction) {
  garnet.submit(swap);
  garnet.sent();
  garnet.pass();
  EXPECT_EQ(garnet.sent(), no_bytes);
  garnet.feed(opened_on_old);
  EXPECT_EQ(garnet.sent(), "SET k new; EXEC; PING");
  garnet.feed(std::string(done_once) + "+PONG\r\n");
  EXPECT_EQ(garnet.next().status, Status::done);
  EXPECT_TRUE(garnet.session.clean());
}

TEST_F(RespTransactions, ATransactionThatIsGivenUpBeforeItLeavesMakesRoomForTheNext) {
  const Ticket first = garnet.submit(swap);
  garnet.submit(removal);
  garnet.submit(get("a"));
  EXPECT_EQ(garnet.session.cancel(first, garnet.now()), Sent::no);
  EXPECT_EQ(garnet.sent(), "GET a; WATCH k; GET k; MULTI");
  garnet.feed(bulk("1") + "+OK\r\n_\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().value, "1");
  EXPECT_EQ(garnet.next().status, Status::absent);
}

TEST_F(RespTransactions, ATransactionThatIsGivenUpLaterIsDiscarded) {
  for (const std::size_t answered : {0u, 1u, 2u, 3u}) {
    ReadyWire one(Server::garnet);
    const Ticket first = one.submit(swap);
    one.submit(get("a"));
    one.sent();
    const std::string parts[] = {"+OK\r\n", bulk("old"), "+OK\r\n"};
    for (std::size_t i = 0; i < answered; ++i) one.feed(parts[i]);
    EXPECT_EQ(one.session.cancel(first, one.now()), Sent::no) << answered;
    for (std::size_t i = answered; i < 3; ++i) one.feed(parts[i]);
    one.submit(removal);
    EXPECT_EQ(one.sent(), "DISCARD; GET a; WATCH k; GET k; MULTI") << answered;
    one.feed("+OK\r\n" + bulk("1") + "+OK\r\n_\r\n+OK\r\n");
    EXPECT_EQ(one.next().value, "1");
    EXPECT_EQ(one.next().status, Status::absent);
  }
}

// Otherwise later commands would become part of the open transaction.
TEST_F(RespTransactions, IfTheEndOfATransactionIsGivenUpBeforeItHasLeftTheConnectionEnds) {
  const Ticket first = garnet.submit(swap);
  garnet.submit(set("a", "v"));
  garnet.sent();
  garnet.feed(opened_on_old);
  EXPECT_FALSE(garnet.session.poll_output().empty()) << "but the kernel takes nothing";
  EXPECT_EQ(garnet.session.cancel(first, garnet.now()), Sent::no);
  EXPECT_EQ(garnet.sent(), no_bytes);
  garnet.poll();
  EXPECT_EQ(garnet.next().sent, Sent::no);
  EXPECT_EQ(garnet.end().text, "a change was given up while it was being sent");
}

TEST_F(RespTransactions, TheChangeThatFollowsAnEndThatWasGivenUpIsNotSent) {
  const Ticket first = garnet.submit(swap);
  garnet.sent();
  garnet.feed(opened_on_old);
  EXPECT_FALSE(garnet.session.poll_output().empty()) << "but the kernel takes nothing";
  EXPECT_EQ(garnet.session.cancel(first, garnet.now()), Sent::no);
  garnet.submit(removal);
  EXPECT_EQ(garnet.sent(), no_bytes);
  garnet.poll();
  EXPECT_EQ(garnet.next().sent, Sent::no);
  EXPECT_EQ(garnet.end().text, "a change was given up while it was being sent");
}

TEST_F(RespTransactions, ATransactionIsTheSameInWhateverPiecesItIsAnswered) {
  const std::string answers = opened_on_old + std::string(done_once) + bulk("1");
  for (std::size_t split = 0; split <= answers.size(); ++split) {
    ReadyWire one(Server::garnet);
    one.submit(swap);
    one.submit(get("a"));
    one.sent();
    std::string written;
    for (const std::string& part : {answers.substr(0, split), answers.substr(split)}) {
      for (const char byte : part) {
        one.feed(std::string_view(&byte, 1));
        written += one.sent();
      }
    }
    EXPECT_EQ(written, "SET k new; EXEC; GET a");
    EXPECT_EQ(one.next().status, Status::done);
    EXPECT_EQ(one.next().value, "1");
  }
}

// ---- rights, which may change at any time

// The write would be executed at once, whatever the key holds by then.
TEST_F(RespTransactions, WhereMultiIsRefusedNothingIsWritten) {
  for (const std::string_view refusal :
       {"-NOPERM User x has no permissions to run the 'multi' command\r\n",
        "-ERR unknown command 'MULTI'\r\n"}) {
    ReadyWire one(Server::garnet);
    one.submit(swap);
    one.submit(get("a"));
    one.sent();
    one.feed("+OK\r\n" + bulk("old") + std::string(refusal));
    const Seen refused = one.next();
    EXPECT_EQ(refused.status, Status::refused);
    EXPECT_EQ(refused.text, refusal.substr(1, refusal.size() - 3));
    EXPECT_EQ(one.sent(), "GET a; UNWATCH") << "no SET";
    one.feed(bulk("1") + "+OK\r\n");
    EXPECT_EQ(one.next().value, "1");
    EXPECT_TRUE(one.session.clean());
    one.submit(swap);
    one.sent();
    one.feed("+OK\r\n" + bulk("other") + std::string(refusal));
    EXPECT_EQ(one.next().status, Status::not_stored) << "the value says so";
    one.submit(swap);
    EXPECT_EQ(one.sent(), "WATCH k; GET k; MULTI") << "rights may come back";
    one.feed(opened_on_old);
    EXPECT_EQ(one.sent(), "SET k new; EXEC");
  }
}

TEST_F(RespTransactions, AKeyThatCannotBeWatchedOrReadIsNotWritten) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed(redirect("k") + bulk("old") + "+OK\r\n");
  EXPECT_TRUE(garnet.next().redirect);
  EXPECT_EQ(garnet.sent(), "DISCARD");
  garnet.feed("+OK\r\n");
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n-WRONGTYPE a list\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().text, "WRONGTYPE a list");
  EXPECT_EQ(garnet.sent(), "DISCARD");
  garnet.feed("+OK\r\n");
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n" + bulk(std::string(2'000'001, 'v')) + "+OK\r\n", 50'000);
  EXPECT_EQ(garnet.next().reason, Reason::too_large);
  EXPECT_EQ(garnet.sent(), "DISCARD");
}

TEST_F(RespTransactions, ARedirectInPlaceOfTheResultsIsOne) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed(opened_on_old);
  garnet.sent();
  garnet.feed("+QUEUED\r\n" + redirect("k"));
  EXPECT_TRUE(garnet.next().redirect);
}

TEST_F(RespTransactions, WhatIsNotQueuedIsReportedAndNeverCountedAsDone) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed(opened_on_old);
  garnet.sent();
  garnet.feed("-OOM no memory\r\n-EXECABORT Transaction discarded\r\n");
  const Seen refused = garnet.next();
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.text, "OOM no memory");
  garnet.submit(swap);
  garnet.sent();
  garnet.feed(opened_on_old);
  garnet.sent();
  garnet.feed("-OOM no memory\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(garnet.end().reason, Reason::protocol_error) << "out of step";
}

// Garnet 2.2 leaves the transaction open then, so later commands would become part of it.
TEST_F(RespTransactions, WhereExecIsRefusedTheChangeIsRefusedAndTheConnectionEnds) {
  const std::vector<std::string_view> words{"LPUSH", "l", "v"};
  for (const std::string_view queued : {"+QUEUED\r\n", "-NOPERM no set\r\n"}) {
    ReadyWire one(Server::garnet);
    one.submit(swap);
    one.submit(command(words));
    one.sent();
    one.feed(opened_on_old);
    EXPECT_EQ(one.sent(), "SET k new; EXEC; LPUSH l v");
    one.feed(std::string(queued) + "-NOPERM no exec\r\n+QUEUED\r\n");
    const Seen refused = one.next();
    EXPECT_EQ(refused.status, Status::refused);
    EXPECT_TRUE(refused.text.starts_with("NOPERM"));
    const Seen behind = one.next();
    EXPECT_EQ(behind.kind, Event::Kind::failed) << "QUEUED is no answer";
    EXPECT_EQ(behind.sent, Sent::maybe);
    EXPECT_EQ(one.end().reason, Reason::connection_lost);
  }
  ReadyWire redis(Server::garnet);
  redis.submit(swap);
  redis.sent();
  redis.feed(opened_on_old);
  redis.sent();
  redis.feed("+QUEUED\r\n-EXECABORT Transaction discarded because of: NOPERM no exec\r\n");
  EXPECT_EQ(redis.next().status, Status::refused);
  EXPECT_TRUE(redis.session.clean()) << "Redis discards it";
}

// In that case Garnet 2.2 answers EXEC with an empty array and repeats the error.
TEST_F(RespTransactions, AWriteThatIsNotQueuedAndAnEmptyResultEndTheConnection) {
  garnet.submit(swap);
  garnet.submit(set("a", "v"));
  garnet.sent();
  garnet.feed(opened_on_old);
  garnet.sent();
  garnet.feed("-NOPERM no set\r\n*0\r\n-NOPERM no set\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().text, "NOPERM no set");
  EXPECT_EQ(garnet.next().kind, Event::Kind::failed) << "the second error is not its own";
  EXPECT_EQ(garnet.end().reason, Reason::connection_lost);
}

// Later commands would never be executed.
TEST_F(RespTransactions, ATransactionThatCannotBeDiscardedEndsTheConnection) {
  garnet.submit(swap);
  garnet.sent();
  garnet.feed("+OK\r\n_\r\n+OK\r\n");
  EXPECT_EQ(garnet.next().status, Status::absent);
  garnet.sent();
  garnet.feed("-NOPERM no discard\r\n");
  EXPECT_EQ(garnet.end().text,
            "the server broke the protocol: a transaction that cannot be discarded: NOPERM no "
            "discard");
}

TEST_F(RespTransactions, AReplyThatIsNoneToItsStepOfATransactionEndsTheConnection) {
  for (const std::string_view odd : {"+QUEUED\r\n", ":1\r\n", "_\r\n", "*0\r\n"}) {
    ReadyWire one(Server::garnet);
    one.submit(swap);
    one.sent();
    one.feed("+OK\r\n" + bulk("old") + std::string(odd));
    EXPECT_EQ(one.end().reason, Reason::protocol_error) << odd;
  }
  for (const std::string_view early : {"+OK\r\n", "+QUEUED\r\n", "-ERR x\r\n"}) {
    ReadyWire one(Server::garnet);
    one.submit(swap);
    one.sent();
    one.feed(opened_on_old + std::string(early));
    EXPECT_EQ(one.end().reason, Reason::protocol_error) << early;
  }
}

TEST_F(RespTransactions, OnGarnetAChangeOfAKeyOnItsWayIsToBeSentAgain) {
  garnet.submit(asking(swap));
  EXPECT_EQ(garnet.sent(), "ASKING; GET k; PING");
  garnet.feed("+OK\r\n" + bulk("old") + "+PONG\r\n");
  const Seen later = garnet.next();
  ASSERT_TRUE(later.redirect);
  EXPECT_EQ(later.redirect->kind, protocol::Redirect::Kind::later);
  EXPECT_EQ(garnet.ask(asking(swap), "+OK\r\n_\r\n+PONG\r\n").status, Status::absent);
}

TEST_F(RespTransactions, WhereScriptsAreRefusedTransactionsDoTheirWork) {
  for (const std::string_view refusal :
       {"-NOPERM User x has no permissions to run the 'eval' command\r\n",
        "-ERR unknown command 'EVAL', with args beginning with: 'local'\r\n"}) {
    ReadyWire one;
    one.submit(operation(Verb::append, "k", "b"));
    one.sent();
    one.feed(refusal);
    EXPECT_EQ(one.next().text, "none");
    EXPECT_EQ(one.sent(), "WATCH k; GET k; MULTI");
    one.feed("+OK\r\n" + bulk("a") + "+OK\r\n");
    EXPECT_EQ(one.sent(), "SET k ab KEEPTTL; EXEC");
    one.feed(done_once);
    EXPECT_EQ(one.next().status, Status::done);
    one.submit(swap);
    EXPECT_EQ(one.sent(), "WATCH k; GET k; MULTI") << "from now on";
  }
}

}  // namespace
}  // namespace sheaf::protocol::resp
