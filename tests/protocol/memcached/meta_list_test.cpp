// get_many in the meta protocol: mg for the first key, then a list. These tests check what is
// written, what is reported and what cancelling does.

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

TEST_F(MetaList, AllButTheFirstAreOneLine) {
  const std::vector<std::string_view> two = {"k1", "k2"};
  wire.submit(many(two));
  EXPECT_EQ(wire.take(), "mg k1 v f c O2\r\ngets k2\r\n");
  ask(7);
  EXPECT_EQ(wire.take(), "mg k1 v f c O3\r\ngets k2 k3 k4 k5 k6 k7\r\n");
  EXPECT_EQ(wire.session.in_flight(), 2u);
  EXPECT_EQ(wire.session.room(), 510u) << "as one request each";
}

TEST_F(MetaList, GetsOfOneKeyEachAreLinesOfTheirOwnWithTheirReplies) {
  std::vector<Ticket> tickets;
  for (const std::string_view key : key_names) tickets.push_back(wire.submit(get(key)));
  std::string lines;
  std::string answers;
  for (std::size_t i = 0; i < key_names.size(); ++i) {
    lines += "mg " + std::string(key_names[i]) + " v f c O" + std::to_string(i + 2) + "\r\n";
    answers += "VA 1 f0 c1 O" + std::to_string(i + 2) + "\r\n" + std::to_string(i) + "\r\n";
  }
  EXPECT_EQ(wire.take(), lines);
  wire.feed(answers);
  for (std::size_t i = 0; i < key_names.size(); ++i) {
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::reply);
    EXPECT_EQ(seen.ticket, tickets[i]);
    EXPECT_EQ(seen.value, std::to_string(i));
  }
}

TEST_F(MetaList, AsManyKeysAsThereAreAreOneLineStill) {
  std::vector<std::string> names;
  std::string list = "gets";
  for (std::size_t i = 0; i < 300; ++i) {
    names.push_back(std::string(247, 'k') + std::to_string(100 + i));
    if (i > 0) list += " " + names.back();
  }
  keys.assign(names.begin(), names.end());
  ticket = wire.submit(many(keys));
  EXPECT_EQ(wire.take(), "mg " + names[0] + " v f c O2\r\n" + list + "\r\n");
  std::string answers = "VA 3 f0 c1 O2\r\n100\r\n";
  for (const std::size_t i : {1u, 150u, 299u}) {
    answers += "VALUE " + names[i] + " 0 3 1\r\n" + std::to_string(100 + i) + "\r\n";
  }
  wire.feed(answers + "END\r\n", 7);
  for (const std::uint32_t i : {0u, 1u, 150u, 299u}) expect_item(i, std::to_string(100 + i));
  expect_whole();
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
  EXPECT_EQ(wire.take(), "mg k1 v f c O2\r\ngets k2\r\n");
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
  EXPECT_EQ(wire.take(), asked_keys);
  EXPECT_FALSE(wire.session.clean());
  wire.feed("VA 2 f8 c77 O2\r\nv1\r\n", 1);
  const Seen first = expect_item(0, "v1");
  EXPECT_EQ(first.flags, 8u);
  EXPECT_EQ(first.version, "77");
  wire.feed("VALUE k2 9 2 33\r\nv2\r\nVALUE k3 0 5 44\r\nEND\r\n\r\nVALUE k5 0 2 6\r\nv5\r\n", 1);
  const Seen second = expect_item(1, "v2");
  EXPECT_EQ(second.flags, 9u);
  EXPECT_EQ(second.version, "33");
  expect_item(2, "END\r\n");
  expect_item(4, "v5");
  EXPECT_TRUE(wire.events.empty());
  wire.feed("END\r\n", 1);
  expect_whole();
}

TEST_F(MetaList, AllOrNothing) {
  ask(3);
  wire.take();
  wire.feed("EN O2\r\nEND\r\n");
  expect_whole();
  ask(3);
  wire.take();
  wire.feed("VA 1 f0 c1 O3\r\na\r\nVALUE k2 0 1 1\r\nb\r\nVALUE k3 0 1 1\r\nc\r\nEND\r\n");
  expect_item(0, "a");
  expect_item(1, "b");
  expect_item(2, "c");
  expect_whole();
}

