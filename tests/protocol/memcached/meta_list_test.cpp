// Gets asked in one burst, as one line.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {
namespace {

// A session that is ready, and a burst of gets of k1, k2, ...
class MetaList : public testing::Test {
 protected:
  void ask(unsigned count) {
    for (unsigned i = 1; i <= count; ++i) {
      const std::string key = "k" + std::to_string(i);
      tickets.push_back(wire.submit(get(key)));
    }
  }
  // The reply to the first, which goes as a line of its own with opaque 2.
  void answer_first() {
    wire.feed("VA 2 f0 c1 O2\r\nv1\r\n");
    EXPECT_EQ(wire.next().value, "v1");
  }
  void expect_next(unsigned number, std::string_view value) {
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::reply);
    EXPECT_EQ(seen.ticket, tickets[number - 1]);
    EXPECT_EQ(seen.status, value.empty() ? Status::absent : Status::done);
    EXPECT_EQ(seen.value, value);
  }
  void expect_closed(std::string_view why) {
    for (int i = 0;
         i < 100 && !wire.events.empty() && wire.events.front().kind != Event::Kind::closed; ++i) {
      EXPECT_EQ(wire.next().kind, Event::Kind::failed);
    }
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_NE(wire.session.close_reason().text.find(why), std::string::npos)
        << wire.session.close_reason().text;
  }

  MetaWire wire;
  std::vector<Ticket> tickets;
};

constexpr const char* kAsked = "mg k1 v f c O2\r\ngets k2 k3 k4 k5 k6 k7\r\n";

TEST_F(MetaList, AFewGoAsLinesOfTheirOwn) {
  ask(3);
  EXPECT_EQ(wire.take(), "mg k1 v f c O2\r\nmg k2 v f c O3\r\nmg k3 v f c O4\r\n");
}

