// How client and server of the binary protocol can get out of step, and how the session ends before
// that leads to a wrong value.

#include <gtest/gtest.h>

#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {
namespace {

constexpr std::uint32_t request_opaque = 3;  // of the first request after the greeting

std::string refused(Opcode opcode, std::uint32_t opaque, StatusCode status) {
  return binary_failure(opcode, opaque, status, "the server's words");
}

TEST(BinaryTraps, OpcodesThatTheServerMayNotKnowAreNeverSent) {
  const std::vector<std::string_view> keys = {"k1", "k2"};
  BinaryWire wire;
  for (int verb = 0; verb <= static_cast<int>(Verb::stats); ++verb) {
    for (int condition = 0; condition <= static_cast<int>(Condition::if_version); ++condition) {
      Operation asked = operation(static_cast<Verb>(verb), "k", "v");
      asked.condition = static_cast<Condition>(condition);
      asked.keys = keys;
      asked.version = "5";
      wire.submit(asked);
    }
  }
  const std::string sent = wire.take();
  ByteReader reader(sent);
  int packets = 0;
  for (; reader.left() > 0; ++packets) {
    const auto request = parse_request(reader);
    ASSERT_TRUE(request.has_value()) << to_string(request.error());
  }
  EXPECT_GT(packets, 10);
}

TEST(BinaryTraps, BehindWhatTheServerClosesOrLosesItsPlaceTheConnectionEnds) {
  struct Case {
    StatusCode status;
    Reason reason;
  };
  for (const Case item : {Case{StatusCode::invalid_arguments, Reason::wrong_arguments},
                          Case{StatusCode::auth_error, Reason::not_authorized},
                          Case{StatusCode::unknown_command, Reason::unknown_command}}) {
    BinaryWire wire;
    const Ticket first = wire.submit(set("a", "v"));
    const Ticket second = wire.submit(get("b"));
    wire.take();
    wire.feed(refused(Opcode::set, request_opaque, item.status) + binary_hit(Opcode::get, 4, "B"));
    const Seen answer = wire.next();
    EXPECT_EQ(answer.ticket, first);
    EXPECT_EQ(answer.kind, Event::Kind::reply);
    EXPECT_EQ(answer.reason, item.reason);
    EXPECT_EQ(answer.text, "the server's words");
    const Seen failed = wire.next();
    EXPECT_EQ(failed.ticket, second);
    EXPECT_EQ(failed.kind, Event::Kind::failed) << "its reply is not trusted";
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.session.close_reason().text, "the server gave up: the server's words");
  }
}

struct Broken {
  const char* what;
  std::string answer;
};

TEST(BinaryTraps, AReplyThatIsNotDueEndsTheConnection) {
  const Broken cases[] = {
      {"never issued", binary_hit(Opcode::get, 99, "v")},
      {"older than the oldest", binary_hit(Opcode::get, 2, "v")},
      {"of a later request", binary_hit(Opcode::get, 4, "v")},
      {"with another opcode", encoded(PlainReply{.opcode = Opcode::set, .opaque = request_opaque})},
      {"the quiet opcode", binary_hit(Opcode::get_quiet, request_opaque, "v")},
      {"an opcode that nobody knows",
       binary_failure(static_cast<Opcode>(0x1b), request_opaque, {})},
      {"a request", encoded(GetRequest{Opcode::get, request_opaque, "k"})},
      {"bad lengths",
       "\x81\x00\x00\x05\x04\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x03"s + std::string(8, '\0')},
      {"a hit without flags",
       binary_failure(Opcode::get, request_opaque, StatusCode::success, "v")},
      {"longer than a GiB",
       "\x81\x00\x00\x00\x04\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x03"s + std::string(8, '\0')},
      {"a long text",
       binary_failure(Opcode::get, request_opaque, StatusCode::busy, std::string(2'100'000, 'x'))},
      {"text", "VA 1 f0 c0\r\n"},
  };
  for (const Broken& item : cases) {
    BinaryWire wire;
    const Ticket first = wire.submit(get("a"));
    wire.submit(get("b"));
    wire.take();
    wire.feed(item.answer);
    const Seen failed = wire.next();
    EXPECT_EQ(failed.kind, Event::Kind::failed) << item.what;
    EXPECT_EQ(failed.ticket, first) << item.what;
    EXPECT_EQ(failed.sent, Sent::maybe);
    EXPECT_EQ(wire.next().kind, Event::Kind::failed);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed) << item.what;
    EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error) << item.what;
  }
}

TEST(BinaryTraps, ASecondReplyToARequestEndsTheConnection) {
  BinaryWire wire;
  wire.submit(get("a"));
  wire.submit(get("b"));
  wire.take();
  wire.feed(binary_hit(Opcode::get, 3, "A") + binary_hit(Opcode::get, 3, "A"));
  EXPECT_EQ(wire.next().value, "A");
  EXPECT_EQ(wire.next().kind, Event::Kind::failed);
  EXPECT_TRUE(wire.session.closed());
}

