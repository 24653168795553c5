// get_many in the binary protocol: quiet gets, then a NO-OP.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/many_harness.h"

namespace sheaf::protocol::memcached {
namespace {

std::string quiet_hit(std::uint32_t opaque, std::string_view value) {
  return binary_hit(Opcode::get_quiet, opaque, value);
}
std::string quiet_failure(std::uint32_t opaque, StatusCode status, std::string_view text = {}) {
  return binary_failure(Opcode::get_quiet, opaque, status, text);
}

// A ready session and one get_many of a, b and c: opaques 3 to 5; the NO-OP has 6.
class BinaryMany : public Many<BinaryWire> {
 protected:
  BinaryMany() { keys = {"a", "b", "c"}; }
  void ask() { ticket = wire.submit(many(keys)); }
  // No item is ever in doubt here.
  Seen expect_item(std::uint32_t index, std::string_view value, Status status = Status::done) {
    Seen seen = Many::expect_item(index, value, status);
    EXPECT_FALSE(seen.unsure);
    return seen;
  }
};

std::string asked_from(std::uint32_t opaque) {
  std::string bytes;
  for (const char* key : {"a", "b", "c"}) {
    bytes += encoded(GetRequest{Opcode::get_quiet, opaque++, key});
  }
  return bytes + encoded(BareRequest{Opcode::no_op, opaque});
}

// ---- what is written

TEST_F(BinaryMany, GoesAsQuietGetsAndOneNoOp) {
  ask();
  const Ticket behind = wire.submit(get("d"));
  EXPECT_NE(behind, Ticket{});
  EXPECT_EQ(wire.session.in_flight(), 2u);
  EXPECT_EQ(wire.session.room(), 510u) << "as one request";
  EXPECT_EQ(wire.take(), asked_from(3) + encoded(GetRequest{Opcode::get, 7, "d"}));
  EXPECT_EQ(wire.take(), "");
}

TEST_F(BinaryMany, OneKeyHasItsNoOpToo) {
  keys = {"a"};
  ask();
  EXPECT_EQ(wire.take(), encoded(GetRequest{Opcode::get_quiet, 3, "a"}) +
                             encoded(BareRequest{Opcode::no_op, 4}));
  wire.feed(binary_no_op(4));
  expect_whole();
}

TEST_F(BinaryMany, WhatMakesNoSenseIsRefusedAndNothingIsWritten) {
  const std::string too_long(251, 'k');
  for (std::size_t at = 0; at < 3; ++at) {
    keys = {"a", "b", "c"};
    keys[at] = "";
    EXPECT_EQ(wire.refusal(many(keys)).outcome, Outcome::invalid);
    keys[at] = too_long;
    EXPECT_EQ(wire.refusal(many(keys)).reason, Reason::too_large);
  }
  keys = {"a", "b", "c"};
  EXPECT_EQ(wire.refusal(with(many(keys), Condition::if_absent)).outcome, Outcome::unsupported);
  EXPECT_EQ(wire.refusal(living(many(keys), 1s)).outcome, Outcome::unsupported);
  keys.clear();
  EXPECT_EQ(wire.refusal(many(keys)).outcome, Outcome::invalid) << "no keys";
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.session.in_flight(), 0u);
  keys = {"a", "b", "c"};
  ask();
  EXPECT_EQ(wire.take(), asked_from(3)) << "no opaque was taken";
}

// ---- hits and misses

TEST_F(BinaryMany, AnEmptyValueIsAHit) {
  ask();
  wire.take();
  wire.feed(quiet_hit(3, "") + quiet_hit(5, "") + binary_no_op(6), 1);
  expect_item(0, "");
  expect_item(2, "");
  expect_whole();
}

TEST_F(BinaryMany, HitsAreReportedAtOnceAndMissesByTheWhole) {
  ask();
  wire.take();
  wire.feed(
      encoded(GetReply{
          .opcode = Opcode::get_quiet, .opaque = 4, .cas = 44, .flags = 9, .value = "a\0b"sv}),
      1);
  const Seen hit = expect_item(1, "a\0b"s);
  EXPECT_EQ(hit.flags, 9u);
  EXPECT_EQ(hit.version, "44");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_FALSE(wire.session.clean());
  wire.feed(binary_no_op(6), 1);
  expect_whole();
}

TEST_F(BinaryMany, AllOrNothing) {
  ask();
  wire.take();
  wire.feed(quiet_hit(3, "A") + quiet_hit(4, "") + quiet_hit(5, "C") + binary_no_op(6), 1);
  expect_item(0, "A");
  expect_item(1, "");
  expect_item(2, "C");
  expect_whole();
  ask();
  EXPECT_EQ(wire.take(), asked_from(7));
  wire.feed(binary_no_op(10));
  expect_whole();
}

TEST_F(BinaryMany, AKeyAskedTwiceIsAnsweredTwice) {
  keys = {"a", "a", "b", "a"};
  ask();
  wire.take();
  wire.feed(quiet_hit(3, "1") + quiet_hit(4, "2") + quiet_hit(6, "3") + binary_no_op(7));
  expect_item(0, "1");
  expect_item(1, "2");
  expect_item(3, "3");
  expect_whole();
}

TEST_F(BinaryMany, WhatTheServerSaysOfOneKeyIsReportedForThatKey) {
  ask();
  wire.take();
  wire.feed(quiet_failure(3, StatusCode::busy, "later") +
            quiet_failure(4, StatusCode::key_not_found, "Not found") +
            quiet_failure(5, StatusCode::out_of_memory) + binary_no_op(6));
  const Seen busy = expect_item(0, "", Status::refused);
  EXPECT_EQ(busy.reason, Reason::other);
  EXPECT_EQ(busy.text, "later");
  EXPECT_EQ(expect_item(1, "", Status::absent).text, "") << "a miss needs no words";
  const Seen full = expect_item(2, "", Status::refused);
  EXPECT_EQ(full.reason, Reason::quota);
  EXPECT_EQ(full.text, to_string(StatusCode::out_of_memory));
  expect_whole();
}

TEST_F(BinaryMany, OpaquesWrapAroundWithin) {
  for (std::uint32_t back = 2; back < 10; ++back) {
    SessionOptions options = test_options();
    options.first_opaque = 0u - back;
    Wire<BinarySession> wrapped(options);
    wrapped.session.start(wrapped.now());
    wrapped.take();
    wrapped.feed(binary_version(0u - back));
    wrapped.take();
    wrapped.feed(binary_no_op(1u - back));
    wrapped.next();
    std::uint32_t opaque = 2u - back;
    for (int i = 0; i < 3; ++i) {
      wrapped.submit(many(keys));
      ASSERT_EQ(wrapped.take(), asked_from(opaque));
      wrapped.feed(quiet_hit(opaque, "A") + quiet_hit(opaque + 2, "C") + binary_no_op(opaque + 3));
      EXPECT_EQ(wrapped.next().value, "A");
      EXPECT_EQ(wrapped.next().index, 2u);
      EXPECT_EQ(wrapped.next().kind, Event::Kind::reply);
      opaque += 4;
    }
    EXPECT_TRUE(wrapped.session.clean());
  }
}

TEST_F(BinaryMany, AThousandKeysReadWhileTheyAreWritten) {
  std::vector<std::string> names;
  for (int i = 0; i < 1'000; ++i) names.push_back("key" + std::to_string(1'000 + i));
  keys.assign(names.begin(), names.end());
  ask();
  // The server answers what it has received so far, before the whole request has left.
  const std::size_t one = Header::wire_size + 7;
  EXPECT_EQ(wire.take(3 * one).size(), 3 * one);
  wire.feed(quiet_hit(3, "first") + quiet_failure(4, StatusCode::busy));
  expect_item(0, "first");
  expect_item(1, "", Status::refused);
  EXPECT_EQ(wire.take().size(), 997 * one + Header::wire_size);
  wire.feed(quiet_hit(1'002, "last") + binary_no_op(1'003));
  expect_item(999, "last");
  expect_whole();
}