TEST_F(MetaList, HitsAndMissesInTheOrderAsked) {
  ask(7);
  EXPECT_EQ(wire.take(), kAsked);
  EXPECT_FALSE(wire.session.clean());
  answer_first();
  wire.feed("VALUE k3 9 2 33\r\nv3\r\nVALUE k4 0 4 44\r\n\r\nv4\r\nVALUE k6 0 2 6\r\nv6\r\nEND\r\n",
            1);
  expect_next(2, "");
  const Seen third = wire.next();
  EXPECT_EQ(third.ticket, tickets[2]);
  EXPECT_EQ(third.value, "v3");
  EXPECT_EQ(third.flags, 9u);
  EXPECT_EQ(third.version, "33");
  expect_next(4, "\r\nv4");
  expect_next(5, "");
  expect_next(6, "v6");
  expect_next(7, "");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(MetaList, TheConnectionIsCleanBeforeTheEndOfTheListHasCome) {
  ask(7);
  wire.take();
  answer_first();
  for (unsigned i = 2; i <= 7; ++i) {
    wire.feed("VALUE k" + std::to_string(i) + " 0 1 1\r\nv\r\n");
    expect_next(i, "v");
  }
  EXPECT_TRUE(wire.session.clean()) << "END is owed to nobody";
  const Ticket next = wire.submit(get("other"));
  EXPECT_EQ(wire.take(), "mg other v f c Oa\r\n");
  wire.feed("END\r\nVA 1 f0 c1 Oa\r\no\r\n");
  EXPECT_EQ(wire.next().ticket, next);
}

TEST_F(MetaList, AKeyAskedTwiceIsAnsweredTwice) {
  ask(6);
  tickets.push_back(wire.submit(get("k2")));
  EXPECT_EQ(wire.take(), "mg k1 v f c O2\r\ngets k2 k3 k4 k5 k6 k2\r\n");
  answer_first();
  wire.feed("VALUE k2 0 1 1\r\na\r\nVALUE k2 0 1 1\r\nb\r\nEND\r\n");
  expect_next(2, "a");
  for (unsigned i = 3; i <= 6; ++i) expect_next(i, "");
  expect_next(7, "b");
}

TEST_F(MetaList, WhatIsNoPlainKeyGoesAloneAndInOrder) {
  ask(6);
  wire.submit(get("a b"));
  wire.submit(set("k1", "v"));
  EXPECT_EQ(wire.take(),
            "mg k1 v f c O2\r\ngets k2 k3 k4 k5 k6\r\nmg YSBi b v f c O9\r\nms k1 1 c Oa\r\nv\r\n");
}

TEST_F(MetaList, LongListsAreSeveral) {
  const std::string key(200, 'k');
  for (int i = 0; i < 27; ++i) wire.submit(get(key));
  const std::string out = wire.take();
  std::size_t lists = 0;
  for (std::size_t at = 0; (at = out.find("gets ", at)) != std::string::npos; ++lists) {
    EXPECT_LT(out.find("\r\n", at) - at, 2'048u);
    at = out.find("\r\n", at);
  }
  EXPECT_EQ(lists, 3u);
}

TEST_F(MetaList, CancelledBeforeItLeavesAKeyIsNotAskedFor) {
  ask(8);
  EXPECT_EQ(wire.session.cancel(tickets[0], wire.now()), Sent::no);
  EXPECT_EQ(wire.session.cancel(tickets[4], wire.now()), Sent::no);
  EXPECT_EQ(wire.take(), "mg k2 v f c O3\r\ngets k3 k4 k6 k7 k8\r\n");
}

TEST_F(MetaList, CancelledInAListItsReplyIsNobodys) {
  ask(7);
  wire.take(20);  // the list has begun
  EXPECT_EQ(wire.session.cancel(tickets[2], wire.now()), Sent::maybe);
  EXPECT_EQ(wire.session.cancel(tickets[4], wire.now()), Sent::maybe);
  wire.take();
  answer_first();
  EXPECT_FALSE(wire.session.clean());
  wire.feed("VALUE k3 0 2 1\r\nv3\r\nVALUE k4 0 2 1\r\nv4\r\nEND\r\n");
  expect_next(2, "");
  expect_next(4, "v4");
  expect_next(6, "");
  expect_next(7, "");
  EXPECT_EQ(wire.session.counters().late_replies, 1u) << "a miss is not late";
  EXPECT_TRUE(wire.session.clean());
}

// Only mg tells an empty value from the stub that holds a lease.
TEST_F(MetaList, AnEmptyValueIsAskedForAgain) {
  ask(7);
  wire.take();
  answer_first();
  wire.feed("VALUE k2 0 0 5\r\n\r\nVALUE k4 0 0 6\r\n\r\n");
  expect_next(3, "");
  EXPECT_EQ(wire.take(), "mg k2 v f c Oa\r\nmg k4 v f c Ob\r\n");
  EXPECT_EQ(wire.session.cancel(tickets[3], wire.now()), Sent::maybe);
  wire.feed("VALUE k7 0 2 7\r\nv7\r\nEND\r\n");
  expect_next(5, "");
  expect_next(6, "");
  expect_next(7, "v7");
  wire.feed("VA 0 f0 c5 Z Oa\r\n\r\nVA 0 f0 c6 Ob\r\n\r\n");
  const Seen stub = wire.next();
  EXPECT_EQ(stub.ticket, tickets[1]);
  EXPECT_EQ(stub.status, Status::absent);
  EXPECT_EQ(stub.lease, Lease::taken);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(MetaList, AValueAboveTheLimitIsPassedOver) {
  SessionOptions options = test_options();
  options.value_limit = 10;
  MetaWire small(options);
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) small.submit(get(key));
  small.take();
  small.feed("EN O2\r\nVALUE b 0 11 1\r\n01234567890\r\nVALUE c 0 1 1\r\nc\r\nEND\r\n", 1);
  EXPECT_EQ(small.next().status, Status::absent);
  const Seen large = small.next();
  EXPECT_EQ(large.status, Status::refused);
  EXPECT_EQ(large.reason, Reason::too_large);
  EXPECT_EQ(small.next().value, "c");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(small.next().status, Status::absent);
}

TEST_F(MetaList, WhatIsNoAnswerToAListEndsTheConnection) {
  const std::pair<const char*, const char*> lies[] = {
      {"VALUE k1 0 1 1\r\nv\r\n", "a key that was not asked for"},
      {"VALUE k 0 1 1\r\nv\r\n", "a key that was not asked for"},
      {"VALUE k33 0 1 1\r\nv\r\n", "a key that was not asked for"},
      {"VALUE k2 0 1\r\nv\r\n", "in a list of gets"},
      {"VALUE k2 0 1 1\r\nvv\r\n", "longer than announced"},
      {"VALUE k2 0 2000000000 1\r\n", "longer than any expected"},
      {"EN O3\r\n", "neither value nor end"},
      {"VA 1 f0 c1 O3\r\nv\r\n", "neither value nor end"},
      {"SERVER_ERROR out of memory writing get response\r\n", "neither value nor end"},
  };
  for (const auto& [lie, why] : lies) {
    MetaWire fresh;
    for (unsigned i = 1; i <= 7; ++i) {
      fresh.submit(get("k" + std::to_string(i)));
    }
    fresh.take();
    fresh.feed("VA 2 f0 c1 O2\r\nv1\r\n" + std::string(lie));
    fresh.next();
    for (unsigned i = 2; i <= 7; ++i) EXPECT_EQ(fresh.next().kind, Event::Kind::failed) << lie;
    EXPECT_EQ(fresh.next().kind, Event::Kind::closed) << lie;
    EXPECT_NE(fresh.session.close_reason().text.find(why), std::string::npos)
        << lie << fresh.session.close_reason().text;
  }
}

TEST_F(MetaList, AValueBehindTheLastKeyEndsTheConnection) {
  ask(7);
  wire.take();
  answer_first();
  wire.feed("VALUE k7 0 1 1\r\nv\r\nVALUE k7 0 1 1\r\nv\r\n");
  for (unsigned i = 2; i <= 6; ++i) expect_next(i, "");
  expect_next(7, "v");
  expect_closed("a key that was not asked for");
}

TEST_F(MetaList, AReplyBeforeTheListHasLeftEndsTheConnection) {
  ask(7);
  wire.take(20);
  answer_first();
  wire.feed("END\r\n");
  expect_closed("has not been sent");
}

}  // namespace
}  // namespace sheaf::protocol::memcached
