// Transcripts of the register on memcached: what it requests, answer by answer.

#include "client/list/cas_register.h"

#include <gtest/gtest.h>

#include "tests/client/list/wire.h"

namespace sheaf::client::list {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using Kind = RegisterEvent::Kind;

class CasRegisterTest : public testing::Test {
 protected:
  // Opens on an absent head, and adds one item.
  std::string add_first() {
    reg.open(now.mono + 5s, now);
    wire.answer(wire.wants(Verb::get, keys.head()), Status::absent);
    EXPECT_EQ(reg.poll_event().kind, Kind::done);
    head = reg.head();
    item = keys.item(head.next);
    head.tail = {head.next++};
    head.revision = 1;
    reg.exchange({}, {{item, "value"}}, now.mono + 5s, now);
    wire.answer(wire.wants(Verb::set, item), Status::done, "1");
    EXPECT_EQ(reg.poll_event().kind, Kind::done);
    return item;
  }
  // Commits that; the commands remain to be answered.
  std::pair<const calls::Command*, const calls::Command*> commit() {
    reg.commit(head, now.mono + 5s, now);
    const calls::Command& touch = wire.wants(Verb::touch, item);
    const calls::Command& swap = wire.wants(Verb::set, keys.head());
    wire.wants_nothing();
    return {&touch, &swap};
  }

  Keys keys{"jobs", Ids::drawn};
  CasRegister reg{keys, {}, Seed{}};
  Wire<CasRegister> wire{reg};
  Now& now = wire.now;
  Head head;
  std::string item;
};

TEST_F(CasRegisterTest, AddsTouchesAndSwapsOnTheConnectionThatReadTheHead) {
  reg.open(now.mono + 5s, now);
  const calls::Command& read = wire.wants(Verb::get, keys.head());
  EXPECT_EQ(read.connection, 0u);
  wire.answer(read, Status::absent);
  ASSERT_EQ(reg.poll_event().kind, Kind::done);
  head = reg.head();
  EXPECT_GT(head.next, 1u) << "drawn";
  item = keys.item(head.next);
  head.tail = {head.next++};
  reg.exchange({}, {{item, "value"}}, now.mono + 5s, now);
  const calls::Command& add = wire.wants(Verb::set, item);
  EXPECT_EQ(add.operation.condition, Condition::if_absent);
  EXPECT_EQ(add.operation.ttl, 60s);
  EXPECT_EQ(add.connection, 7u);
  wire.answer(add, Status::done, "1");
  ASSERT_EQ(reg.poll_event().kind, Kind::done);
  const auto [touch, swap] = commit();
  EXPECT_EQ(touch->operation.ttl, 0ms) << "for ever";
  EXPECT_EQ(touch->connection, 7u);
  EXPECT_EQ(swap->operation.condition, Condition::if_absent);
  EXPECT_EQ(swap->connection, 7u);
  EXPECT_EQ(parse_head(swap->operation.value, Ids::drawn)->tail, head.tail);
  wire.answer(*touch, Status::done);
  EXPECT_EQ(reg.poll_event().kind, Kind::none) << "not before both are answered";
  wire.answer(*swap, Status::done, "2");
  EXPECT_EQ(reg.poll_event().kind, Kind::done);
  EXPECT_EQ(reg.head().next, head.next) << "goes on where it was";
  head.tail.clear();
  reg.commit(head, now.mono + 5s, now);
  const calls::Command& next = wire.wants(Verb::set, keys.head());
  EXPECT_EQ(next.operation.condition, Condition::if_version);
  EXPECT_EQ(next.operation.version, "2");
}

TEST_F(CasRegisterTest, ThatSomebodyElseWasFasterIsLostAndTakesBackWhatWasAdded) {
  add_first();
  const auto [touch, swap] = commit();
  wire.answer(*touch, Status::done);
  wire.answer(*swap, Status::not_stored);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  EXPECT_EQ(wire.wants(Verb::remove, item).connection, 7u);
  wire.wants_nothing();
  reg.open(now.mono + 5s, now);
  wire.wants(Verb::get, keys.head());  // it does not trust what it knew
}

// The answers name no connection, so the touch might use another one than the commit.
TEST_F(CasRegisterTest, WithoutAConnectionTheCommitWaitsForTheTouches) {
  wire.connection = 0;
  add_first();
  reg.commit(head, now.mono + 5s, now);
  const calls::Command& touch = wire.wants(Verb::touch, item);
  EXPECT_EQ(touch.connection, 0u);
  wire.wants_nothing();
  wire.answer(touch, Status::done);
  EXPECT_EQ(reg.poll_event().kind, Kind::none);
  wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "2");
  EXPECT_EQ(reg.poll_event().kind, Kind::done);
  reg.close(now.mono + 5s, now);
  reg.open(now.mono + 5s, now);
  EXPECT_EQ(reg.poll_event().kind, Kind::done) << "what it wrote last is trusted";
}

