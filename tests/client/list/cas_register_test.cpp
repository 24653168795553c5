// Transcripts of the register on memcached: what it asks for, answer by answer.

#include "client/list/cas_register.h"

#include <gtest/gtest.h>

#include <deque>

namespace sheaf::client::list {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using Kind = RegisterEvent::Kind;

class CasRegisterTest : public testing::Test {
 protected:
  // The next command; it stays in flight until answered by its id.
  calls::Command& wants(Verb verb, const std::string& key) {
    calls::Command& command = commands_.emplace_back();
    EXPECT_TRUE(reg.poll_command(command)) << "for " << key;
    EXPECT_EQ(command.operation.verb, verb) << command.operation.key;
    EXPECT_EQ(command.operation.key, key);
    EXPECT_EQ(command.route, "jobs");
    EXPECT_TRUE(command.at_owner);
    return command;
  }
  void wants_nothing() {
    calls::Command command;
    EXPECT_FALSE(reg.poll_command(command)) << command.operation.key;
  }
  void answer(const calls::Command& command, Status status, std::string_view version = {},
              std::string_view value = {}, std::uint64_t connection = 7) {
    socket::Completion completion;
    completion.answered = true;
    completion.reply.status = status;
    completion.reply.version = version;
    completion.reply.value = value;
    completion.connection = connection;
    completion.now = now;
    reg.on_answer(command.id, completion);
  }
  void fail(const calls::Command& command, Outcome outcome, Reason reason) {
    socket::Completion completion;
    completion.outcome = outcome;
    completion.reason = reason;
    completion.now = now;
    reg.on_answer(command.id, completion);
  }

  // Opens on an absent head, and adds one item.
  std::string add_first() {
    reg.open(now.mono + 5s, now);
    answer(wants(Verb::get, keys.head()), Status::absent);
    EXPECT_EQ(reg.poll_event().kind, Kind::done);
    head = reg.head();
    item = keys.item(head.next);
    head.tail = {head.next++};
    head.revision = 1;
    reg.exchange({}, {{item, "value"}}, now.mono + 5s, now);
    answer(wants(Verb::set, item), Status::done, "1");
    EXPECT_EQ(reg.poll_event().kind, Kind::done);
    return item;
  }
  // Commits that; the commands stay to be answered.
  std::pair<calls::Command*, calls::Command*> commit() {
    reg.commit(head, now.mono + 5s, now);
    calls::Command& touch = wants(Verb::touch, item);
    calls::Command& swap = wants(Verb::set, keys.head());
    wants_nothing();
    return {&touch, &swap};
  }

