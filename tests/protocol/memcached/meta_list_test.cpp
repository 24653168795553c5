// get_many in the meta protocol: lists, and mg for the last key. What is written, told, cancelled.

#include <gtest/gtest.h>

#include <utility>

#include "tests/protocol/memcached/meta_list_harness.h"

namespace sheaf::protocol::memcached {
namespace {

// ---- what is written

TEST_F(MetaList, OneKeyIsAskedForWithoutAList) {
  ask(1);
  EXPECT_EQ(wire.take(), "mg k1 v f c O2\r\n");
  EXPECT_FALSE(wire.session.clean());
  wire.feed("VA 2 f9 c33 O2\r\nv1\r\n", 1);
  const Seen first = expect_item(0, "v1");
  EXPECT_EQ(first.flags, 9u);
  EXPECT_EQ(first.version, "33");
  EXPECT_FALSE(first.unsure);
  expect_whole();
  ask(1);
  wire.take();
  wire.feed("EN O3\r\n", 1);
  expect_whole();
}

TEST_F(MetaList, AllButTheLastAreOneLine) {
  const std::vector<std::string_view> two = {"k1", "k2"};
  wire.submit(many(two));
  EXPECT_EQ(wire.take(), "gets k1\r\nmg k2 v f c O2\r\n");
  ask(7);
  EXPECT_EQ(wire.take(), "gets k1 k2 k3 k4 k5 k6\r\nmg k7 v f c O3\r\n");
  EXPECT_EQ(wire.session.in_flight(), 2u);
  EXPECT_EQ(wire.session.room(), 510u) << "as one request each";
}

TEST_F(MetaList, GetsOfOneKeyEachAreLinesOfTheirOwnWithTheirReplies) {
  std::vector<Ticket> tickets;
  for (const std::string_view key : kNames) tickets.push_back(wire.submit(get(key)));
  std::string lines;
  std::string answers;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    lines += "mg " + std::string(kNames[i]) + " v f c O" + std::to_string(i + 2) + "\r\n";
    answers += "VA 1 f0 c1 O" + std::to_string(i + 2) + "\r\n" + std::to_string(i) + "\r\n";
  }
  EXPECT_EQ(wire.take(), lines);
  wire.feed(answers);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::reply);
    EXPECT_EQ(seen.ticket, tickets[i]);
    EXPECT_EQ(seen.value, std::to_string(i));
  }
}

TEST_F(MetaList, LongListsAreSeveralLinesThatNameEachKeyOnceAndInOrder) {
  for (std::size_t shorter = 0; shorter < 120; ++shorter) {
    MetaWire fresh;
    const std::vector<std::string> names = long_names(shorter);
    keys.assign(names.begin(), names.end());
    ASSERT_NE(fresh.submit(many(keys)), Ticket{});
    std::string out = fresh.take();
    std::vector<std::string> named;
    std::size_t lists = 0;
    for (std::size_t end = 0; (end = out.find("\r\n")) != std::string::npos;) {
      std::string line = out.substr(0, end);
      out.erase(0, end + 2);
      ASSERT_LE(line.size(), 2'000u);
      if (out.empty()) {
        ASSERT_EQ(line, "mg " + names.back() + " v f c O2");
        named.push_back(names.back());
        continue;
      }
      ASSERT_TRUE(line.starts_with("gets "));
      ++lists;
      for (line.erase(0, 4); !line.empty();) {
        const std::size_t size = std::min(line.find(' ', 1), line.size());
        named.push_back(line.substr(1, size - 1));
        line.erase(0, size);
      }
    }
    ASSERT_EQ(out, "");
    ASSERT_EQ(named, names) << shorter;
    ASSERT_GE(lists, 2u);
    ASSERT_LE(lists, 6u) << "no more than are needed";
  }
}

TEST_F(MetaList, TheWholeOfSeveralListsIsToldByTheReplyToTheLastKey) {
  const std::vector<std::string> names = long_names();
  keys.assign(names.begin(), names.end());
  ticket = wire.submit(many(keys));
  wire.take();
  const auto value = [&](std::size_t i) {
    return "VALUE " + names[i] + " 0 3 1\r\n" + std::to_string(100 + i) + "\r\n";
  };
  wire.feed(value(0) + value(6) + "END\r\n" + "END\r\n" + value(20), 1);
  expect_item(0, "100");
  expect_item(6, "106");
  expect_item(20, "120");
  wire.feed("END\r\nEND\r\nEND\r\n" + value(39), 1);
  expect_item(39, "139");
  wire.feed("END\r\n", 1);
  EXPECT_TRUE(wire.events.empty()) << "nobody knows yet whose ends these were";
  EXPECT_FALSE(wire.session.clean());
  answer_last();
}

TEST_F(MetaList, AKeyThatIsNoPlainKeyIsUnsupportedAndNothingIsWritten) {
  const std::string too_long(251, 'k');
  const std::string_view bad[] = {"a b",    "",  "a\r\nb", "a\tb",  "a\0b"sv,
                                  "\x7f"sv, " ", "k\n",    too_long};
  for (const std::string_view key : bad) {
    for (std::size_t at = 0; at < 3; ++at) {
      keys = {"a", "b", "c"};
      keys[at] = key;
      EXPECT_EQ(wire.refusal(many(keys)).outcome, Outcome::unsupported) << hex_encode(key);
    }
  }
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.session.in_flight(), 0u);
  EXPECT_TRUE(wire.session.clean());
  ask(2);
  EXPECT_EQ(wire.take(), "gets k1\r\nmg k2 v f c O2\r\n");
}

