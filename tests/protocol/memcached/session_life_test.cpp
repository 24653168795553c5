// The life of a connection, in both protocols: ends, cancelling, deadlines, bounds.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {
namespace {

struct BinarySpoken {
  using Wire = BinaryWire;
  using Session = BinarySession;
  static constexpr std::uint32_t first = 3;
  static std::string hit(std::uint32_t opaque, std::string_view value) {
    return binary_hit(Opcode::get, opaque, value);
  }
  static std::string stored(std::uint32_t opaque) {
    return encoded(PlainReply{.opaque = opaque, .cas = 1});
  }
  static std::string probed(std::uint32_t opaque) { return binary_no_op(opaque); }
};

struct MetaSpoken {
  using Wire = MetaWire;
  using Session = MetaSession;
  static constexpr std::uint32_t first = 2;
  static std::string opaque(std::uint32_t number) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%x", number);
    return digits;
  }
  static std::string hit(std::uint32_t number, std::string_view value) {
    return "VA " + std::to_string(value.size()) + " f0 c1 O" + opaque(number) + "\r\n" +
           std::string(value) + "\r\n";
  }
  static std::string stored(std::uint32_t number) { return "HD c1 O" + opaque(number) + "\r\n"; }
  static std::string probed(std::uint32_t) { return "MN\r\n"; }
};

template <class Spoken>
class Life : public testing::Test {};
using LifeProtocols = testing::Types<BinarySpoken, MetaSpoken>;
struct LifeNames {
  template <class Spoken>
  static std::string GetName(int) {
    return std::is_same_v<Spoken, BinarySpoken> ? "Binary" : "Meta";
  }
};
TYPED_TEST_SUITE(Life, LifeProtocols, LifeNames);

TYPED_TEST(Life, TheEndFailsEveryRequestOnceAndSaysWhatHadLeft) {
  typename TypeParam::Wire wire;
  const std::string value(50'000, 'v');
  const Ticket whole = wire.submit(set("a", "v"));
  const std::size_t first = wire.take().size();
  EXPECT_GT(first, 0u);
  const Ticket half = wire.submit(set("b", value));
  const Ticket none = wire.submit(set("c", "v"));
  wire.take(1'000);
  wire.session.on_eof(wire.now());
  wire.poll();
  const Seen one = wire.next();
  EXPECT_EQ(one.ticket, whole);
  EXPECT_EQ(one.sent, Sent::maybe);
  const Seen two = wire.next();
  EXPECT_EQ(two.ticket, half);
  EXPECT_EQ(two.sent, Sent::no) << "no complete request has left";
  const Seen three = wire.next();
  EXPECT_EQ(three.ticket, none);
  EXPECT_EQ(three.sent, Sent::no);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_TRUE(wire.events.empty());
  wire.poll();
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connection_lost);
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.refusal(get("k")).outcome, Outcome::not_sent);
}

TYPED_TEST(Life, CloseFailsWhatIsInFlight) {
  typename TypeParam::Wire wire;
  wire.submit(get("a"));
  wire.session.close(wire.now());
  wire.poll();
  EXPECT_EQ(wire.next().sent, Sent::no);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::closed);
  EXPECT_TRUE(wire.session.input_space().empty());
  EXPECT_FALSE(wire.session.poll_deadline().has_value());
  EXPECT_EQ(wire.session.room(), 0u);
}

// ---- cancelling

TYPED_TEST(Life, TheReplyOfACancelledRequestIsNobodysAndTheNextOneGetsItsOwn) {
  typename TypeParam::Wire wire;
  const Ticket given_up = wire.submit(get("a"));
  wire.take();
  EXPECT_EQ(wire.session.cancel(given_up, wire.now()), Sent::maybe);
  EXPECT_FALSE(wire.session.clean()) << "a reply is owed";
  EXPECT_EQ(wire.session.in_flight(), 0u);
  const Ticket next = wire.submit(get("a"));
  EXPECT_EQ(next.slot, given_up.slot);
  EXPECT_NE(next.generation, given_up.generation);
  wire.take();
  wire.feed(TypeParam::hit(TypeParam::first, "late"));
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
  wire.feed(TypeParam::hit(TypeParam::first + 1, "own"));
  const Seen own = wire.next();
  EXPECT_EQ(own.ticket, next);
  EXPECT_EQ(own.value, "own");
  EXPECT_TRUE(wire.session.clean());
  EXPECT_EQ(wire.session.cancel(given_up, wire.now()), Sent::maybe) << "long over";
}