TEST_F(MetaList, TheFirstKeyMissingHasNoItem) {
  ask(3);
  wire.take();
  wire.feed("EN O2\r\nVALUE k2 0 1 1\r\nb\r\nEND\r\n", 1);
  expect_item(1, "b");
  expect_whole();

  MetaWire older(test_options(), "1.6.17");
  older.submit(many(keys));
  older.take();
  older.feed("EN\r\nEND\r\n");
  const Seen seen = older.next();
  EXPECT_EQ(seen.kind, Event::Kind::reply) << "older servers return no opaque";
  EXPECT_EQ(seen.status, Status::done);
  EXPECT_TRUE(older.session.clean());
}

TEST_F(MetaList, WhatMgSaysOfTheFirstKeyIsReported) {
  ask(2);
  wire.take();
  wire.feed("VA 0 f0 c5 Z O2\r\n\r\nEND\r\n");
  const Seen stub = expect_item(0, "", Status::absent);
  EXPECT_EQ(stub.lease, Lease::taken);
  expect_whole();
  ask(2);
  wire.take();
  wire.feed("VA 3 f0 c5 W X O3\r\nold\r\nEND\r\n");
  const Seen stale = expect_item(0, "old");
  EXPECT_EQ(stale.lease, Lease::won);
  EXPECT_TRUE(stale.stale);
  expect_whole();
}

TEST_F(MetaList, AKeyAskedTwiceIsAnsweredTwice) {
  keys = {"k1", "k2", "k3", "k2", "k1"};
  ticket = wire.submit(many(keys));
  EXPECT_EQ(wire.take(), "mg k1 v f c O2\r\ngets k2 k3 k2 k1\r\n");
  wire.feed("VA 1 f0 c1 O2\r\na\r\nVALUE k2 0 1 1\r\nb\r\nVALUE k2 0 1 1\r\nc\r\n");
  wire.feed("VALUE k1 0 1 1\r\nd\r\nEND\r\n");
  expect_item(0, "a");
  expect_item(1, "b");
  expect_item(3, "c");
  expect_item(4, "d");
  expect_whole();
}

TEST_F(MetaList, AnEmptyValueInAListIsUnsure) {
  ask(3);
  wire.take();
  wire.feed("VA 0 f0 c5 O2\r\n\r\nVALUE k2 0 0 5\r\n\r\nVALUE k3 0 1 5\r\nv\r\nEND\r\n", 1);
  EXPECT_FALSE(expect_item(0, "").unsure) << "mg distinguishes it from the stub that holds a lease";
  EXPECT_TRUE(expect_item(1, "").unsure);
  EXPECT_FALSE(expect_item(2, "v").unsure);
  expect_whole();
}