TEST_F(MetaList, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(wire.refusal(many(keys)).outcome, Outcome::invalid) << "no keys";
  keys = {"a", "b"};
  EXPECT_EQ(wire.refusal(with(many(keys), Condition::if_absent)).outcome, Outcome::unsupported);
  EXPECT_EQ(wire.refusal(living(many(keys), 1s)).outcome, Outcome::unsupported);
  EXPECT_EQ(wire.take(), "");
}

// ---- hits and misses

TEST_F(MetaList, HitsInTheOrderAskedAndNothingOfMisses) {
  ask(7);
  EXPECT_EQ(wire.take(), kAsked);
  EXPECT_FALSE(wire.session.clean());
  wire.feed("VALUE k2 9 2 33\r\nv2\r\nVALUE k3 0 5 44\r\nEND\r\n\r\nVALUE k5 0 2 6\r\nv5\r\n", 1);
  const Seen second = expect_item(1, "v2");
  EXPECT_EQ(second.flags, 9u);
  EXPECT_EQ(second.version, "33");
  expect_item(2, "END\r\n");
  expect_item(4, "v5");
  wire.feed("END\r\n", 1);
  EXPECT_TRUE(wire.events.empty());
  wire.feed("VA 2 f8 c77 O2\r\nv7\r\n", 1);
  const Seen last = expect_item(6, "v7");
  EXPECT_EQ(last.flags, 8u);
  EXPECT_EQ(last.version, "77");
  expect_whole();
}

TEST_F(MetaList, AllOrNothing) {
  ask(3);
  wire.take();
  wire.feed("END\r\nEN O2\r\n");
  expect_whole();
  ask(3);
  wire.take();
  wire.feed("VALUE k1 0 1 1\r\na\r\nVALUE k2 0 1 1\r\nb\r\nEND\r\nVA 1 f0 c1 O3\r\nc\r\n");
  expect_item(0, "a");
  expect_item(1, "b");
  expect_item(2, "c");
  expect_whole();
}

TEST_F(MetaList, TheLastKeyMissingHasNoItem) {
  ask(3);
  wire.take();
  wire.feed("VALUE k2 0 1 1\r\nb\r\nEND\r\nEN O2\r\n", 1);
  expect_item(1, "b");
  expect_whole();

  MetaWire older(test_options(), "1.6.17");
  older.submit(many(keys));
  older.take();
  older.feed("END\r\nEN\r\n");
  const Seen seen = older.next();
  EXPECT_EQ(seen.kind, Event::Kind::reply) << "older servers tell no opaque";
  EXPECT_EQ(seen.status, Status::done);
  EXPECT_TRUE(older.session.clean());
}

TEST_F(MetaList, WhatMgTellsOfTheLastKeyIsTold) {
  ask(2);
  wire.take();
  wire.feed("END\r\nVA 0 f0 c5 Z O2\r\n\r\n");
  const Seen stub = expect_item(1, "", Status::absent);
  EXPECT_EQ(stub.lease, Lease::taken);
  expect_whole();
  ask(2);
  wire.take();
  wire.feed("END\r\nVA 3 f0 c5 W X O3\r\nold\r\n");
  const Seen stale = expect_item(1, "old");
  EXPECT_EQ(stale.lease, Lease::won);
  EXPECT_TRUE(stale.stale);
  expect_whole();
}

TEST_F(MetaList, AKeyAskedTwiceIsAnsweredTwice) {
  keys = {"k1", "k2", "k3", "k2", "k1"};
  ticket = wire.submit(many(keys));
  EXPECT_EQ(wire.take(), "gets k1 k2 k3 k2\r\nmg k1 v f c O2\r\n");
  wire.feed("VALUE k1 0 1 1\r\na\r\nVALUE k2 0 1 1\r\nb\r\nVALUE k2 0 1 1\r\nc\r\nEND\r\n");
  expect_item(0, "a");
  expect_item(1, "b");
  expect_item(3, "c");
  answer_last();
}