TEST_F(BinaryMany, AValueAboveTheLimitIsPassedOverAndRefusedAlone) {
  SessionOptions options = test_options();
  options.value_limit = 1'000;
  const std::string bytes = quiet_hit(3, std::string(300'000, 'x')) + quiet_hit(4, "B") +
                            quiet_hit(5, std::string(1'001, 'x')) + binary_no_op(6);
  for (const std::size_t step : {1'000'000u, 7'000u, 1u}) {
    BinaryWire small(options);
    small.submit(many(keys));
    small.take();
    small.feed(bytes, step);
    for (const std::uint32_t index : {0u, 1u, 2u}) {
      const Seen item = small.next();
      EXPECT_EQ(item.kind, Event::Kind::item);
      EXPECT_EQ(item.index, index);
      EXPECT_EQ(item.value, index == 1 ? "B" : "");
      EXPECT_EQ(item.status, index == 1 ? Status::done : Status::refused);
      EXPECT_EQ(item.reason, index == 1 ? Reason::other : Reason::too_large);
    }
    EXPECT_EQ(small.next().kind, Event::Kind::reply);
    EXPECT_TRUE(small.session.clean());
    EXPECT_LT(small.session.input_capacity(), 100'000u);
  }
}

// ---- cancelled

TEST_F(BinaryMany, CancelledBeforeItLeavesNothingIsWritten) {
  ask();
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::no);
  keys.clear();
  EXPECT_EQ(wire.take(), "");
  EXPECT_TRUE(wire.session.clean());
  EXPECT_EQ(wire.ask(get("d"), binary_hit(Opcode::get, 7, "D")).value, "D");
  EXPECT_EQ(wire.session.counters().late_replies, 0u);
}

TEST_F(BinaryMany, CancelledInTheMiddleItsItemsAreNobodys) {
  ask();
  std::string out = wire.take(30);
  wire.feed(quiet_hit(3, "A"));
  expect_item(0, "A");
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(3, "gone");
  const Ticket next = wire.submit(get("d"));
  EXPECT_EQ(wire.session.in_flight(), 1u);
  EXPECT_EQ(out += wire.take(), asked_from(3) + encoded(GetRequest{Opcode::get, 7, "d"}));
  wire.feed(quiet_hit(4, "B") + quiet_failure(5, StatusCode::busy), 1);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 0u);
  wire.feed(binary_no_op(6) + binary_hit(Opcode::get, 7, "D"));
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
  const Seen seen = wire.next();
  EXPECT_EQ(seen.ticket, next);
  EXPECT_EQ(seen.value, "D");
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(BinaryMany, TheConnectionIsCleanOnlyBehindTheNoOp) {
  ask();
  wire.take();
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  keys.assign(3, "gone");
  EXPECT_EQ(wire.session.in_flight(), 0u);
  wire.feed(quiet_hit(3, "A") + quiet_hit(4, "B") + quiet_hit(5, "C"));
  EXPECT_FALSE(wire.session.clean());
  wire.feed(binary_no_op(6));
  EXPECT_TRUE(wire.session.clean());
  EXPECT_TRUE(wire.events.empty());
}

TEST_F(BinaryMany, CancelledInAValueAboveTheLimit) {
  BinaryWire small(small_values());
  const Ticket large = small.submit(many(keys));
  small.take();
  const std::string bytes = quiet_hit(3, std::string(11, 'x'));
  small.feed(bytes.substr(0, 30));
  EXPECT_EQ(small.next().reason, Reason::too_large);
  EXPECT_EQ(small.session.cancel(large, small.now()), Sent::maybe);
  keys.assign(3, "gone");
  small.feed(bytes.substr(30) + quiet_hit(5, std::string(11, 'x')) + binary_no_op(6), 1);
  EXPECT_TRUE(small.events.empty());
  EXPECT_TRUE(small.session.clean());
}

// ---- lies

TEST_F(BinaryMany, WhatIsNotDueEndsTheConnection) {
  struct Lie {
    const char* what;
    std::string bytes;
    std::size_t items = 0;  // reported before the lie
  };
  const Lie lies[] = {
      {"before its opaques", quiet_hit(2, "v")},
      {"behind its opaques", quiet_hit(7, "v")},
      {"of the next request", binary_hit(Opcode::get, 7, "v")},
      {"one item twice", quiet_hit(4, "v") + quiet_hit(4, "v"), 1},
      {"an item behind a later one", quiet_hit(4, "v") + quiet_hit(3, "v"), 1},
      {"a failure behind a later item", quiet_hit(4, "v") + quiet_failure(3, StatusCode::busy), 1},
      {"a hit of a plain get", binary_hit(Opcode::get, 3, "v")},
      {"a quiet get with the opaque of the no-op", quiet_hit(6, "v")},
      {"a no-op with the opaque of a key", binary_no_op(5)},
      {"a hit without flags", quiet_failure(3, StatusCode::success, "v")},
      {"a refused no-op", binary_failure(Opcode::no_op, 6, StatusCode::busy)},
      {"a no-op with a body", binary_failure(Opcode::no_op, 6, StatusCode::success, "v")},
      {"a request", encoded(GetRequest{Opcode::get_quiet, 3, "a"})},
      {"text", "VALUE a 0 1 1\r\nv\r\nEND\r\n"},
      {"a server that gave up", quiet_failure(3, StatusCode::auth_error)},
      {"a server that lost its place", quiet_failure(3, StatusCode::unknown_command)},
      {"arguments that are none", quiet_failure(3, StatusCode::invalid_arguments)},
      {"a long text", quiet_failure(3, StatusCode::busy, std::string(2'100'000, 'x'))},
  };
  for (const Lie& lie : lies) {
    BinaryWire fresh;
    const Ticket whole = fresh.submit(many(keys));
    const Ticket behind = fresh.submit(get("d"));
    fresh.take();
    fresh.feed(lie.bytes);
    for (std::size_t i = 0; i < lie.items; ++i) {
      EXPECT_EQ(fresh.next().kind, Event::Kind::item) << lie.what;
    }
    expect_broken(fresh, {whole, behind}, lie.what);
  }
}

TEST_F(BinaryMany, AValueAboveTheLimitTwiceEndsTheConnection) {
  BinaryWire small(small_values());
  small.submit(many(keys));
  small.take();
  small.feed(quiet_hit(4, std::string(11, 'x')) + quiet_hit(4, std::string(11, 'x')));
  EXPECT_EQ(small.next().reason, Reason::too_large);
  EXPECT_EQ(small.next().kind, Event::Kind::failed);
  EXPECT_EQ(small.next().kind, Event::Kind::closed);
}

TEST_F(BinaryMany, AHitBehindTheNoOpEndsTheConnection) {
  ask();
  wire.take();
  wire.feed(binary_no_op(6) + quiet_hit(5, "C"));
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
}

TEST_F(BinaryMany, ANoOpThatIsLostIsFoundOutByTheNextReplyAndNothingIsAMiss) {
  ask();
  wire.submit(get("d"));
  wire.take();
  wire.feed(quiet_hit(3, "A") + binary_hit(Opcode::get, 7, "D"));
  expect_item(0, "A");
  EXPECT_EQ(wire.next().kind, Event::Kind::failed);
  EXPECT_EQ(wire.next().kind, Event::Kind::failed);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
}

TEST_F(BinaryMany, TheEndOfTheConnectionIsNoMiss) {
  ask();
  wire.take();
  wire.feed(quiet_hit(4, "B") + quiet_hit(5, "C").substr(0, 20));
  wire.session.on_eof(wire.now());
  wire.poll();
  expect_item(1, "B");
  expect_failed("");
}

TEST_F(BinaryMany, TheNoOpBeforeTheRequestHasLeftEndsTheConnection) {
  ask();
  wire.take(90);
  wire.feed(quiet_hit(4, "B"));
  expect_item(1, "B");
  wire.feed(binary_no_op(6));
  expect_failed("has not been sent");
}

TEST_F(BinaryMany, AnItemBeforeAByteHasLeftEndsTheConnection) {
  ask();
  wire.feed(quiet_hit(3, "A"));
  expect_failed("has not been sent", Sent::no);
}

TEST_F(BinaryMany, WhatHasLeftInPartMayHaveBeenRead) {
  const std::size_t whole = asked_from(3).size();
  for (std::size_t left = 0; left <= whole; ++left) {
    BinaryWire fresh;
    const Ticket asked = fresh.submit(many(keys));
    fresh.take(left);
    fresh.session.on_eof(fresh.now());
    fresh.poll();
    const Seen failed = fresh.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed);
    EXPECT_EQ(failed.ticket, asked);
    EXPECT_EQ(failed.sent, left == 0 ? Sent::no : Sent::maybe) << left;
    EXPECT_EQ(fresh.next().kind, Event::Kind::closed);
  }
}

}  // namespace
}  // namespace sheaf::protocol::memcached