  Keys keys{"jobs", Ids::drawn};
  CasRegister reg{keys, {}, Seed{}};
  Now now{1'000s, 0ms};
  Head head;
  std::string item;

 private:
  std::deque<calls::Command> commands_;
};

TEST_F(CasRegisterTest, AddsTouchesAndSwapsOnTheConnectionThatReadTheHead) {
  reg.open(now.mono + 5s, now);
  const calls::Command& read = wants(Verb::get, keys.head());
  EXPECT_EQ(read.connection, 0u);
  answer(read, Status::absent);
  ASSERT_EQ(reg.poll_event().kind, Kind::done);
  head = reg.head();
  EXPECT_GT(head.next, 1u) << "drawn";
  item = keys.item(head.next);
  head.tail = {head.next++};
  reg.exchange({}, {{item, "value"}}, now.mono + 5s, now);
  const calls::Command& add = wants(Verb::set, item);
  EXPECT_EQ(add.operation.condition, Condition::if_absent);
  EXPECT_EQ(add.operation.ttl, 60s);
  EXPECT_EQ(add.connection, 7u);
  answer(add, Status::done, "1");
  ASSERT_EQ(reg.poll_event().kind, Kind::done);
  const auto [touch, swap] = commit();
  EXPECT_EQ(touch->operation.ttl, 0ms) << "for ever";
  EXPECT_EQ(touch->connection, 7u);
  EXPECT_EQ(swap->operation.condition, Condition::if_absent);
  EXPECT_EQ(swap->connection, 7u);
  EXPECT_EQ(parse_head(swap->operation.value, Ids::drawn)->tail, head.tail);
  answer(*touch, Status::done);
  EXPECT_EQ(reg.poll_event().kind, Kind::none) << "not before both are answered";
  answer(*swap, Status::done, "2");
  EXPECT_EQ(reg.poll_event().kind, Kind::done);
  EXPECT_EQ(reg.head().next, head.next) << "goes on where it was";
  head.tail.clear();
  reg.commit(head, now.mono + 5s, now);
  const calls::Command& next = wants(Verb::set, keys.head());
  EXPECT_EQ(next.operation.condition, Condition::if_version);
  EXPECT_EQ(next.operation.version, "2");
}

TEST_F(CasRegisterTest, ThatSomebodyElseWasFasterIsLostAndTakesBackWhatWasAdded) {
  add_first();
  const auto [touch, swap] = commit();
  answer(*touch, Status::done);
  answer(*swap, Status::not_stored);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  EXPECT_EQ(wants(Verb::remove, item).connection, 7u);
  wants_nothing();
  reg.open(now.mono + 5s, now);
  wants(Verb::get, keys.head());  // what was known is not trusted
}

TEST_F(CasRegisterTest, ACommitWithoutAnAnswerIsUnknownAndNothingIsTakenBack) {
  add_first();
  const auto [touch, swap] = commit();
  answer(*touch, Status::done);
  fail(*swap, Outcome::unknown, Reason::timed_out);
  EXPECT_EQ(reg.poll_event().kind, Kind::unknown);
  wants_nothing();
}

TEST_F(CasRegisterTest, ATouchWithoutAnAnswerBesideTheCommitIsUnknown) {
  add_first();
  const auto [touch, swap] = commit();
  fail(*touch, Outcome::unknown, Reason::connection_lost);
  EXPECT_EQ(reg.poll_event().kind, Kind::unknown);
  answer(*swap, Status::done, "2");
  EXPECT_EQ(reg.poll_event().kind, Kind::none) << "too late";
}

TEST_F(CasRegisterTest, AnItemThatWasDroppedBeforeItsCommitIsNotSaidToBeThere) {
  add_first();
  const auto [touch, swap] = commit();
  answer(*touch, Status::absent);
  answer(*swap, Status::done, "2");
  const RegisterEvent event = reg.poll_event();
  EXPECT_EQ(event.kind, Kind::unknown);
  EXPECT_EQ(event.error.outcome, Outcome::unknown);
  EXPECT_EQ(event.error.reason, Reason::incomplete);
}

TEST_F(CasRegisterTest, AKeyThatIsThereAlreadyMeansAnotherDraw) {
  reg.open(now.mono + 5s, now);
  answer(wants(Verb::get, keys.head()), Status::absent);
  reg.poll_event();
  const Id first = reg.head().next;
  reg.exchange({}, {{keys.item(first), "a"}, {keys.item(first + 1), "b"}}, now.mono + 5s, now);
  const calls::Command& a = wants(Verb::set, keys.item(first));
  const calls::Command& b = wants(Verb::set, keys.item(first + 1));
  answer(a, Status::done, "1");
  answer(b, Status::not_stored);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  wants(Verb::remove, keys.item(first));
  wants_nothing();  // the other one is somebody else's
  reg.open(now.mono + 5s, now);
  answer(wants(Verb::get, keys.head()), Status::absent);
  reg.poll_event();
  EXPECT_NE(reg.head().next, first);
  EXPECT_NE(reg.head().next, first + 2);
}

TEST_F(CasRegisterTest, IdsOfAnAttemptThatWasLostAreNotUsedAgain) {
  add_first();
  const Id used = head.tail.front();
  const auto [touch, swap] = commit();
  answer(*touch, Status::done);
  answer(*swap, Status::not_stored);
  wants(Verb::remove, item);
  reg.open(now.mono + 5s, now);
  answer(wants(Verb::get, keys.head()), Status::absent);
  EXPECT_EQ(reg.head().next, used + 1);
}

TEST_F(CasRegisterTest, AnEditThatTookHalfTheLifeOfItsItemsBeginsAgain) {
  add_first();
  now.mono += 30s;
  reg.commit(head, now.mono + 5s, now);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  wants(Verb::remove, item);
  wants_nothing();
}

TEST_F(CasRegisterTest, AConnectionThatEndedBeforeTheCommitLeftIsLostAndNotUnknown) {
  add_first();
  reg.commit(head, now.mono + 5s, now);
  calls::Command& touch = wants(Verb::touch, item);  // the commit waits to be fetched
  fail(touch, Outcome::not_sent, Reason::connection_lost);
  EXPECT_EQ(reg.poll_event().kind, Kind::lost);
  wants(Verb::remove, item);
  wants_nothing();
}

TEST_F(CasRegisterTest, AServerThatTellsNoVersionsIsRefusedBeforeTheHeadIsWritten) {
  reg.open(now.mono + 5s, now);
  answer(wants(Verb::get, keys.head()), Status::absent);
  reg.poll_event();
  item = keys.item(reg.head().next);
  reg.exchange({}, {{item, "value"}}, now.mono + 5s, now);
  answer(wants(Verb::set, item), Status::done);
  EXPECT_EQ(reg.poll_event().kind, Kind::none) << "an old server does not tell it here";
  answer(wants(Verb::get, item), Status::done, "", "value");
  const RegisterEvent event = reg.poll_event();
  EXPECT_EQ(event.kind, Kind::failed);
  EXPECT_EQ(event.error.outcome, Outcome::unsupported);
  wants(Verb::remove, item);
}

TEST_F(CasRegisterTest, WhileNobodyElseWritesTheHeadIsNotReadAgain) {
  add_first();
  auto [touch, swap] = commit();
  answer(*touch, Status::done);
  answer(*swap, Status::done, "2");
  reg.poll_event();
  reg.close(now.mono + 1s, now);
  wants_nothing();
  reg.open(now.mono + 5s, now);
  EXPECT_EQ(reg.poll_event().kind, Kind::done);
  wants_nothing();
}

}  // namespace
}  // namespace sheaf::client::list
