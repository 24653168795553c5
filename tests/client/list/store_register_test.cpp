// Transcripts of the register on the state store: what it requests, answer by answer.

#include "client/list/store_register.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/client/list/wire.h"

namespace sheaf::client::list {
namespace {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using Kind = RegisterEvent::Kind;

// One list; the test answers for its lock and head.
struct Played {
  explicit Played(std::uint64_t seed) : reg(keys, {}, Random(seed).fork()) {}

  const calls::Command& ask_for_lock() { return wire.wants(Verb::set, keys.lock()); }
  // Opens on an absent head.
  void open() {
    reg.open(wire.now.mono + 5s, wire.now);
    wire.answer(ask_for_lock(), Status::done, "token");
    wire.answer(wire.wants(Verb::get, keys.head()), Status::absent);
    wire.answer(wire.wants(Verb::set, keys.head()), Status::done, "v");
    EXPECT_EQ(reg.poll_event().kind, Kind::done);
  }

  Keys keys{"jobs"};
  StoreRegister reg;
  Wire<StoreRegister> wire{reg};
};

// Asked at that moment, or shortly before it, so that the answer comes after it.
auto answered_from(Deadline moment) {
  return testing::AllOf(testing::Gt(moment - test::latency), testing::Le(moment));
}

TEST(StoreRegister, LocksReadsClaimsAndCommitsOnTheConnectionOfTheLock) {
  Played list(1);
  const Deadline begun = list.wire.now.mono;
  list.reg.open(begun + 5s, list.wire.now);
  const calls::Command& lock = list.ask_for_lock();
  EXPECT_EQ(lock.operation.condition, Condition::if_absent_or_equal);
  EXPECT_EQ(lock.operation.ttl, 2s);
  EXPECT_EQ(lock.connection, 0u);
  const std::string nonce(lock.operation.value);
  list.wire.answer(lock, Status::done, "token");
  EXPECT_EQ(list.reg.good_until(), begun + StoreRegisterOptions().tenure) << "from the request on";
  const calls::Command& read = list.wire.wants(Verb::get, list.keys.head());
  EXPECT_EQ(read.connection, 7u);
  Head head;
  head.revision = 4;
  const std::string bytes = encode_head(head);
  list.wire.answer(read, Status::done, "v", bytes);
  const calls::Command& claim = list.wire.wants(Verb::set, list.keys.head());
  EXPECT_EQ(claim.operation.condition, Condition::if_absent_or_equal);
  EXPECT_EQ(claim.operation.value, bytes);
  EXPECT_EQ(claim.operation.fence, "token");
  EXPECT_EQ(claim.connection, 7u);
  list.wire.answer(claim, Status::done, "v");
  ASSERT_EQ(list.reg.poll_event().kind, Kind::done);
  ++head.revision;
  list.reg.commit(head, list.wire.now.mono + 5s, list.wire.now);
  const calls::Command& commit = list.wire.wants(Verb::set, list.keys.head());
  EXPECT_EQ(commit.operation.condition, Condition::none);
  EXPECT_EQ(commit.operation.value, encode_head(head));
  EXPECT_EQ(commit.operation.fence, "token");
  EXPECT_EQ(commit.connection, 7u);
  list.wire.answer(commit, Status::done, "v");
  ASSERT_EQ(list.reg.poll_event().kind, Kind::done);
  list.reg.close(list.wire.now.mono + 1s, list.wire.now);
  const calls::Command& release = list.wire.wants(Verb::remove, list.keys.lock());
  EXPECT_EQ(release.operation.condition, Condition::if_value);
  EXPECT_EQ(release.operation.value, nonce);
  list.wire.wants_nothing();
}

// A writer that died keeps its lock until the lease ends. A waiting writer asks again just after
// that moment, no matter how long its pauses have become.
TEST(StoreRegister, AWriterThatWaitsAsksAgainWhenTheLeaseOfADeadOneEnds) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Played list(seed);
    const Deadline started = list.wire.now.mono;
    list.reg.open(started + 60s, list.wire.now);
    std::vector<Deadline> asked;
    while (list.wire.now.mono < started + 5s) {
      list.wire.answer(list.ask_for_lock(), Status::not_stored, "of the dead one");
      list.wire.wait();
      asked.push_back(list.wire.now.mono - started);
    }
    const Deadline ends = test::latency + 2'002ms;  // after the first answer
    EXPECT_THAT(asked, testing::Contains(answered_from(ends)));
    EXPECT_GT(std::ranges::count_if(asked, [&](Deadline at) { return at > ends; }), 5)
        << "and goes on if it is still there";
    EXPECT_LT(asked.size(), 60u) << "the pauses grow";
  }
}

TEST(StoreRegister, ALeaseThatIsRenewedCountsAnew) {
  Played list(1);
  list.reg.open(list.wire.now.mono + 60s, list.wire.now);
  const Deadline started = list.wire.now.mono;
  Deadline renewed{0};
  std::vector<Deadline> asked;
  while (list.wire.now.mono < started + 5s) {
    const bool late = list.wire.now.mono >= started + 1s;
    if (late && renewed == Deadline{0}) renewed = list.wire.now.mono;
    list.wire.answer(list.ask_for_lock(), Status::not_stored, late ? "second" : "first");
    list.wire.wait();
    asked.push_back(list.wire.now.mono);
  }
  EXPECT_THAT(asked, testing::Contains(answered_from(renewed + test::latency + 2'002ms)));
}

TEST(StoreRegister, AnEmptyItemIsRead) {
  Played list(1);
  list.open();
  list.reg.exchange({list.keys.item(1), list.keys.item(2)}, {}, list.wire.now.mono + 5s,
                    list.wire.now);
  const calls::Command& first = list.wire.wants(Verb::get, list.keys.item(1));
  const calls::Command& second = list.wire.wants(Verb::get, list.keys.item(2));
  list.wire.answer(first, Status::done, "v", "");
  list.wire.answer(second, Status::absent);
  ASSERT_EQ(list.reg.poll_event().kind, Kind::done);
  EXPECT_EQ(list.reg.values()[0], "");
  EXPECT_EQ(list.reg.values()[1], std::nullopt);
}

}  // namespace
}  // namespace sheaf::client::list