TEST_F(MetaList, AnEmptyValueInAListIsUnsure) {
  ask(3);
  wire.take();
  wire.feed("VALUE k1 0 0 5\r\n\r\nVALUE k2 0 1 5\r\nv\r\nEND\r\nVA 0 f0 c5 O2\r\n\r\n", 1);
  EXPECT_TRUE(expect_item(0, "").unsure);
  EXPECT_FALSE(expect_item(1, "v").unsure);
  EXPECT_FALSE(expect_item(2, "").unsure) << "mg tells it from the stub that holds a lease";
  expect_whole();
}

TEST_F(MetaList, AValueAboveTheLimitIsPassedOverAndRefusedAlone) {
  const std::string large = "01234567\r\n9";
  const std::string bytes = "VALUE k1 0 11 1\r\n" + large +
                            "\r\nVALUE k3 0 10 1\r\n0123456789\r\nVALUE k4 0 11 1\r\n" + large +
                            "\r\nEND\r\nVA 11 f0 c1 O2\r\n" + large + "\r\n";
  for (const std::size_t step : {1u, 7u, 1'000u}) {
    MetaWire small(small_values());
    keys.assign(kNames.begin(), kNames.begin() + 5);
    small.submit(many(keys));
    small.take();
    small.feed(bytes, step);
    for (const std::uint32_t index : {0u, 2u, 3u, 4u}) {
      const Seen item = small.next();
      EXPECT_EQ(item.kind, Event::Kind::item);
      EXPECT_EQ(item.index, index);
      EXPECT_EQ(item.status, index == 2 ? Status::done : Status::refused);
      EXPECT_EQ(item.reason, index == 2 ? Reason::other : Reason::too_large);
      EXPECT_EQ(item.value, index == 2 ? "0123456789" : "");
    }
    EXPECT_EQ(small.next().kind, Event::Kind::reply);
    EXPECT_TRUE(small.session.clean());
  }
}

TEST_F(MetaList, RequestsAroundItKeepTheirPlaces) {
  const Ticket before = wire.submit(set("k1", "v"));
  const std::vector<std::string_view> two = {"k1", "k2"};
  const Ticket first = wire.submit(many(two));
  ask(3);
  const Ticket behind = wire.submit(get("k1"));
  EXPECT_EQ(wire.take(),
            "ms k1 1 c O2\r\nv\r\ngets k1\r\nmg k2 v f c O3\r\ngets k1 k2\r\nmg k3 v f c O4\r\n"
            "mg k1 v f c O5\r\n");
  wire.feed(
      "HD c1 O2\r\nVALUE k1 0 1 1\r\na\r\nEND\r\nEN O3\r\nVALUE k1 0 1 1\r\nb\r\nEND\r\n"
      "VA 2 f0 c1 O4\r\nbb\r\nVA 1 f0 c1 O5\r\nc\r\n");
  EXPECT_EQ(wire.next().ticket, before);
  const Seen item = wire.next();
  EXPECT_EQ(item.ticket, first);
  EXPECT_EQ(item.value, "a");
  const Seen whole = wire.next();
  EXPECT_EQ(whole.kind, Event::Kind::reply);
  EXPECT_EQ(whole.ticket, first);
  expect_item(0, "b");
  expect_item(2, "bb");
  EXPECT_EQ(wire.next().ticket, ticket);
  EXPECT_EQ(wire.next().ticket, behind);
  EXPECT_TRUE(wire.session.clean());
}

// ---- cancelled

TEST_F(MetaList, CancelledBeforeItLeavesNothingIsWritten) {
  const Ticket before = wire.submit(get("a"));
  ask(7);
  const Ticket behind = wire.submit(get("b"));
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::no);
  keys.clear();
  EXPECT_EQ(wire.take(), "mg a v f c O2\r\nmg b v f c O4\r\n");
  wire.feed("EN O2\r\nEN O4\r\n");
  EXPECT_EQ(wire.next().ticket, before);
  EXPECT_EQ(wire.next().ticket, behind);
  EXPECT_TRUE(wire.session.clean());
  EXPECT_EQ(wire.session.counters().late_replies, 0u);
}

