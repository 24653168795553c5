// Transcripts of a writer over the register of the state store, and of one at an old memcached.

#include "client/list/writer.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "client/list/cas_register.h"
#include "client/list/store_register.h"
#include "tests/client/list/wire.h"

namespace sheaf::client::list {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;

class ListWriter : public testing::Test {
 protected:
  void add(EditRequest& request, Edit edit, std::chrono::milliseconds timeout = 5s) {
    request.edit = std::move(edit);
    request.started = now.mono;
    request.deadline = now.mono + timeout;
    writer.add(request, now);
  }
  const calls::Command& ask_for_lock() { return wire.wants(Verb::set, keys.lock()); }
  // Takes the lock of a list whose head is `head`.
  void open(const Head& head, std::uint64_t connection = 7) {
    wire.answer(ask_for_lock(), Status::done, "token", {}, connection);
    wire.answer(wire.wants(Verb::get, keys.head()), Status::done, "v", encode_head(head),
                connection);
    wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v", {}, connection);
  }
  // A push loses its connection, begins again at once, and is committed.
  void commit_after_a_loss() {
    EditRequest push;
    add(push, {Edit::Kind::push, 0, {"x"}});
    ++latest;
    open({}, latest);
    calls::Command item;
    ASSERT_TRUE(writer.poll_command(item));
    wire.fail(item, Outcome::unknown, Reason::connection_lost);
    wire.wants(Verb::remove, keys.lock());
    ++latest;
    open({}, latest);
    ASSERT_TRUE(writer.poll_command(item));
    wire.answer(item, Status::done, "v", {}, latest);
    wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v", {}, latest);
    ASSERT_EQ(writer.poll_ended(), &push);
    EXPECT_TRUE(push.outcome->has_value());
  }
  void expect_expired(const EditRequest& request) {
    ASSERT_EQ(writer.poll_ended(), &request);
    ASSERT_FALSE(request.outcome->has_value());
    EXPECT_EQ(request.outcome->error().outcome, Outcome::not_sent);
    EXPECT_EQ(request.outcome->error().reason, Reason::timed_out);
  }
  void expect_lock_released() {
    EXPECT_EQ(wire.wants(Verb::remove, keys.lock()).operation.condition, Condition::if_value);
    wire.wants_nothing();
  }