TEST_F(MetaList, AValueAboveTheLimitIsPassedOverAndRefusedAlone) {
  const std::string large = "01234567\r\n9";
  const std::string bytes = "VA 11 f0 c1 O2\r\n" + large + "\r\nVALUE k2 0 11 1\r\n" + large +
                            "\r\nVALUE k4 0 10 1\r\n0123456789\r\nVALUE k5 0 11 1\r\n" + large +
                            "\r\nEND\r\n";
  for (const std::size_t step : {1u, 7u, 1'000u}) {
    MetaWire small(small_values());
    keys.assign(key_names.begin(), key_names.begin() + 5);
    small.submit(many(keys));
    small.take();
    small.feed(bytes, step);
    for (const std::uint32_t index : {0u, 1u, 3u, 4u}) {
      const Seen item = small.next();
      EXPECT_EQ(item.kind, Event::Kind::item);
      EXPECT_EQ(item.index, index);
      EXPECT_EQ(item.status, index == 3 ? Status::done : Status::refused);
      EXPECT_EQ(item.reason, index == 3 ? Reason::other : Reason::too_large);
      EXPECT_EQ(item.value, index == 3 ? "0123456789" : "");
    }
    EXPECT_EQ(small.next().kind, Event::Kind::reply);
    EXPECT_TRUE(small.session.clean());
  }
}

// ---- misses, and the replies after them

TEST_F(MetaList, MissesAreReportedOnceTheNextReplyHasBegun) {
  struct Next {
    Operation asked;
    const char* begins;
    const char* rest;
  };
  const std::vector<std::string_view> two = {"a", "b"};
  const Next nexts[] = {
      {get("a"), "VA 1 f0 c1 O3\r\n", "v\r\n"},
      {get("a"), "EN O3\r\n", ""},
      {set("a", "v"), "HD c1 O3\r\n", ""},
      {set("a", "v"), "SERVER_ERROR out of memory storing object\r\n", ""},
      {operation(Verb::increment, "a"), "NF O3\r\n", ""},
      {many(two), "EN O3\r\n", "END\r\n"},
      {operation(Verb::probe), "MN\r\n", ""},
      {operation(Verb::server_version), "VERSION 1.6.18\r\n", ""},
      {operation(Verb::stats), "MN\r\n", "END\r\n"},
  };
  for (const Next& next : nexts) {
    MetaWire fresh;
    keys.assign(key_names.begin(), key_names.end());
    const Ticket first = fresh.submit(many(keys));
    const Ticket behind = fresh.submit(next.asked);
    fresh.take();
    const std::string begins = next.begins;
    fresh.feed("EN O2\r\nVALUE k4 0 2 1\r\nv4\r\nEND\r\n" + begins.substr(0, begins.size() - 1), 1);
    EXPECT_EQ(fresh.next().index, 3u);
    EXPECT_TRUE(fresh.events.empty()) << begins;
    fresh.feed(begins.substr(begins.size() - 1));
    EXPECT_EQ(fresh.next().ticket, first) << begins;
    fresh.feed(next.rest, 1);
    EXPECT_EQ(fresh.next().ticket, behind) << begins;
    EXPECT_TRUE(fresh.session.clean());
  }
}

TEST_F(MetaList, ARequestThatHasNotLeftDelaysNoMiss) {
  ask(7);
  wire.take();
  const Ticket behind = wire.submit(get("a"));
  wire.feed("EN O2\r\nEND\r\n");
  EXPECT_EQ(wire.next().ticket, ticket);
  wire.take();
  wire.feed("EN O3\r\n");
  EXPECT_EQ(wire.next().ticket, behind);
}

TEST_F(MetaList, HitsWaitForNothing) {
  ask(2);
  wire.submit(get("a"));
  wire.take();
  wire.feed("VA 1 f0 c1 O2\r\na\r\nVALUE k2 0 1 1\r\nb\r\nEND\r\n", 1);
  expect_item(0, "a");
  expect_item(1, "b");
  EXPECT_EQ(wire.next().ticket, ticket);
  ask(2);
  wire.submit(get("a"));
  wire.take();
  wire.feed("EN O3\r\nEN O4\r\nVALUE k2 0 1 1\r\nb\r\nEND\r\n", 1);
  EXPECT_EQ(wire.next().kind, Event::Kind::reply) << "of the get before";
  expect_item(1, "b");
  EXPECT_EQ(wire.next().ticket, ticket) << "mg has reported the only miss";
}

TEST_F(MetaList, RequestsAroundItKeepTheirPlaces) {
  const Ticket before = wire.submit(set("k1", "v"));
  const std::vector<std::string_view> two = {"k1", "k2"};
  const Ticket first = wire.submit(many(two));
  ask(3);
  const Ticket behind = wire.submit(get("k1"));
  EXPECT_EQ(wire.take(),
            "ms k1 1 c O2\r\nv\r\nmg k1 v f c O3\r\ngets k2\r\nmg k1 v f c O4\r\ngets k2 k3\r\n"
            "mg k1 v f c O5\r\n");
  wire.feed(
      "HD c1 O2\r\nVA 1 f0 c1 O3\r\na\r\nEND\r\nVA 1 f0 c1 O4\r\nb\r\n"
      "VALUE k3 0 2 1\r\nbb\r\nEND\r\nVA 1 f0 c1 O5\r\nc\r\n");
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
  std::string out = wire.take(20);  // of 41 bytes
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(7, "gone");
  const Ticket next = wire.submit(get("other"));
  EXPECT_EQ(wire.session.in_flight(), 1u);
  EXPECT_EQ(out += wire.take(), asked_keys + "mg other v f c O3\r\n"s);
  wire.feed("VA 2 f0 c1 O2\r\nv1\r\nVALUE k3 0 2 1\r\nv3\r\nVALUE k4 0 0 1\r\n\r\nEND\r\n", 1);
  EXPECT_TRUE(wire.events.empty());
  wire.feed("VA 1 f0 c1 O3\r\no\r\n");
  const Seen seen = wire.next();
  EXPECT_EQ(seen.ticket, next);
  EXPECT_EQ(seen.value, "o");
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(MetaList, CancelledInTheMiddleItIsCleanOnlyBehindItsEnd) {
  ask(7);
  wire.take();
  wire.feed("EN O2\r\nVALUE k2 0 2 1\r\nv2\r\nVALUE k3 0 10 1\r\nhalf");
  expect_item(1, "v2");
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(keys.size(), "gone");
  EXPECT_EQ(wire.session.in_flight(), 0u);
  wire.feed(" of it\r\nVALUE k6 0 1 1\r\nv\r\n");
  EXPECT_FALSE(wire.session.clean());
  EXPECT_EQ(wire.session.counters().late_replies, 0u);
  wire.feed("END\r\n");
  EXPECT_FALSE(wire.session.closed()) << wire.session.close_reason().text;
  EXPECT_TRUE(wire.session.clean());
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
}

TEST_F(MetaList, CancelledBeforeAnythingCameItPassesByWholly) {
  for (const char* first : {"EN O2\r\n", "VA 2 f0 c1 O2\r\nv1\r\n"}) {
    MetaWire fresh;
    keys.assign(key_names.begin(), key_names.end());
    const Ticket asked = fresh.submit(many(keys));
    const Ticket behind = fresh.submit(get("a"));
    fresh.take();
    EXPECT_EQ(fresh.session.cancel(asked, fresh.now()), Sent::maybe);
    keys.assign(keys.size(), "gone");
    fresh.feed(first + "VALUE k3 0 2 1\r\nv3\r\nEND\r\nEN O3\r\n"s, 1);
    EXPECT_EQ(fresh.next().ticket, behind);
    EXPECT_TRUE(fresh.events.empty());
    EXPECT_TRUE(fresh.session.clean());
  }
}

TEST_F(MetaList, CancelledInAValueAboveTheLimit) {
  MetaWire small(small_values());
  keys = {"a", "b", "c", "d"};
  const Ticket large = small.submit(many(keys));
  small.take();
  small.feed("EN O2\r\nVALUE b 0 0 1\r\n\r\nVALUE c 0 11 1\r\n0123");
  EXPECT_EQ(small.next().status, Status::done);
  EXPECT_EQ(small.next().reason, Reason::too_large);
  EXPECT_EQ(small.session.cancel(large, small.now()), Sent::maybe);
  keys.assign(4, "gone");
  small.feed("4567890\r\nVALUE d 0 12 1\r\n012345678901\r\n", 1);
  EXPECT_FALSE(small.session.clean());
  small.feed("END\r\n", 1);
  EXPECT_TRUE(small.events.empty());
  EXPECT_TRUE(small.session.clean());
}

TEST_F(MetaList, CancelledInTheValueOfTheFirstKey) {
  MetaWire small(small_values());
  keys = {"a", "b"};
  const Ticket large = small.submit(many(keys));
  const Ticket behind = small.submit(get("c"));
  small.take();
  small.feed("VA 11 f0 c1 O2\r\n0123");
  const Seen item = small.next();
  EXPECT_EQ(item.index, 0u);
  EXPECT_EQ(item.reason, Reason::too_large);
  EXPECT_TRUE(small.events.empty());
  EXPECT_EQ(small.session.cancel(large, small.now()), Sent::maybe);
  keys.assign(2, "gone");
  small.feed("4567890\r\nEND\r\nVA 1 f0 c1 O3\r\nc\r\n", 1);
  const Seen seen = small.next();
  EXPECT_EQ(seen.ticket, behind);
  EXPECT_EQ(seen.value, "c");
  EXPECT_EQ(small.session.counters().late_replies, 1u);
  EXPECT_TRUE(small.session.clean());
}

// In a request for one key, nothing more arrives between its item and its end.
TEST_F(MetaList, CancelledBehindTheItemOfTheOnlyKey) {
  ask(1);
  const Ticket behind = wire.submit(get("c"));
  wire.take();
  const std::string bytes = "VA 2 f0 c1 O2\r\nv1\r\nVA 1 f0 c1 O3\r\nc\r\n";
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(),
              wire.session.input_space().begin());
  wire.session.on_input(bytes.size(), wire.now());
  Event event;
  ASSERT_TRUE(wire.session.poll_event(event));
  EXPECT_EQ(event.kind, Event::Kind::item);
  EXPECT_EQ(event.index, 0u);
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(1, "gone");
  wire.poll();
  const Seen seen = wire.next();
  EXPECT_EQ(seen.ticket, behind);
  EXPECT_EQ(seen.value, "c");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

}  // namespace
}  // namespace sheaf::protocol::memcached