TEST_F(MetaList, CancelledWhileItIsWrittenItsItemsAreNobodys) {
  ask(7);
  std::string out = wire.take(20);  // of 24 bytes of the list
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(7, "gone");
  const Ticket next = wire.submit(get("other"));
  EXPECT_EQ(wire.session.in_flight(), 1u);
  EXPECT_EQ(out += wire.take(), kAsked + "mg other v f c O3\r\n"s);
  wire.feed("VALUE k3 0 2 1\r\nv3\r\nVALUE k4 0 0 1\r\n\r\nEND\r\nVA 2 f0 c1 O2\r\nv7\r\n", 1);
  EXPECT_TRUE(wire.events.empty());
  wire.feed("VA 1 f0 c1 O3\r\no\r\n");
  const Seen seen = wire.next();
  EXPECT_EQ(seen.ticket, next);
  EXPECT_EQ(seen.value, "o");
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(MetaList, CancelledInTheMiddleItIsCleanOnlyBehindTheReplyToTheLastKey) {
  const std::vector<std::string> names = long_names();
  keys.assign(names.begin(), names.end());
  ticket = wire.submit(many(keys));
  wire.take();
  wire.feed("VALUE " + names[1] + " 0 2 1\r\nv2\r\nVALUE " + names[2] + " 0 10 1\r\nhalf");
  expect_item(1, "v2");
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(keys.size(), "gone");
  EXPECT_EQ(wire.session.in_flight(), 0u);
  wire.feed(" of it\r\nEND\r\nEND\r\nVALUE " + names[20] + " 0 1 1\r\nv\r\n");
  for (int lists = 4; lists > 0; --lists) {  // of six
    EXPECT_FALSE(wire.session.clean()) << lists;
    wire.feed("END\r\n");
  }
  EXPECT_FALSE(wire.session.clean());
  EXPECT_EQ(wire.session.counters().late_replies, 0u);
  wire.feed("EN O2\r\n");
  EXPECT_FALSE(wire.session.closed()) << wire.session.close_reason().text;
  EXPECT_TRUE(wire.session.clean());
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
}

TEST_F(MetaList, CancelledInAValueAboveTheLimit) {
  MetaWire small(small_values());
  keys = {"a", "b", "c", "d"};
  const Ticket large = small.submit(many(keys));
  small.take();
  small.feed("VALUE a 0 0 1\r\n\r\nVALUE b 0 11 1\r\n0123");
  EXPECT_EQ(small.next().status, Status::done);
  EXPECT_EQ(small.next().reason, Reason::too_large);
  EXPECT_EQ(small.session.cancel(large, small.now()), Sent::maybe);
  keys.assign(4, "gone");
  small.feed("4567890\r\nVALUE c 0 12 1\r\n012345678901\r\nEND\r\n", 1);
  EXPECT_FALSE(small.session.clean());
  small.feed("VA 11 f0 c1 O2\r\n01234567890\r\n", 1);
  EXPECT_TRUE(small.events.empty());
  EXPECT_TRUE(small.session.clean());
}

TEST_F(MetaList, CancelledInTheValueOfTheLastKey) {
  MetaWire small(small_values());
  keys = {"a", "b"};
  const Ticket large = small.submit(many(keys));
  const Ticket behind = small.submit(get("c"));
  small.take();
  small.feed("END\r\nVA 11 f0 c1 O2\r\n0123");
  const Seen item = small.next();
  EXPECT_EQ(item.index, 1u);
  EXPECT_EQ(item.reason, Reason::too_large);
  EXPECT_TRUE(small.events.empty()) << "the whole comes behind the bytes that pass by";
  EXPECT_EQ(small.session.cancel(large, small.now()), Sent::maybe);
  keys.assign(2, "gone");
  small.feed("4567890\r\nVA 1 f0 c1 O3\r\nc\r\n", 1);
  const Seen seen = small.next();
  EXPECT_EQ(seen.ticket, behind);
  EXPECT_EQ(seen.value, "c");
  EXPECT_EQ(small.session.counters().late_replies, 1u);
  EXPECT_TRUE(small.session.clean());
}

// Between the item of the last key and the end of the whole there is nothing more to receive.
TEST_F(MetaList, CancelledBehindTheItemOfTheLastKey) {
  ask(2);
  const Ticket behind = wire.submit(get("c"));
  wire.take();
  const std::string bytes = "END\r\nVA 2 f0 c1 O2\r\nv2\r\nVA 1 f0 c1 O3\r\nc\r\n";
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(),
              wire.session.input_space().begin());
  wire.session.on_input(bytes.size(), wire.now());
  Event event;
  ASSERT_TRUE(wire.session.poll_event(event));
  EXPECT_EQ(event.kind, Event::Kind::item);
  EXPECT_EQ(event.index, 1u);
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(2, "gone");
  wire.poll();
  const Seen seen = wire.next();
  EXPECT_EQ(seen.ticket, behind);
  EXPECT_EQ(seen.value, "c");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

}  // namespace
}  // namespace sheaf::protocol::memcached