TEST(BinaryTraps, ALostReplyIsFoundOutByTheNextOne) {
  BinaryWire wire;
  wire.submit(set("a", "v"));
  wire.submit(operation(Verb::remove, "b"));
  wire.take();
  wire.feed(encoded(PlainReply{.opcode = Opcode::remove, .opaque = 4}));
  EXPECT_EQ(wire.next().kind, Event::Kind::failed);
  EXPECT_EQ(wire.next().kind, Event::Kind::failed);
  EXPECT_TRUE(wire.session.closed());
}

TEST(BinaryTraps, AReplyToWhatHasNotLeftEndsTheConnection) {
  BinaryWire wire;
  const Ticket ticket = wire.submit(get("a"));
  wire.take(10);
  wire.feed(binary_hit(Opcode::get, request_opaque, "v"));
  const Seen failed = wire.next();
  EXPECT_EQ(failed.ticket, ticket);
  EXPECT_EQ(failed.kind, Event::Kind::failed);
  EXPECT_EQ(failed.sent, Sent::no);
}

// ---- values above the limit

SessionOptions small_binary_values() {
  SessionOptions options = test_options();
  options.value_limit = 1'000;
  return options;
}

TEST(BinaryLimits, AValueAboveTheLimitIsPassedOverAndRefusedAlone) {
  const std::string bytes =
      binary_hit(Opcode::get, 3, std::string(300'000, 'x')) + binary_hit(Opcode::get, 4, "B");
  for (const std::size_t step : {1'000'000u, 7'000u, 1u}) {
    BinaryWire wire(small_binary_values());
    const Ticket large = wire.submit(get("a"));
    wire.submit(get("b"));
    wire.take();
    wire.feed(bytes, step);
    const Seen refused = wire.next();
    EXPECT_EQ(refused.ticket, large);
    EXPECT_EQ(refused.reason, Reason::too_large);
    EXPECT_EQ(refused.text, "the value is above value_limit");
    EXPECT_EQ(wire.next().value, "B");
    EXPECT_TRUE(wire.session.clean());
    EXPECT_LT(wire.session.input_capacity(), 100'000u);
  }
}

// ---- a refusal while the value is still being written

TEST(BinaryLimits, ARefusalMayComeWhileTheValueIsWrittenAndIsReportedWhenItIsFree) {
  BinaryWire wire;
  const std::string value(100'000, 'v');
  const Ticket ticket = wire.submit(set("k", value));
  wire.submit(get("b"));
  wire.take(50'000);
  wire.feed(binary_failure(Opcode::set, request_opaque, StatusCode::value_too_large, "Too large."));
  EXPECT_TRUE(wire.events.empty()) << "the caller's bytes are still needed";
  EXPECT_FALSE(wire.session.closed());
  wire.take(20'000);
  wire.poll();
  EXPECT_TRUE(wire.events.empty());
  wire.take();
  wire.poll();
  const Seen refused = wire.next();
  EXPECT_EQ(refused.ticket, ticket);
  EXPECT_EQ(refused.reason, Reason::too_large);
  EXPECT_EQ(refused.text, "Too large.");
  wire.feed(binary_hit(Opcode::get, 4, "B"));
  EXPECT_EQ(wire.next().value, "B");
  EXPECT_TRUE(wire.session.clean());
}

TEST(BinaryLimits, SuccessWhileTheValueIsWrittenIsALie) {
  BinaryWire wire;
  const std::string value(100'000, 'v');
  wire.submit(set("k", value));
  wire.take(50'000);
  wire.feed(encoded(PlainReply{.opaque = request_opaque, .cas = 1}));
  EXPECT_EQ(wire.next().kind, Event::Kind::failed);
  EXPECT_TRUE(wire.session.closed());
}

TEST(BinaryLimits, AfterAnEarlyRefusalTheEndIsNotCalledUnsent) {
  BinaryWire wire;
  const std::string value(100'000, 'v');
  wire.submit(set("k", value));
  wire.take(50'000);
  wire.feed(binary_failure(Opcode::set, request_opaque, StatusCode::value_too_large));
  wire.session.on_eof(wire.now());
  wire.poll();
  const Seen failed = wire.next();
  EXPECT_EQ(failed.kind, Event::Kind::failed);
  EXPECT_EQ(failed.sent, Sent::maybe) << "the server may have removed what it had";
}

TEST(BinaryLimits, GivingUpAfterAnEarlyRefusalEndsTheConnection) {
  BinaryWire wire;
  const std::string value(100'000, 'v');
  const Ticket ticket = wire.submit(set("k", value));
  wire.take(50'000);
  wire.feed(binary_failure(Opcode::set, request_opaque, StatusCode::value_too_large));
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  wire.poll();
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.take(), "");
}

}  // namespace
}  // namespace sheaf::protocol::memcached
