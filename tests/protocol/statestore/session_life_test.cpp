#include <gtest/gtest.h>

#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::PropertyId;
using mqtt5::PropertyWriter;
using mqtt5::ReasonCode;

const std::string pingreq("\xC0\x00", 2);
const std::string pingresp("\xD0\x00", 2);

// Lets time pass until the session's own deadline.
void pass_to_deadline(Wire& wire) {
  wire.elapsed = wire.session.poll_deadline().value_or(wire.elapsed);
  wire.session.on_deadline(wire.now());
  wire.poll();
}

TEST(StoreSessionKeepAlive, SilenceIsAnsweredByAPing) {
  Wire wire;
  wire.handshake();
  const Deadline subscribed = wire.elapsed - test::latency;
  EXPECT_EQ(wire.session.poll_deadline(), subscribed + 10s);
  pass_to_deadline(wire);
  EXPECT_EQ(wire.take(), pingreq);
  EXPECT_EQ(wire.session.poll_deadline(), wire.elapsed + 5s);
  wire.elapsed += 1s;
  wire.feed(pingresp);
  EXPECT_EQ(wire.session.poll_deadline(), wire.elapsed + 9s);  // 10 s after the PINGREQ
}

TEST(StoreSessionKeepAlive, PingWithoutAnswerEndsTheConnection) {
  Wire wire;
  wire.handshake();
  const Ticket ticket = wire.submit(get("a"));
  wire.take();
  pass_to_deadline(wire);
  EXPECT_EQ(wire.take(), pingreq);
  wire.elapsed += 5s - 1ns;
  wire.session.on_deadline(wire.now());
  EXPECT_FALSE(wire.session.closed());
  pass_to_deadline(wire);
  const Seen seen = wire.next();
  EXPECT_EQ(seen.kind, Event::Kind::failed);
  EXPECT_EQ(seen.ticket, ticket);
  EXPECT_EQ(seen.sent, Sent::maybe);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connection_lost);
  EXPECT_EQ(wire.take(), "");
}

TEST(StoreSessionKeepAlive, AnyByteShowsThatTheServerLives) {
  Wire wire;
  wire.handshake();
  pass_to_deadline(wire);
  wire.take();
  wire.elapsed += 4s;
  wire.feed(reply_bytes("0123456789abcdef", {"+OK\r\n"}).substr(0, 1));
  wire.elapsed += 2s;
  wire.session.on_deadline(wire.now());
  EXPECT_FALSE(wire.session.closed());
}

TEST(StoreSessionKeepAlive, RequestsWithoutAnyAnswerAreTestedByAPing) {
  Wire wire;
  wire.handshake();
  for (int second = 0; second < 10; ++second) {
    wire.submit(get("a"));
    EXPECT_EQ(wire.take_requests().size(), 1U);
    wire.elapsed += 1s;
  }
  EXPECT_EQ(wire.session.poll_deadline(), wire.elapsed);
  pass_to_deadline(wire);
  EXPECT_EQ(wire.take(), pingreq);
}

TEST(StoreSessionKeepAlive, PingBehindALargeValueGetsItsTime) {
  Wire wire;
  wire.handshake();
  const std::string value(50'000, 'v');
  wire.submit(set("key", value));
  wire.take(1);
  wire.elapsed += 10s;
  wire.session.on_deadline(wire.now());
  for (int i = 0; i < 4; ++i) {  // the link is slow, but moves
    wire.elapsed += 4s;
    EXPECT_EQ(wire.take(10'000).size(), 10'000U);
    wire.session.on_deadline(wire.now());
    ASSERT_FALSE(wire.session.closed());
  }
  EXPECT_TRUE(wire.take().ends_with(pingreq));
  EXPECT_EQ(wire.session.poll_deadline(), wire.elapsed + 5s);
}

TEST(StoreSessionKeepAlive, ServersShorterIntervalIsKept) {
  const auto interval = [](std::uint16_t seconds) {
    Wire wire;
    wire.handshake(
        [seconds](PropertyWriter& writer) { writer.u16(PropertyId::server_keep_alive, seconds); });
    const Deadline subscribed = wire.elapsed - test::latency;
    return *wire.session.poll_deadline() - subscribed;
  };
  EXPECT_EQ(interval(3), 3s);
  EXPECT_EQ(interval(60), 10s);
  EXPECT_EQ(interval(0), 10s);  // the server needs no keep-alive, but the client does
}

TEST(StoreSessionEnd, OrderlyCloseSaysSoAndFailsEverything) {
  Wire wire;
  wire.handshake();
  const Ticket sent = wire.submit(get("sent"));
  wire.take();
  const Ticket waiting = wire.submit(get("waiting"));
  wire.session.close(wire.now());
  EXPECT_TRUE(wire.session.closed());
  EXPECT_EQ(wire.session.room(), 0U);
  EXPECT_EQ(wire.take(), disconnect(ReasonCode::success));
  wire.poll();
  Seen seen = wire.next();
  EXPECT_EQ(seen.ticket, sent);
  EXPECT_EQ(seen.sent, Sent::maybe);
  seen = wire.next();
  EXPECT_EQ(seen.ticket, waiting);
  EXPECT_EQ(seen.sent, Sent::no);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.close_reason().reason, Reason::closed);
  EXPECT_FALSE(wire.session.poll_deadline());
}

TEST(StoreSessionEnd, HalfWrittenFrameIsNotFollowedByADisconnect) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  wire.take(7);
  wire.session.close(wire.now());
  EXPECT_EQ(wire.take(), "");
  wire.poll();
  EXPECT_EQ(wire.next().sent, Sent::no);  // the server cannot run a part of it
}