  Keys keys{"jobs"};
  Writer writer{
      keys, std::make_unique<StoreRegister>(keys, StoreRegisterOptions{}, Seed{}), {}, Seed{}};
  Wire<Writer> wire{writer};
  Now& now = wire.now;
  std::uint64_t latest = 7;  // connection
};

Head one_segment() {
  Head head;
  head.revision = 1;
  head.next = 9;
  head.segments = {{5, 2}};
  return head;
}

TEST_F(ListWriter, AnEditThatExpiresWhileItsHeadIsReadGivesTheLockBack) {
  EditRequest push;
  add(push, {Edit::Kind::push, 0, {"x"}}, 100ms);
  wire.answer(ask_for_lock(), Status::done, "token");
  const calls::Command& read = wire.wants(Verb::get, keys.head());
  wire.wait();
  expect_expired(push);
  expect_lock_released();
  wire.answer(read, Status::absent);
  wire.wants_nothing();
}

TEST_F(ListWriter, AnEditThatExpiresWhileASegmentIsReadGivesTheLockBack) {
  EditRequest insert;
  add(insert, {Edit::Kind::insert, 1, {"x"}}, 100ms);
  open(one_segment());
  wire.wants(Verb::get, keys.segment(5));
  wire.wait();
  expect_expired(insert);
  expect_lock_released();
}

TEST_F(ListWriter, AnEditThatExpiresWhileItsItemIsStoredGivesTheLockBackAndCommitsNothing) {
  EditRequest push;
  add(push, {Edit::Kind::push, 0, {"x"}}, 100ms);
  open(one_segment());
  const calls::Command& item = wire.wants(Verb::set, keys.item(9));
  wire.wait();
  expect_expired(push);
  expect_lock_released();
  wire.answer(item, Status::done, "v");
  wire.wants_nothing();
}

TEST_F(ListWriter, AtTheEndOfTheClientAReleaseThatIsInFlightIsWaitedForForOnly100Ms) {
  EditRequest push;
  add(push, {Edit::Kind::push, 0, {"x"}}, 100ms);
  wire.answer(ask_for_lock(), Status::done, "token");
  wire.wants(Verb::get, keys.head());
  wire.wait();
  expect_expired(push);
  expect_lock_released();
  now.mono += 10ms;
  writer.on_shutdown(now);
  const auto begun = now.mono;
  EXPECT_TRUE(writer.releasing());
  wire.wait();
  EXPECT_EQ(now.mono - begun, 100ms);
  EXPECT_FALSE(writer.releasing());
}

TEST_F(ListWriter, AnEditThatFindsNothingReadsTheHeadAgainBeforeItSaysSo) {
  EditRequest remove;
  add(remove, {Edit::Kind::remove, 7, {}});
  open(one_segment());
  wire.answer(wire.wants(Verb::get, keys.head()), Status::done, "v", encode_head(one_segment()));
  ASSERT_EQ(writer.poll_ended(), &remove);
  EXPECT_FALSE(remove.outcome->value().found);
  expect_lock_released();
}

TEST_F(ListWriter, AnEditThatFoundNothingInAnOldHeadBeginsAgain) {
  EditRequest remove;
  add(remove, {Edit::Kind::remove, 7, {}});
  open(one_segment());
  Head newer = one_segment();
  ++newer.revision;
  newer.tail = {6};
  wire.answer(wire.wants(Verb::get, keys.head()), Status::done, "v", encode_head(newer));
  EXPECT_EQ(writer.poll_ended(), nullptr);
  wire.wants(Verb::remove, keys.lock());
  ask_for_lock();
}

// A writer that loses twice in a row makes room for others; a commit in between ends the row.
TEST_F(ListWriter, TheFirstLossAfterACommitIsTriedAgainAtOnce) {
  commit_after_a_loss();
  wire.wants(Verb::remove, keys.lock());
  commit_after_a_loss();
}

// One of two edits in progress expires: the other begins again with its own lock.
TEST_F(ListWriter, AnEditBesideOneThatExpiresBeginsAgain) {
  EditRequest brief;
  EditRequest patient;
  add(brief, {Edit::Kind::push, 0, {"x"}}, 100ms);
  add(patient, {Edit::Kind::push, 0, {"y"}}, 5s);
  open(one_segment());
  wire.wants(Verb::set, keys.item(9));
  wire.wants(Verb::set, keys.item(10));
  wire.wait();
  expect_expired(brief);
  EXPECT_EQ(writer.poll_ended(), nullptr);
  wire.wants(Verb::remove, keys.lock());
  ask_for_lock();
}

TEST_F(ListWriter, AnEditThatIsCancelledBeforeItsCommitWasSentIsNotSent) {
  EditRequest push;
  add(push, {Edit::Kind::push, 0, {"x"}});
  open(one_segment());
  wire.wants(Verb::set, keys.item(9));
  writer.cancel(push, now);
  ASSERT_EQ(writer.poll_ended(), &push);
  EXPECT_EQ(push.outcome->error().outcome, Outcome::not_sent);
  EXPECT_EQ(push.outcome->error().reason, Reason::cancelled);
  expect_lock_released();
}

TEST_F(ListWriter, AnEditBesideOneThatIsCancelledBeginsAgain) {
  EditRequest cancelled;
  EditRequest patient;
  add(cancelled, {Edit::Kind::push, 0, {"x"}});
  add(patient, {Edit::Kind::push, 0, {"y"}});
  ask_for_lock();
  writer.cancel(cancelled, now);
  ASSERT_EQ(writer.poll_ended(), &cancelled);
  EXPECT_EQ(writer.poll_ended(), nullptr);
  EXPECT_FALSE(writer.idle());
}

// The other edits of its group, and the commit, continue.
TEST_F(ListWriter, AnEditThatIsCancelledAfterItsCommitWasSentIsUnknown) {
  EditRequest cancelled;
  EditRequest patient;
  add(cancelled, {Edit::Kind::push, 0, {"x"}});
  add(patient, {Edit::Kind::push, 0, {"y"}});
  open(one_segment());
  wire.answer(wire.wants(Verb::set, keys.item(9)), Status::done, "v");
  wire.answer(wire.wants(Verb::set, keys.item(10)), Status::done, "v");
  const calls::Command commit = wire.wants(Verb::set, keys.head());
  writer.cancel(cancelled, now);
  ASSERT_EQ(writer.poll_ended(), &cancelled);
  EXPECT_EQ(cancelled.outcome->error().outcome, Outcome::unknown);
  EXPECT_EQ(cancelled.outcome->error().reason, Reason::cancelled);
  wire.wants_nothing();
  wire.answer(commit, Status::done, "v");
  ASSERT_EQ(writer.poll_ended(), &patient);
  EXPECT_EQ(patient.outcome->value().length, 4u);
}

// The store has lost its memory, and another segment has the number of one that this writer knows.
TEST_F(ListWriter, ASegmentOfAnEarlierConnectionIsReadAgain) {
  EditRequest first;
  add(first, {Edit::Kind::insert, 1, {"x"}});
  open(one_segment());
  wire.answer(wire.wants(Verb::get, keys.segment(5)), Status::done, "v", encode_segment({1, 2}));
  wire.answer(wire.wants(Verb::set, keys.item(9)), Status::done, "v");
  const calls::Command& written = wire.wants(Verb::set, keys.segment(10));
  EXPECT_EQ(written.operation.value, encode_segment({1, 9, 2}));
  wire.answer(written, Status::done, "v");
  wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v");
  ASSERT_EQ(writer.poll_ended(), &first);
  wire.answer(wire.wants(Verb::remove, keys.lock()), Status::done);

  EditRequest second;
  add(second, {Edit::Kind::insert, 1, {"y"}});
  Head head;
  head.revision = 1;
  head.next = 12;
  head.segments = {{10, 3}};
  open(head, 8);
  wire.answer(wire.wants(Verb::get, keys.segment(10)), Status::done, "v", encode_segment({7, 8, 9}),
              8);
  wire.wants(Verb::set, keys.item(12));
  EXPECT_EQ(wire.wants(Verb::set, keys.segment(13)).operation.value, encode_segment({7, 12, 8, 9}));
}

// The head may have been an old one, whose segments were deleted meanwhile.
TEST_F(ListWriter, ASegmentThatIsMissingIsLookedForOnceMoreAndThenIsAnError) {
  EditRequest insert;
  add(insert, {Edit::Kind::insert, 1, {"x"}});
  open(one_segment());
  wire.answer(wire.wants(Verb::get, keys.segment(5)), Status::absent);
  wire.answer(wire.wants(Verb::remove, keys.lock()), Status::done);
  EXPECT_EQ(writer.poll_ended(), nullptr);
  wire.answer(ask_for_lock(), Status::done, "token");
  wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v");  // the head is known
  wire.answer(wire.wants(Verb::get, keys.segment(5)), Status::absent);
  ASSERT_EQ(writer.poll_ended(), &insert);
  EXPECT_EQ(insert.outcome->error().reason, Reason::incomplete);
  expect_lock_released();
}

TEST_F(ListWriter, APushGoesOnAfterASegmentThatStaysMissing) {
  EditRequest push;
  add(push, {Edit::Kind::push, 0, std::vector<std::string>(40, "x")});
  open(one_segment());
  wire.answer(wire.wants(Verb::get, keys.segment(5)), Status::absent);
  wire.answer(wire.wants(Verb::remove, keys.lock()), Status::done);
  wire.answer(ask_for_lock(), Status::done, "token");
  wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v");
  wire.answer(wire.wants(Verb::get, keys.segment(5)), Status::absent);
  for (Id id = 9; id < 49; ++id) {
    wire.answer(wire.wants(Verb::set, keys.item(id)), Status::done, "v");
  }
  wire.answer(wire.wants(Verb::set, keys.segment(49)), Status::done, "v");
  const calls::Command& commit = wire.wants(Verb::set, keys.head());
  EXPECT_EQ(parse_head(commit.operation.value)->segments,
            (std::vector<SegmentRef>{{5, 2}, {49, 40}}));
  wire.answer(commit, Status::done, "v");
  ASSERT_EQ(writer.poll_ended(), &push);
  EXPECT_EQ(push.outcome->value().length, 42u);
}

// The store may refuse only one of several edits; the others must not suffer from it.
TEST_F(ListWriter, AfterARefusalTheEditsOfAGroupAreTriedOneByOne) {
  EditRequest good;
  EditRequest bad;
  add(good, {Edit::Kind::push, 0, {"x"}});
  add(bad, {Edit::Kind::push, 0, {"y"}});
  open(one_segment());
  wire.answer(wire.wants(Verb::set, keys.item(9)), Status::done, "v");
  wire.fail(wire.wants(Verb::set, keys.item(10)), Outcome::refused, Reason::other);
  wire.answer(wire.wants(Verb::remove, keys.lock()), Status::done);
  wire.answer(ask_for_lock(), Status::done, "token");
  wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v");
  wire.answer(wire.wants(Verb::set, keys.item(9)), Status::done, "v");
  wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v");
  ASSERT_EQ(writer.poll_ended(), &good);
  EXPECT_TRUE(good.outcome->has_value());
  wire.fail(wire.wants(Verb::set, keys.item(10)), Outcome::refused, Reason::other);
  ASSERT_EQ(writer.poll_ended(), &bad);
  EXPECT_EQ(bad.outcome->error().outcome, Outcome::refused);
  expect_lock_released();
}

TEST_F(ListWriter, TheItemThatARemoveReturnsMayBeEmpty) {
  EditRequest remove;
  add(remove, {Edit::Kind::remove, 0, {}});
  Head head;
  head.revision = 1;
  head.next = 9;
  head.tail = {8};
  open(head);
  wire.answer(wire.wants(Verb::get, keys.item(8)), Status::done, "v", "");
  wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v");
  ASSERT_EQ(writer.poll_ended(), &remove);
  ASSERT_TRUE(remove.outcome->has_value());
  EXPECT_EQ((*remove.outcome)->removed, "");
}

// memcached before 1.6.13: it does not return the version of what it has stored.
class OldMemcached {
 public:
  // Takes the next command; if there is none, time passes.
  bool take(Writer& writer, calls::Command& command) {
    if (writer.poll_command(command)) return true;
    now.mono = writer.poll_deadline();
    writer.on_deadline(now);
    return false;
  }
  void answer(Writer& writer, const calls::Command& command) {
    const protocol::Operation& wanted = command.operation;
    now.mono += 1ms;
    socket::Completion completion;
    completion.answered = true;
    completion.connection = 7;
    completion.now = now;
    const std::string key(wanted.key);
    const auto item = items_.find(key);
    const bool there = item != items_.end();
    const std::string version = there ? std::to_string(item->second.version) : "";
    if (wanted.verb == Verb::set) {
      const bool compares = wanted.condition == Condition::if_version;
      const bool stores = compares ? version == wanted.version : !there;
      completion.reply.status = stores ? Status::done : Status::not_stored;
      if (stores) items_[key] = {std::string(wanted.value), ++version_};
    } else {
      completion.reply.status = there ? Status::done : Status::absent;
    }
    if (wanted.verb == Verb::remove) items_.erase(key);
    if (wanted.verb == Verb::get && there) {
      completion.reply.value = item->second.value;
      completion.reply.version = version;
    }
    if (wanted.condition == Condition::if_version && wanted.version.empty()) {
      completion.answered = false;  // as a session refuses it
      completion.outcome = Outcome::invalid;
    }
    writer.on_answer(command.id, completion);
  }

