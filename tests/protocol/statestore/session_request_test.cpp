#include <gtest/gtest.h>

#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::PropertyId;
using mqtt5::PropertyWriter;

TEST(StoreSessionRequest, HasEverythingThatAnOfficialClientSends) {
  Wire wire;
  wire.handshake();
  Operation operation = set("key", "value");
  operation.deadline = wire.elapsed + 1'200ms;
  operation.fence = "001696374425000:00001:StateStore";
  wire.submit(operation);
  const std::string bytes = wire.take();
  const auto result = mqtt5::read_frame(bytes);
  ASSERT_EQ(result.frame.total_size, bytes.size());
  const auto publish = mqtt5::Publish::parse(result.frame, bytes);
  ASSERT_TRUE(publish.has_value());
  EXPECT_EQ(publish->qos, 1);
  EXPECT_FALSE(publish->dup || publish->retain);
  EXPECT_EQ(publish->topic, "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke");
  EXPECT_NE(publish->packet_id, 0);
  const mqtt5::Properties& properties = publish->properties;
  EXPECT_EQ(properties.payload_format, 0);
  EXPECT_EQ(properties.message_expiry, 2U);
  EXPECT_EQ(properties.content_type, "application/octet-stream");
  EXPECT_EQ(properties.response_topic, response_topic(ResponseTopicForm::rust, "sheaf-1"));
  EXPECT_EQ(properties.correlation_data.value_or("").size(), 16U);
  EXPECT_EQ(properties.user().find("__protVer"), "1.0");
  EXPECT_EQ(properties.user().find("__srcId"), "sheaf-1");
  EXPECT_EQ(properties.user().find("$partition"), "sheaf-1");
  EXPECT_EQ(properties.user().find("$high_priority"), "");
  EXPECT_EQ(properties.user().find("__ts"), "001696374425000:00000:client-node");
  EXPECT_EQ(properties.user().find("__ft"), "001696374425000:00001:StateStore");
  EXPECT_EQ(publish->payload, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
}

// The payload that an operation is encoded to.
std::string payload_of(const Operation& operation) {
  Wire wire;
  wire.handshake();
  wire.submit(operation);
  const auto requests = wire.take_requests();
  return requests.size() == 1 ? requests.front().payload : "(none)";
}

TEST(StoreSessionRequest, EachVerbAndConditionHasItsSpelling) {
  EXPECT_EQ(payload_of(get("key")), "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
  EXPECT_EQ(payload_of(set("key", "")), "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n");
  Operation operation = set("key", "value");
  operation.condition = Condition::if_absent;
  EXPECT_EQ(payload_of(operation), "*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n$2\r\nNX\r\n");
  operation.condition = Condition::if_absent_or_equal;
  operation.ttl = 10s;
  EXPECT_EQ(
      payload_of(operation),
      "*6\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n$3\r\nNEX\r\n$2\r\nPX\r\n$5\r\n10000\r\n");
  operation = get("key");
  operation.verb = Verb::remove;
  EXPECT_EQ(payload_of(operation), "*2\r\n$3\r\nDEL\r\n$3\r\nkey\r\n");
  operation.condition = Condition::if_value;
  operation.value = "value";
  EXPECT_EQ(payload_of(operation), "*3\r\n$4\r\nVDEL\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
  operation.value = "";
  EXPECT_EQ(payload_of(operation), "*3\r\n$4\r\nVDEL\r\n$3\r\nkey\r\n$0\r\n\r\n");
  operation = {};
  operation.verb = Verb::probe;
  EXPECT_EQ(payload_of(operation), "*2\r\n$3\r\nGET\r\n$11\r\nsheaf/probe\r\n");
}

// The user property that asks for persistence, as the next request has it.
std::optional<std::string> persistence_of(const Operation& operation) {
  Wire wire;
  wire.handshake();
  wire.submit(operation);
  const std::string bytes = wire.take();
  const auto result = mqtt5::read_frame(bytes);
  EXPECT_EQ(result.frame.total_size, bytes.size());
  const auto publish = mqtt5::Publish::parse(result.frame, bytes);
  if (!publish) return "no PUBLISH";
  const auto value = publish->properties.user().find("aio-persistence");
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

TEST(StoreSessionRequest, OnlyASetThatAsksForPersistenceHasItsProperty) {
  Operation operation = set("key", "value");
  EXPECT_EQ(persistence_of(operation), std::nullopt);
  operation.persist = true;
  EXPECT_EQ(persistence_of(operation), "true");
  operation.fence = "001696374425000:00001:StateStore";
  operation.condition = Condition::if_absent_or_equal;
  EXPECT_EQ(persistence_of(operation), "true");
  for (const Verb verb :
       {Verb::get, Verb::remove, Verb::watch, Verb::unwatch, Verb::probe, Verb::clock}) {
    Operation other = verb == Verb::remove ? Operation{} : get("key");
    other.key = "key";
    other.verb = verb;
    other.persist = true;
    EXPECT_EQ(persistence_of(other), std::nullopt) << to_string(verb);
  }
}

TEST(StoreSessionRequest, ClockIsAShortLivedSetWithTheOldestTimestamp) {
  Wire wire;
  wire.handshake();
  Operation operation;
  operation.verb = Verb::clock;
  wire.submit(operation);
  const SeenRequest request = wire.take_requests().at(0);
  EXPECT_EQ(
      request.payload,
      "*5\r\n$3\r\nSET\r\n$19\r\nsheaf/clock/sheaf-1\r\n$0\r\n\r\n$2\r\nPX\r\n$4\r\n1000\r\n");
  EXPECT_EQ(request.timestamp, "0:0:sheaf-1");
  EXPECT_EQ(wire.clock.last().wall, 0U);  // did not tick
}

TEST(StoreSessionRequest, MessageExpiryIsTheRemainingTimeInWholeSecondsRoundedUp) {
  Wire wire;
  wire.handshake();
  const auto expiry = [&wire](Deadline deadline) {
    Operation operation = get("key");
    operation.deadline = deadline;
    wire.submit(operation);
    return wire.take_requests().at(0).expiry;
  };
  EXPECT_EQ(expiry(wire.elapsed + 1ns), 1U);
  EXPECT_EQ(expiry(wire.elapsed + 1s), 1U);
  EXPECT_EQ(expiry(wire.elapsed + 1s + 1ns), 2U);
  EXPECT_EQ(expiry(wire.elapsed - 5s), 1U);
  EXPECT_EQ(expiry(wire.elapsed + 24h), 86'400U);
  EXPECT_EQ(expiry(Deadline{0}), 10U);
  EXPECT_EQ(expiry(never), 10U);
}

TEST(StoreSessionRequest, TimestampsOfOneClockAlwaysGrowAndCorrelationsDiffer) {
  Wire wire;
  wire.handshake();
  for (int i = 0; i < 100; ++i) wire.submit(get("key"));
  const auto requests = wire.take_requests();
  ASSERT_EQ(requests.size(), 100U);
  for (std::size_t i = 1; i < requests.size(); ++i) {
    EXPECT_LT(requests[i - 1].timestamp, requests[i].timestamp);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(requests[i].correlation, requests[j].correlation);
      EXPECT_NE(requests[i].packet_id, requests[j].packet_id);
    }
  }
}

TEST(StoreSessionRequest, ArgumentsThatCannotBeSentAreRefusedByName) {
  Wire wire;
  wire.handshake();
  const auto says = [&wire](const Operation& operation, Reason reason, std::string_view text) {
    const LocalError error = wire.refusal(operation);
    EXPECT_EQ(error.reason, reason) << error.text;
    EXPECT_EQ(error.text, text);
    EXPECT_EQ(error.outcome, Outcome::invalid);
  };
  says(get(""), Reason::bad_argument, "the key is empty");
  const std::string longest(32'730 - 7, 'k');
  EXPECT_EQ(wire.refusal(get(longest)).text, "accepted");
  says(get(longest + "k"), Reason::too_large,
       "the key of 32724 bytes is above the longest key of the state store of 32723 bytes");
  const std::string large(100'001, 'v');
  says(set("key", large), Reason::too_large,
       "the value of 100001 bytes is above value_limit of 100000 bytes");
  Operation operation = set("key", "value");
  operation.ttl = -1ms;
  says(operation, Reason::bad_argument, "the time to live is negative");
  operation = set("key", "value");
  operation.fence = "a\xFF";
  says(operation, Reason::bad_argument, "the fencing token is not a text of at most 65535 bytes");
  EXPECT_EQ(wire.take_requests().size(), 1U);
  EXPECT_EQ(wire.session.in_flight(), 1U);
}

TEST(StoreSessionRequest, CombinationsThatTheStoreDoesNotKnowAreUnsupported) {
  Wire wire;
  wire.handshake();
  const auto unsupported = [&wire](Verb verb, Condition condition, std::chrono::milliseconds ttl,
                                   std::string_view fence) {
    Operation operation = get("key");
    operation.verb = verb;
    operation.condition = condition;
    operation.ttl = ttl;
    operation.fence = fence;
    return wire.refusal(operation).outcome == Outcome::unsupported;
  };
  Operation touch = get("k");
  touch.verb = Verb::touch;
  EXPECT_EQ(wire.refusal(touch).text, "the state store has no operation \"touch\"");
  EXPECT_TRUE(unsupported(Verb::set, Condition::if_value, 0ms, ""));
  EXPECT_TRUE(unsupported(Verb::get, Condition::if_absent, 0ms, ""));
  EXPECT_TRUE(unsupported(Verb::get, Condition::none, 1ms, ""));
  EXPECT_TRUE(unsupported(Verb::get, Condition::none, 0ms, "1:1:a"));
  EXPECT_TRUE(unsupported(Verb::remove, Condition::if_absent, 0ms, ""));
  EXPECT_TRUE(unsupported(Verb::remove, Condition::none, 1ms, ""));
  EXPECT_EQ(wire.take(), "");
  EXPECT_TRUE(unsupported(Verb::set, Condition::if_present, 0ms, ""));
  EXPECT_TRUE(unsupported(Verb::set, Condition::if_version, 0ms, ""));
  EXPECT_TRUE(unsupported(Verb::remove, Condition::if_version, 0ms, ""));
  for (const Verb verb :
       {Verb::append, Verb::prepend, Verb::increment, Verb::decrement, Verb::touch,
        Verb::get_and_touch, Verb::get_and_set, Verb::lease, Verb::stats}) {
    EXPECT_TRUE(unsupported(verb, Condition::none, 0ms, "")) << to_string(verb);
  }
  EXPECT_FALSE(unsupported(Verb::remove, Condition::if_value, 0ms, "1:1:a"));
}

TEST(StoreSessionRequest, ServersPacketLimitIsHonouredToTheByte) {
  Wire probe;
  probe.handshake();
  probe.submit(set("key", std::string(100, 'v')));
  const std::size_t size = probe.take().size();
  for (const std::size_t limit : {size, size - 1}) {
    Wire wire;
    wire.handshake([limit](PropertyWriter& writer) {
      writer.u32(PropertyId::maximum_packet_size, static_cast<std::uint32_t>(limit));
    });
    const LocalError error = wire.refusal(set("key", std::string(100, 'v')));
    if (limit == size) {
      EXPECT_EQ(error.text, "accepted");
      EXPECT_EQ(wire.take().size(), limit);
    } else {
      EXPECT_EQ(error.reason, Reason::too_large);
      EXPECT_EQ(error.text, "the request of " + std::to_string(size) +
                                " bytes is above the server's Maximum Packet Size of " +
                                std::to_string(limit) + " bytes");
    }
  }
}

TEST(StoreSessionRequest, ReceiveMaximumOfOneLetsOneRequestOutAtATime) {
  Wire wire;
  wire.handshake([](PropertyWriter& writer) { writer.u16(PropertyId::receive_maximum, 1); });
  EXPECT_EQ(wire.session.room(), 1U);
  wire.submit(get("a"));
  EXPECT_EQ(wire.session.room(), 0U);
  const LocalError error = wire.refusal(get("b"));
  EXPECT_EQ(error.outcome, Outcome::overloaded);
  EXPECT_EQ(error.reason, Reason::queue_full);
  const SeenRequest request = wire.take_requests().at(0);
  wire.feed(reply_bytes(request.correlation, {"$-1\r\n"}));
  EXPECT_EQ(wire.session.room(), 0U);  // answered, but its packet identifier is still taken
  wire.feed(puback(request.packet_id));
  EXPECT_EQ(wire.session.room(), 1U);
  wire.submit(get("b"));
  wire.feed(puback(wire.take_requests().at(0).packet_id));
  EXPECT_EQ(wire.session.room(), 1U);  // acknowledged, though not answered
  EXPECT_EQ(wire.session.in_flight(), 1U);
}

TEST(StoreSessionRequest, OwnBoundHoldsWhenTheServerAllowsMore) {
  StoreSessionOptions options = test_options();
  options.max_in_flight = 3;
  Wire wire(options);
  wire.handshake();
  for (std::size_t i = 3; i > 0; --i) {
    EXPECT_EQ(wire.session.room(), i);
    wire.submit(get("key"));
  }
  for (const SeenRequest& request : wire.take_requests()) wire.feed(puback(request.packet_id));
  EXPECT_EQ(wire.session.room(), 0U);
  EXPECT_EQ(wire.session.in_flight(), 3U);
}

TEST(StoreSessionRequest, NothingIsAcceptedBeforeReadyOrAfterClose) {
  Wire wire;
  EXPECT_EQ(wire.refusal(get("key")).outcome, Outcome::not_sent);
  wire.handshake();
  wire.session.close(wire.now());
  EXPECT_EQ(wire.refusal(get("key")).outcome, Outcome::not_sent);
  EXPECT_EQ(wire.refusal(get("key")).reason, Reason::closed);
}

TEST(StoreSessionRequest, AWallClockThatIsSetBackIsFollowedAtOnce) {
  Wire wire;
  wire.handshake();
  ASSERT_TRUE(
      wire.clock.observe({1'696'374'425'000 + 59'000, 0, "StateStore"}, 1'696'374'425'000ms));
  wire.elapsed -= 10s;
  ASSERT_TRUE(wire.session.submit(get("key"), wire.now()));
  EXPECT_NE(wire.take().find("001696374415000:00000:"), std::string::npos);
  EXPECT_EQ(wire.clock.last().wall, 1'696'374'415'000u);
}

// ---- values: small ones copied, large ones borrowed

TEST(StoreSessionRequest, SmallValueMayVanishAfterSubmitAndALargeOneIsNotCopied) {
  Wire wire;
  wire.handshake();
  std::string small(8 * 1024, 's');
  wire.submit(set("small", small));
  small.assign(small.size(), '!');
  const std::string large(8 * 1024 + 1, 'l');
  wire.submit(set("large", large));
  bool borrowed = false;
  for (const Bytes part : wire.session.poll_output()) {
    borrowed |= as_text(part).data() == large.data();
  }
  EXPECT_TRUE(borrowed);
  const auto requests = wire.take_requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].payload,
            "*3\r\n$3\r\nSET\r\n$5\r\nsmall\r\n$8192\r\n" + std::string(8192, 's') + "\r\n");
  EXPECT_EQ(requests[1].payload, "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$8193\r\n" + large + "\r\n");
}

TEST(StoreSessionRequest, ManySmallRequestsAreOnePiece) {
  Wire wire;
  wire.handshake();
  for (int i = 0; i < 50; ++i) wire.submit(get("key"));
  EXPECT_EQ(wire.session.poll_output().size(), 1U);
}

// ---- cancel at each stage

TEST(StoreSessionCancel, BeforeItsFirstByteNothingLeaves) {
  Wire wire;
  wire.handshake();
  const Ticket first = wire.submit(get("first"));
  const Ticket second = wire.submit(get("second"));
  wire.submit(get("third"));
  EXPECT_EQ(wire.session.cancel(second, wire.now()), Sent::no);
  EXPECT_EQ(wire.session.room(), 510U);
  const auto requests = wire.take_requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].payload, "*2\r\n$3\r\nGET\r\n$5\r\nthird\r\n");
  wire.feed(reply_bytes(requests[0].correlation, {"$1\r\nx\r\n"}));
  EXPECT_EQ(wire.next().ticket, first);
}

TEST(StoreSessionCancel, HalfWrittenOwnedFrameGoesOutWhole) {
  Wire wire;
  wire.handshake();
  const Ticket ticket = wire.submit(get("key"));
  std::string bytes = wire.take(10);
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  EXPECT_EQ(wire.session.in_flight(), 0U);
  bytes += wire.take();
  const auto requests = Wire::requests_in(bytes);
  ASSERT_EQ(requests.size(), 1U);
  wire.feed(reply_bytes(requests[0].correlation, {"$1\r\nx\r\n"}) + puback(requests[0].packet_id));
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1U);
  EXPECT_EQ(wire.session.room(), 512U);
}

TEST(StoreSessionCancel, HalfWrittenBorrowedValueEndsTheConnection) {
  Wire wire;
  wire.handshake();
  const std::string value(50'000, 'v');
  const Ticket small = wire.submit(get("small"));
  const Ticket large = wire.submit(set("large", value));
  const Ticket behind = wire.submit(get("behind"));
  wire.take(2'000);
  EXPECT_EQ(wire.session.cancel(large, wire.now()), Sent::no);
  EXPECT_TRUE(wire.session.closed());
  EXPECT_EQ(wire.take(), "");  // not a byte more: the value may be gone
  wire.poll();
  const Seen first = wire.next();
  EXPECT_EQ(first.ticket, small);
  EXPECT_EQ(first.sent, Sent::maybe);
  const Seen second = wire.next();
  EXPECT_EQ(second.ticket, behind);
  EXPECT_EQ(second.sent, Sent::no);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_TRUE(wire.events.empty());
}

TEST(StoreSessionCancel, BorrowedValueThatIsWrittenNeedsNoEndOfTheConnection) {
  Wire wire;
  wire.handshake();
  const std::string value(50'000, 'v');
  const Ticket ticket = wire.submit(set("large", value));
  std::size_t total = 0;
  for (const Bytes part : wire.session.poll_output()) total += part.size();
  wire.take(total - 1);  // all but the last byte of the tail
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  EXPECT_FALSE(wire.session.closed());
  EXPECT_EQ(wire.take(), "\n");
}

TEST(StoreSessionCancel, AfterItWasSentItsReplyIsDropped) {
  Wire wire;
  wire.handshake();
  const Ticket ticket = wire.submit(get("key"));
  const SeenRequest request = wire.take_requests().at(0);
  EXPECT_EQ(wire.session.cancel(ticket, wire.now()), Sent::maybe);
  EXPECT_EQ(wire.session.room(), 511U);  // its packet identifier is still taken
  EXPECT_TRUE(wire.session.clean());
  wire.feed(puback(request.packet_id));
  EXPECT_EQ(wire.session.room(), 512U);
  const Ticket next = wire.submit(get("next"));
  EXPECT_NE(next, ticket);
  EXPECT_EQ(next.slot, ticket.slot);
  wire.take();
  wire.feed(reply_bytes(request.correlation, {"$5\r\nwrong\r\n"}));
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1U);
  EXPECT_EQ(wire.session.in_flight(), 1U);
}

TEST(StoreSessionCancel, BetweenTheEndAndItsFailedEventThereIsNoEvent) {
  Wire wire;
  wire.handshake();
  const Ticket sent = wire.submit(get("sent"));
  wire.take();
  const Ticket waiting = wire.submit(get("waiting"));
  wire.session.on_eof(wire.now());
  EXPECT_EQ(wire.session.cancel(sent, wire.now()), Sent::maybe);
  EXPECT_EQ(wire.session.cancel(waiting, wire.now()), Sent::no);
  wire.poll();
  EXPECT_EQ(wire.events.size(), 1U);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