TEST_F(CasRegisterTest, WithoutAConnectionATouchThatFailedKeepsTheCommitFromLeaving) {
  wire.connection = 0;
  add_first();
  reg.commit(head, now.mono + 5s, now);
  wire.fail(wire.wants(Verb::touch, item), Outcome::unknown, Reason::connection_lost);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost) << "the edit was not made";
  wire.wants(Verb::remove, item);
  reg.open(now.mono + 5s, now);
  wire.answer(wire.wants(Verb::get, keys.head()), Status::absent);
  EXPECT_EQ(reg.poll_event().kind, Kind::done);
}

TEST_F(CasRegisterTest, WithoutAConnectionAnItemThatIsGoneKeepsTheCommitFromLeaving) {
  wire.connection = 0;
  add_first();
  reg.commit(head, now.mono + 5s, now);
  wire.answer(wire.wants(Verb::touch, item), Status::absent);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
}

TEST_F(CasRegisterTest, ACommitWithoutAnAnswerIsUnknownAndNothingIsTakenBack) {
  add_first();
  const auto [touch, swap] = commit();
  wire.answer(*touch, Status::done);
  wire.fail(*swap, Outcome::unknown, Reason::timed_out);
  EXPECT_EQ(reg.poll_event().kind, Kind::unknown);
  wire.wants_nothing();
}

TEST_F(CasRegisterTest, ATouchWithoutAnAnswerBesideTheCommitIsUnknown) {
  add_first();
  const auto [touch, swap] = commit();
  wire.fail(*touch, Outcome::unknown, Reason::connection_lost);
  EXPECT_EQ(reg.poll_event().kind, Kind::unknown);
  wire.answer(*swap, Status::done, "2");
  EXPECT_EQ(reg.poll_event().kind, Kind::none) << "too late";
}

TEST_F(CasRegisterTest, AnItemThatWasDroppedBeforeItsCommitIsNotSaidToBeThere) {
  add_first();
  const auto [touch, swap] = commit();
  wire.answer(*touch, Status::absent);
  wire.answer(*swap, Status::done, "2");
  const RegisterEvent event = reg.poll_event();
  EXPECT_EQ(event.kind, Kind::unknown);
  EXPECT_EQ(event.error.outcome, Outcome::unknown);
  EXPECT_EQ(event.error.reason, Reason::incomplete);
}

TEST_F(CasRegisterTest, AKeyThatIsThereAlreadyMeansAnotherDraw) {
  reg.open(now.mono + 5s, now);
  wire.answer(wire.wants(Verb::get, keys.head()), Status::absent);
  reg.poll_event();
  const Id first = reg.head().next;
  reg.exchange({}, {{keys.item(first), "a"}, {keys.item(first + 1), "b"}}, now.mono + 5s, now);
  const calls::Command& a = wire.wants(Verb::set, keys.item(first));
  const calls::Command& b = wire.wants(Verb::set, keys.item(first + 1));
  wire.answer(a, Status::done, "1");
  wire.answer(b, Status::not_stored);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  wire.wants(Verb::remove, keys.item(first));
  wire.wants_nothing();  // the other item belongs to someone else
  reg.open(now.mono + 5s, now);
  wire.answer(wire.wants(Verb::get, keys.head()), Status::absent);
  reg.poll_event();
  EXPECT_NE(reg.head().next, first);
  EXPECT_NE(reg.head().next, first + 2);
}

TEST_F(CasRegisterTest, IdsOfAnAttemptThatWasLostAreNotUsedAgain) {
  add_first();
  const Id used = head.tail.front();
  const auto [touch, swap] = commit();
  wire.answer(*touch, Status::done);
  wire.answer(*swap, Status::not_stored);
  wire.wants(Verb::remove, item);
  reg.open(now.mono + 5s, now);
  wire.answer(wire.wants(Verb::get, keys.head()), Status::absent);
  EXPECT_EQ(reg.head().next, used + 1);
}

TEST_F(CasRegisterTest, AnEditThatTookHalfTheLifeOfItsItemsBeginsAgain) {
  add_first();
  now.mono += 30s;
  reg.commit(head, now.mono + 5s, now);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  wire.wants(Verb::remove, item);
  wire.wants_nothing();
}

TEST_F(CasRegisterTest, AConnectionThatEndedBeforeTheCommitLeftIsLostAndNotUnknown) {
  add_first();
  reg.commit(head, now.mono + 5s, now);
  const calls::Command& touch = wire.wants(Verb::touch, item);  // the commit waits to be fetched
  wire.fail(touch, Outcome::not_sent, Reason::connection_lost);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  wire.wants(Verb::remove, item);
  wire.wants_nothing();
}

