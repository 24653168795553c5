// Operations on one key keep their order while servers redirect them, while they wait, and when
// their key gets another node.

#include "cluster/moving/key_order.h"

#include <random>

#include "tests/cluster/redirects_harness.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::string>;

class KeyOrderTest : public RedirectsTest {
 protected:
  KeyOrderTest() { connect(); }
  Numbers received(const std::string& server) { return session(server)->values; }
  void answer_all(const std::string& server) {
    while (in_flight(server) > 0) answer(server);
  }
  void start_many(unsigned count) {
    for (unsigned i = 0; i < count; ++i) start("7");
  }
};

TEST_F(KeyOrderTest, OperationsThatAreMovedArriveInTheirOrder) {
  start_many(4);
  for (int i = 0; i < 4; ++i) moved("a:1", 7, "b");
  EXPECT_EQ(received("b:1"), Numbers({"1", "2", "3", "4"}));
}

TEST_F(KeyOrderTest, ANewOperationWaitsForThoseThatTheFormerOwnerHasNotAnswered) {
  start_many(3);
  moved("a:1", 7, "b");
  moved("a:1", 7, "b");
  start("7");
  EXPECT_EQ(received("b:1"), Numbers()) << "the third may be carried out yet";
  moved("a:1", 7, "b");
  EXPECT_EQ(received("b:1"), Numbers({"1", "2", "3", "4"}));
  start("7");
  EXPECT_EQ(received("b:1").size(), 5u) << "nothing is behind any more";
}

TEST_F(KeyOrderTest, AnotherKeyDoesNotWait) {
  start_many(2);
  moved("a:1", 7, "b");
  start("200");
  EXPECT_EQ(received("b:1"), Numbers({"3"}));
}

TEST_F(KeyOrderTest, ANewOperationWaitsBehindOneThatTriesAgainLater) {
  start("7");
  later("a:1");
  start("7");
  EXPECT_EQ(received("a:1"), Numbers({"1"}));
  loop.pass(5ms);
  EXPECT_EQ(received("a:1"), Numbers({"1", "1", "2"}));
}

TEST_F(KeyOrderTest, OneThatTriesAgainWaitsForALaterOneThatWasSentToo) {
  start_many(2);
  later("a:1");
  loop.pass(1s);
  EXPECT_EQ(received("a:1"), Numbers({"1", "2"})) << "the second may be carried out yet";
  later("a:1");
  loop.pass(1s);
  EXPECT_EQ(received("a:1"), Numbers({"1", "2", "1", "2"}));
}

TEST_F(KeyOrderTest, ALaterOperationThatWasCarriedOutEndsTheEarlierOne) {
  start_many(2);
  later("a:1");
  answer("a:1");
  loop.pass(1s);
  EXPECT_EQ(received("a:1"), Numbers({"1", "2"}));
  EXPECT_EQ(ops[0].ends, 1u);
  EXPECT_EQ(ops[0].outcome, Outcome::refused) << "it was not carried out, and may be repeated";
  EXPECT_EQ(ops[0].reason, Reason::overtaken);
  EXPECT_EQ(ops[0].text, "TRYAGAIN it (not sent once more: a later operation on its key was)");
  EXPECT_TRUE(ops[1].answered);
}