TYPED_TEST(Life, CancelledBeforeItLeavesNothingIsWritten) {
  typename TypeParam::Wire wire;
  const Ticket first = wire.submit(set("a", "v"));
  const Ticket second = wire.submit(set("b", "v"));
  const Ticket third = wire.submit(set("c", "v"));
  EXPECT_EQ(wire.session.cancel(first, wire.now()), Sent::no);
  EXPECT_EQ(wire.session.cancel(third, wire.now()), Sent::no);
  wire.take();
  wire.feed(TypeParam::stored(TypeParam::first + 1));
  EXPECT_EQ(wire.next().ticket, second);
  EXPECT_TRUE(wire.session.clean());
  EXPECT_FALSE(wire.session.closed());
}

TYPED_TEST(Life, AHalfWrittenSmallRequestIsFinishedAndItsReplyDropped) {
  typename TypeParam::Wire wire;
  const Ticket ticket = wire.submit(set("a", "v"));
  wire.take(3);
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  EXPECT_GT(wire.take().size(), 3u);
  wire.feed(TypeParam::stored(TypeParam::first));
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.clean());
}

TYPED_TEST(Life, GivingUpAHalfWrittenLargeValueEndsTheConnection) {
  typename TypeParam::Wire wire;
  const std::string value(50'000, 'v');
  const Ticket ticket = wire.submit(set("a", value));
  wire.take(1'000);
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::no);
  EXPECT_EQ(wire.take(), "");
  wire.poll();
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_TRUE(wire.events.empty());
}

TYPED_TEST(Life, CancelledRequestsTakeRoomUntilTheirRepliesHavePassed) {
  SessionOptions options = test_options();
  options.max_in_flight = 4;
  typename TypeParam::Wire wire(options);
  for (int i = 0; i < 4; ++i) {
    const Ticket ticket = wire.submit(set("k", "v"));
    wire.take();
    wire.session.cancel(ticket, wire.now());
  }
  EXPECT_EQ(wire.session.room(), 0u);
  EXPECT_EQ(wire.refusal(get("k")).outcome, Outcome::overloaded);
  wire.feed(TypeParam::stored(TypeParam::first));
  EXPECT_EQ(wire.session.room(), 1u);
}

// ---- bounds

TYPED_TEST(Life, NoMoreRequestsWhileTooManyBytesWait) {
  SessionOptions options = test_options();
  options.output_limit = 100'000;
  typename TypeParam::Wire wire(options);
  const std::string value(60'000, 'v');
  wire.submit(set("a", value));
  EXPECT_GT(wire.session.room(), 0u);
  wire.submit(set("b", value));
  EXPECT_EQ(wire.session.room(), 0u);
  EXPECT_EQ(wire.refusal(set("c", value)).reason, Reason::queue_full);
  wire.take();
  EXPECT_EQ(wire.session.room(), 510u);
}

TYPED_TEST(Life, MemoryFollowsWhatArrivesNotWhatIsAnnounced) {
  typename TypeParam::Wire wire;
  wire.submit(get("k"));
  wire.take();
  const std::string large = TypeParam::hit(TypeParam::first, std::string(1'900'000, 'x'));
  wire.feed(large.substr(0, 1'000));
  EXPECT_LT(wire.session.input_capacity(), 70'000u);
  wire.feed(large.substr(1'000));
  EXPECT_EQ(wire.next().value.size(), 1'900'000u);
  wire.session.input_space();
  EXPECT_LT(wire.session.input_capacity(), 300'000u);
}

TYPED_TEST(Life, ValuesAboveTheLimitAreRefusedAlone) {
  SessionOptions options = test_options();
  options.value_limit = 1'000;
  for (const std::size_t step : {1'000'000u, 7'000u, 1u}) {
    typename TypeParam::Wire wire(options);
    wire.submit(get("a"));
    wire.take();
    wire.submit(get("b"));
    wire.take();
    wire.feed(TypeParam::hit(TypeParam::first, std::string(200'000, 'x')) +
                  TypeParam::hit(TypeParam::first + 1, std::string(1'000, 'y')),
              step);
    EXPECT_EQ(wire.next().reason, Reason::too_large);
    EXPECT_EQ(wire.next().value, std::string(1'000, 'y'));
    EXPECT_LT(wire.session.input_capacity(), 100'000u);
  }
}

TYPED_TEST(Life, OpaquesWrapAround) {
  SessionOptions options = test_options();
  options.first_opaque = 0xffff'fff0;
  Wire<typename TypeParam::Session> wire(options);
  wire.session.start(wire.now());
  wire.take();
  std::uint32_t opaque = 0xffff'fff0;
  if constexpr (std::is_same_v<TypeParam, BinarySpoken>) {
    wire.feed(binary_version(opaque++));
    wire.take();
    wire.feed(binary_no_op(opaque++));
  } else {
    wire.feed("VERSION 1.6.18\r\n");
    ++opaque;
  }
  wire.next();
  for (int i = 0; i < 100; ++i) {
    const std::string value = "value " + std::to_string(i);
    ASSERT_EQ(wire.ask(get("k"), TypeParam::hit(opaque++, value)).value, value);
  }
}

// ---- deadlines

TYPED_TEST(Life, TheGreetingHasADeadline) {
  Wire<typename TypeParam::Session> wire;
  EXPECT_FALSE(wire.session.poll_deadline().has_value());
  wire.session.start(wire.now());
  wire.take();
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 5s);
  wire.elapsed += 5s - 1ns;
  wire.session.on_deadline(wire.now());
  EXPECT_FALSE(wire.session.closed());
  wire.elapsed += 1ns;
  wire.session.on_deadline(wire.now());
  wire.poll();
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connect_failed);
  EXPECT_EQ(wire.session.close_reason().text,
            "the server did not answer the greeting in time: it hangs, or speaks memcached's other "
            "protocol only");
}

TYPED_TEST(Life, SilenceIsBrokenByANoOpWhoseAnswerIsNobodys) {
  typename TypeParam::Wire wire;
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 10s);
  wire.elapsed += 10s;
  wire.session.on_deadline(wire.now());
  EXPECT_GT(wire.take().size(), 0u);
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 5s);
  EXPECT_EQ(wire.session.in_flight(), 0u);
  wire.elapsed += 1s;
  wire.feed(TypeParam::probed(TypeParam::first));
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 0u);
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 10s);
  EXPECT_EQ(wire.ask(get("k"), TypeParam::hit(TypeParam::first + 1, "v")).value, "v");
}

TYPED_TEST(Life, AServerThatStaysSilentIsGivenUp) {
  typename TypeParam::Wire wire;
  const Ticket ticket = wire.submit(get("k"));
  wire.take();
  wire.elapsed += 10s;
  wire.session.on_deadline(wire.now());
  // The answer is owed from the time when the no-op has left.
  wire.elapsed += 2s;
  wire.take();
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 5s);
  wire.elapsed += 5s;
  wire.session.on_deadline(wire.now());
  wire.poll();
  const Seen failed = wire.next();
  EXPECT_EQ(failed.ticket, ticket);
  EXPECT_EQ(failed.sent, Sent::maybe) << "a time-out is no miss";
  EXPECT_EQ(wire.session.close_reason().text, "the server did not answer a no-op in time");
}

TYPED_TEST(Life, AnyByteShowsThatTheServerLives) {
  typename TypeParam::Wire wire;
  wire.submit(get("k"));
  wire.take();
  wire.elapsed += 10s;
  wire.session.on_deadline(wire.now());
  wire.take();
  wire.elapsed += 4s;
  wire.feed(TypeParam::hit(TypeParam::first, "v").substr(0, 3));
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 10s);
}

// Small sets, and a large one among them. Returns where each of the writes ends.
template <class Wire>
std::vector<std::size_t> ends_of_writes(bool over_tls, std::string_view large) {
  SessionOptions options = test_options();
  options.over_tls = over_tls;
  Wire wire(options);
  const std::string small(1'000, 's');
  for (int i = 0; i < 60; ++i) wire.submit(set("key" + std::to_string(i), i == 30 ? large : small));
  std::vector<std::size_t> ends{0};
  for (;;) {
    std::size_t size = 0;
    for (const Bytes part : wire.session.poll_output()) size += part.size();
    if (size == 0) return ends;
    wire.session.on_output(size, wire.now());
    ends.push_back(ends.back() + size);
  }
}

template <class Wire>
void expect_that_writes_fit_over_tls() {
  const std::string large(20'000, 'l');
  const std::vector<std::size_t> plain = ends_of_writes<Wire>(false, large);
  EXPECT_EQ(plain.size(), 2u);
  const std::vector<std::size_t> ends = ends_of_writes<Wire>(true, large);
  EXPECT_EQ(ends.back(), plain.back());
  for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_LE(ends[i] - ends[i - 1], 15'360u);
  // The large set begins a write of 15 KiB, and nothing follows its rest.
  const auto second = std::ranges::find_if(ends, [&](std::size_t end) {
    return std::ranges::find(ends, end + 15'360) != ends.end() && end >= 30'000 && end < 33'000;
  });
  ASSERT_NE(second, ends.end());
  ASSERT_GE(ends.end() - second, 3);
  EXPECT_GT(second[2] - second[0], 20'000u);
  EXPECT_LT(second[2] - second[0], 20'100u);
}

// memcached waits for more after a value that ends within a record of TLS.
TEST(SessionLife, AWriteOverTlsFitsIntoTheServersBufferAndEndsWithALargeValue) {
  expect_that_writes_fit_over_tls<MetaWire>();
  expect_that_writes_fit_over_tls<BinaryWire>();
}

}  // namespace
}  // namespace sheaf::protocol::memcached