TEST_F(CasRegisterTest, AServerThatReturnsNoVersionsIsRefusedBeforeTheHeadIsWritten) {
  reg.open(now.mono + 5s, now);
  wire.answer(wire.wants(Verb::get, keys.head()), Status::absent);
  reg.poll_event();
  item = keys.item(reg.head().next);
  reg.exchange({}, {{item, "value"}}, now.mono + 5s, now);
  wire.answer(wire.wants(Verb::set, item), Status::done);
  EXPECT_EQ(reg.poll_event().kind, Kind::none) << "an old server does not return it here";
  wire.answer(wire.wants(Verb::get, item), Status::done, "", "value");
  const RegisterEvent event = reg.poll_event();
  EXPECT_EQ(event.kind, Kind::failed);
  EXPECT_EQ(event.error.outcome, Outcome::unsupported);
  wire.wants(Verb::remove, item);
}

TEST_F(CasRegisterTest, WhileNobodyElseWritesTheHeadIsNotReadAgain) {
  add_first();
  auto [touch, swap] = commit();
  wire.answer(*touch, Status::done);
  wire.answer(*swap, Status::done, "2");
  reg.poll_event();
  reg.close(now.mono + 1s, now);
  wire.wants_nothing();
  reg.open(now.mono + 5s, now);
  EXPECT_EQ(reg.poll_event().kind, Kind::done);
  wire.wants_nothing();
}

// A server that was restarted counts its versions from 1 again.
class KnownHead : public CasRegisterTest {
 protected:
  // The head is at version 2 of connection 7, and the register knows it.
  void SetUp() override {
    add_first();
    auto [touch, swap] = commit();
    wire.answer(*touch, Status::done);
    wire.answer(*swap, Status::done, "2");
    ASSERT_EQ(reg.poll_event().kind, Kind::done);
    reg.close(now.mono + 1s, now);
    head.next = 0;  // as a head is stored
  }
  // Opens and closes again. True if the head was read, from `connection` at `version`.
  bool reads(std::uint64_t connection, std::string_view version) {
    reg.open(now.mono + 5s, now);
    const bool opened = reg.poll_event().kind == Kind::done;
    if (!opened) {
      wire.answer(wire.wants(Verb::get, keys.head()), Status::done, version, encode_head(head),
                  connection);
      EXPECT_EQ(reg.poll_event().kind, Kind::done);
    }
    reg.close(now.mono + 1s, now);
    return !opened;
  }
  // An item of the list is missing, so the known head may be an old one.
  void doubt() {
    reg.open(now.mono + 5s, now);
    ASSERT_EQ(reg.poll_event().kind, Kind::done);
    reg.exchange({item}, {}, now.mono + 5s, now);
    wire.answer(wire.wants(Verb::get, item), Status::absent);
    ASSERT_EQ(reg.poll_event().kind, Kind::done);
    reg.close(now.mono + 1s, now);
  }
};

TEST_F(KnownHead, IsTrustedAgainAtTheSameVersionOfTheSameConnection) {
  doubt();
  EXPECT_TRUE(reads(7, "2"));
  EXPECT_FALSE(reads(7, "2"));
}

TEST_F(KnownHead, IsAnotherOneAtTheSameVersionOfAnotherConnection) {
  doubt();
  EXPECT_TRUE(reads(9, "2"));
  EXPECT_TRUE(reads(9, "2")) << "somebody else may have written it";
  EXPECT_FALSE(reads(9, "2"));
}

TEST_F(KnownHead, IsComparedOnItsOwnConnectionOnly) {
  reg.open(now.mono + 5s, now);
  ASSERT_EQ(reg.poll_event().kind, Kind::done);
  reg.commit(head, now.mono + 5s, now);
  const calls::Command& swap = wire.wants(Verb::set, keys.head());
  EXPECT_EQ(swap.operation.version, "2");
  EXPECT_EQ(swap.connection, 7u);
  wire.fail(swap, Outcome::not_sent, Reason::connection_lost);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);

  reg.open(now.mono + 5s, now);
  const calls::Command& read = wire.wants(Verb::get, keys.head());
  EXPECT_EQ(read.connection, 0u) << "any";
  wire.answer(read, Status::done, "1", encode_head(head), 9);
  ASSERT_EQ(reg.poll_event().kind, Kind::done);
  reg.commit(head, now.mono + 5s, now);
  const calls::Command& again = wire.wants(Verb::set, keys.head());
  EXPECT_EQ(again.operation.version, "1");
  EXPECT_EQ(again.connection, 9u);
}

}  // namespace
}  // namespace sheaf::client::list