TEST(StoreSessionEnd, EndOfStreamDistinguishesSentFromNotSentToTheByte) {
  Wire probe;
  probe.handshake();
  probe.submit(get("a"));
  const std::size_t size = probe.take().size();
  for (std::size_t written = 0; written <= size; ++written) {
    Wire wire;
    wire.handshake();
    wire.submit(get("a"));
    wire.take(written);
    wire.session.on_eof(wire.now());
    wire.poll();
    EXPECT_EQ(wire.next().sent, written == size ? Sent::maybe : Sent::no) << written;
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  }
}

TEST(StoreSessionEnd, DisconnectOfTheServerGivesItsReason) {
  struct Case {
    ReasonCode code;
    Reason reason;
    bool permanent;
    std::string_view text;
  };
  const Case cases[] = {
      {ReasonCode::success, Reason::connection_lost, false, "the server ended the connection"},
      {ReasonCode::session_taken_over, Reason::connection_lost, false,
       "the server ended the connection: session taken over"},
      {ReasonCode::not_authorized, Reason::not_authorized, true,
       "the server ended the connection: not authorized"},
      {ReasonCode::protocol_error, Reason::protocol_error, false,
       "the server ended the connection: protocol error"}};
  for (const Case& expected : cases) {
    Wire wire;
    wire.handshake();
    wire.submit(get("a"));
    wire.take();
    wire.feed(disconnect(expected.code) + "what follows is not looked at");
    EXPECT_EQ(wire.next().kind, Event::Kind::failed);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.take(), "");
    EXPECT_EQ(wire.session.close_reason().reason, expected.reason);
    EXPECT_EQ(wire.session.close_reason().permanent, expected.permanent);
    EXPECT_EQ(wire.session.close_reason().text, expected.text);
    EXPECT_EQ(wire.session.close_reason().taken_over,
              expected.code == ReasonCode::session_taken_over);
  }
}

TEST(StoreSessionEnd, ProtocolErrorsAreAnsweredWithTheirCode) {
  using namespace std::string_literals;
  struct Case {
    std::string bytes;
    ReasonCode code;
  };
  const Case cases[] = {
      {"\x00\x00"s, ReasonCode::malformed_packet},
      {"\x36\x05\0\1t\0\1"s, ReasonCode::malformed_packet},           // QoS 3
      {"\x34\x06\0\1t\0\1\0"s, ReasonCode::qos_not_supported},        // QoS 2
      {"\x30\x07\0\1t\3\x23\0\1"s, ReasonCode::topic_alias_invalid},  // topic alias 1
      {"\x30\x05\0\2t+\0"s, ReasonCode::topic_name_invalid},
      {"\x30\x09\0\1t\5\x03\0\2\xC3\x28"s, ReasonCode::malformed_packet},  // not UTF-8
      {"\x50\x02\0\1"s, ReasonCode::protocol_error},                       // PUBREC
      {connack(), ReasonCode::protocol_error},
      {suback(), ReasonCode::protocol_error},
      {encoded(mqtt5::Auth{}), ReasonCode::protocol_error},
      {pingreq, ReasonCode::protocol_error}};
  for (const Case& expected : cases) {
    Wire wire;
    wire.handshake();
    wire.feed(expected.bytes);
    EXPECT_EQ(wire.take(), disconnect(expected.code)) << to_string(expected.code);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  }
}

TEST(StoreSessionEnd, NotificationNobodyAskedForIsAcknowledgedAndReported) {
  Wire wire;
  wire.handshake();
  ReplyScript script{"*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n"};
  script.topic = notification_topic("sheaf-1", "key");
  wire.submit(get("a"));
  wire.take();
  wire.feed(reply_bytes("", script));
  EXPECT_EQ(wire.take(), puback(1));
  EXPECT_EQ(wire.next().kind, Event::Kind::notification);  // its owner knows what it wants
  EXPECT_FALSE(wire.session.closed());
}

}  // namespace
}  // namespace sheaf::protocol::statestore