TEST_F(KeyOrderTest, ThoseThatWaitForAnOwnerGoInTheirOrder) {
  apply({a, b}, {{7, 0}, {8, AssignedSlots::unassigned}, {16'384, 1}});
  start_many(4);
  apply({a, b}, {{100, 0}, {16'384, 1}});
  loop.pass(300ms);
  EXPECT_EQ(received("a:1"), Numbers({"1", "2", "3", "4"}));
}

TEST_F(KeyOrderTest, ANewMapKeepsTheOrderToo) {
  start_many(2);
  apply({a, b}, {{16'384, 1}});
  start("7");
  EXPECT_EQ(received("b:1"), Numbers());
  answer("a:1");
  moved("a:1", 7, "b");
  EXPECT_EQ(received("b:1"), Numbers({"2", "3"}));
}

TEST_F(KeyOrderTest, ThoseThatWaitOnANodeGoToAnotherAtOnceAndInTheirOrder) {
  cluster->apply(topology_of({a, b, c}, {{8, 2}, {16'384, 1}}), loop.now());
  start_many(3);  // c is not connected
  apply({a, b}, {{16'384, 1}});
  EXPECT_EQ(received("b:1"), Numbers({"1", "2", "3"}));
}

TEST_F(KeyOrderTest, OperationsOnAKeyThatIsHeldWaitUntilItIsReleased) {
  Request elsewhere;
  elsewhere.operation.key = "7";
  start("7");
  cluster->sender().hold_key(elsewhere);
  start_many(2);
  start("8");
  loop.pass(1s);
  EXPECT_EQ(received("a:1"), Numbers({"1", "4"}));
  cluster->sender().release_key(elsewhere);
  loop.pass(1ms);
  EXPECT_EQ(received("a:1"), Numbers({"1", "4", "2", "3"}));
  answer_all("a:1");
  cluster->sender().hold_key(elsewhere);
  start("7");
  cluster->shut_down(loop.now());
  EXPECT_EQ(ops[4].outcome, Outcome::shutdown);
  cluster->sender().release_key(elsewhere);
}

// A batch behind a single operation: both were freed, the batch was tried first, in vain, and the
// single one not at all.
TEST(KeyOrder, ABatchThatIsTriedInVainDoesNotKeepAnEarlierOperationWaiting) {
  const std::vector<std::string_view> both{"a", "b"};
  Request first_on_a;
  Request first_on_b;
  Request single;
  Request batch;
  first_on_a.operation.key = single.operation.key = "a";
  first_on_b.operation.key = "b";
  batch.operation.keys = both;
  KeyOrder order;
  const auto keep = [&](auto... requests) {
    (order.begin(*requests), ...);
    order.keep([&](const auto& enter) { (enter(*requests), ...); });
  };
  keep(&first_on_a, &first_on_b, &single, &batch);
  const Now now{1s, 0ms};
  for (Request* const later : {&single, &batch}) {
    ASSERT_FALSE(order.may_go(*later, 1));
    order.park(*later, now);
  }
  order.leave(first_on_a, true);
  order.leave(first_on_b, true);
  std::vector<const Request*> sent;
  for (int tries = 0; tries < 10; ++tries) {
    Request* const next = order.next_to_try();
    if (next == nullptr) break;
    if (order.may_go(*next, 0)) {
      order.send(*next);
      sent.push_back(next);
    } else {
      order.park(*next, now);
    }
  }
  EXPECT_EQ(sent, (std::vector<const Request*>{&single, &batch}));
  order.leave(single, true);
  order.leave(batch, true);
}

TEST_F(KeyOrderTest, AFormerOwnerThatHangsHoldsUpNewOperationsForAMomentOnly) {
  start_many(2);
  apply({a, b}, {{16'384, 1}});
  start("7");
  start("7");
  loop.pass(KeyOrder::patience - 1ms);
  EXPECT_EQ(received("b:1"), Numbers());
  loop.pass(1ms);
  EXPECT_EQ(received("b:1"), Numbers({"3", "4"}));
  answer_all("b:1");
  moved("a:1", 7, "b");
  EXPECT_EQ(ops[0].outcome, Outcome::refused) << "later ones were carried out";
  moved("a:1", 7, "b");
  EXPECT_EQ(ops[1].outcome, Outcome::refused);
  EXPECT_EQ(received("b:1"), Numbers({"3", "4"}));
}

TEST_F(KeyOrderTest, OneThatWaitsForOthersEndsByItsDeadlineOrWhenItIsCancelled) {
  start("7");
  later("a:1");
  maps.fetches.clear();
  start("7", 3ms);
  RedirectedOp& cancelled = start("7");
  cluster->cancel(cancelled.request, loop.now());
  EXPECT_EQ(cancelled.ends, 1u);
  EXPECT_EQ(cancelled.reason, Reason::cancelled);
  EXPECT_EQ(cancelled.outcome, Outcome::not_sent);
  loop.pass(4ms);
  EXPECT_EQ(ops[1].ends, 1u);
  EXPECT_EQ(ops[1].outcome, Outcome::not_sent);
  EXPECT_EQ(ops[1].reason, Reason::timed_out);
  EXPECT_EQ(ops[1].text, "an earlier operation on the key has not ended");
  loop.pass(1ms);
  answer("a:1");
  EXPECT_TRUE(ops[0].answered);
}

TEST_F(KeyOrderTest, OneThatWaitsForOthersEndsWithTheClient) {
  start("7");
  later("a:1");
  start("7");
  cluster->shut_down(loop.now());
  EXPECT_EQ(ops[1].ends, 1u);
  EXPECT_EQ(ops[1].outcome, Outcome::shutdown);
}

// Servers say at random where a key is. What is carried out, is carried out in the order of the
// numbers, and everything ends.
class RandomOrderTest : public KeyOrderTest, public testing::WithParamInterface<unsigned> {
 protected:
  void step() {
    const std::string server = pick<std::string>({"a:1", "b:1"});
    switch (random_() % 8) {
      case 0:
      case 1:
        start(pick<std::string>({"7", "8"}), std::chrono::milliseconds(1 + random_() % 4'000));
        break;
      case 2:
        loop.pass(std::chrono::milliseconds(random_() % 40));
        break;
      case 3:
        apply({a, b}, {{random_() % 100, random_() % 2}, {16'384, random_() % 2}});
        break;
      case 4:
        if (!ops.empty()) cluster->cancel(ops[random_() % ops.size()].request, loop.now());
        break;
      default:
        if (session(server) != nullptr && in_flight(server) > 0) reply(server);
    }
  }
  void reply(const std::string& server) {
    const std::string& other = server == "a:1" ? "b" : "a";
    switch (random_() % 5) {
      case 0:
        return later(server);
      case 1:
        return moved(server, slot_of_oldest(server), other);
      case 2:
        return ask(server, slot_of_oldest(server), other);
      default:
        return carry_out(server);
    }
  }
  std::uint16_t slot_of_oldest(const std::string& server) {
    return slot_in_key(session(server)->oldest().key);
  }
  // A server that has hung for longer than the patience of later operations no longer owns the key.
  void carry_out(const std::string& server) {
    const auto [key, number] = session(server)->oldest();
    const unsigned done = static_cast<unsigned>(std::stoul(number));
    const Deadline started = ops[done - 1].request.started_at;
    if (done < last_[key] && loop.now().mono - started >= KeyOrder::patience) {
      return moved(server, slot_in_key(key), server == "a:1" ? "b" : "a");
    }
    EXPECT_GT(done, std::exchange(last_[key], done)) << "key " << key;
    answer(server);
  }
  template <class T>
  T pick(std::initializer_list<T> all) {
    return *(all.begin() + static_cast<std::ptrdiff_t>(random_() % all.size()));
  }
  std::mt19937 random_{GetParam()};
  std::map<std::string, unsigned> last_;
};

TEST_P(RandomOrderTest, WhatIsCarriedOutKeepsItsOrderAndEverythingEnds) {
  for (int i = 0; i < 400 && !HasFailure(); ++i) step();
  for (int i = 0; i < 400; ++i) {
    for (const char* const server : {"a:1", "b:1"}) {
      while (session(server) != nullptr && in_flight(server) > 0) carry_out(server);
    }
    loop.pass(50ms);
  }
  for (const RedirectedOp& op : ops) EXPECT_EQ(op.ends, 1u) << "operation " << op.number;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrderTest, testing::Range(1u, 200u));

}  // namespace
}  // namespace sheaf::cluster