  Now now{1'000s, 0ms};

 private:
  struct Item {
    std::string value;
    unsigned version = 0;
  };
  std::map<std::string, Item> items_;
  unsigned version_ = 0;
};

TEST(ListWriterAtAnOldMemcached, ReadsTheHeadAgainBeforeTheNextCommit) {
  const Keys keys("jobs", Ids::drawn);
  Writer writer(keys, std::make_unique<CasRegister>(keys, CasRegisterOptions{}, Seed{}), {},
                Seed{});
  OldMemcached server;
  std::array<EditRequest, 3> pushes;
  std::size_t begun = 0;
  const auto push = [&] {
    EditRequest& request = pushes.at(begun++);
    request.edit = {Edit::Kind::push, 0, {"x"}};
    request.started = server.now.mono;
    request.deadline = server.now.mono + 5s;
    writer.add(request, server.now);
  };
  push();
  std::size_t ended = 0;
  for (int steps = 0; steps < 100 && ended < pushes.size(); ++steps) {
    calls::Command command;
    if (!server.take(writer, command)) continue;
    const bool commits =
        command.operation.verb == Verb::set && command.operation.key == keys.head();
    if (commits && begun == 1) push();  // comes while the first is under way
    server.answer(writer, command);
    while (const EditRequest* const request = writer.poll_ended()) {
      ASSERT_TRUE(request->outcome->has_value()) << request->outcome->error().message();
      EXPECT_EQ((*request->outcome)->length, ++ended);
      if (ended == 2) push();  // comes soon after
    }
  }
  EXPECT_EQ(ended, pushes.size());
}

}  // namespace
}  // namespace sheaf::client::list
