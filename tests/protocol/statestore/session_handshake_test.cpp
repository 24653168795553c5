#include <gtest/gtest.h>

#include "tests/protocol/statestore/session_harness.h"
#include "tests/support/logins.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::PropertyId;
using mqtt5::PropertyWriter;
using mqtt5::ReasonCode;

template <class Packet>
Packet only_packet(std::string_view bytes) {
  const auto result = mqtt5::read_frame(bytes);
  EXPECT_EQ(result.state, mqtt5::FrameResult::State::frame);
  EXPECT_EQ(result.frame.total_size, bytes.size());
  return Packet::parse(result.frame, bytes).value_or(Packet{});
}

TEST(StoreSessionHandshake, ConnectIsACleanStartWithGenerousLimits) {
  Wire wire;
  EXPECT_EQ(wire.session.room(), 0U);
  wire.session.start(wire.now());
  const std::string bytes = wire.take();
  const auto connect = only_packet<mqtt5::Connect>(bytes);
  EXPECT_TRUE(connect.clean_start);
  EXPECT_EQ(connect.keep_alive, 10);
  EXPECT_EQ(connect.client_id, "sheaf-1");
  EXPECT_FALSE(connect.user || connect.password || connect.will);
  EXPECT_FALSE(connect.properties.session_expiry);  // absent: ends with the connection
  EXPECT_EQ(connect.properties.receive_maximum, 65'535);
  EXPECT_EQ(connect.properties.maximum_packet_size, 268'435'460U);
  EXPECT_EQ(wire.take(), "");
}

TEST(StoreSessionHandshake, UserAndPasswordGoIntoConnect) {
  StoreSessionOptions options = test_options();
  const std::string user = "us\xC3\xA9r";
  const std::string password("p\0w", 3);
  options.login = test::login_slot(user, password);
  Wire wire(options);
  wire.session.start(wire.now());
  const std::string bytes = wire.take();
  const auto connect = only_packet<mqtt5::Connect>(bytes);
  EXPECT_EQ(connect.user, user);
  EXPECT_EQ(connect.password, password);
}

TEST(StoreSessionHandshake, UserNameThatIsNoMqttStringEndsBeforeAnythingIsSent) {
  StoreSessionOptions options = test_options();
  options.login = test::login_slot("\xFF", "");
  Wire wire(options);
  wire.session.start(wire.now());
  wire.poll();
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.session.close_reason().reason, Reason::bad_configuration);
  EXPECT_TRUE(wire.session.close_reason().permanent);
}

TEST(StoreSessionHandshake, ReadyComesAfterSubackOfTheOwnTopics) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack());
  EXPECT_TRUE(wire.events.empty());
  const std::string bytes = wire.take();
  const auto subscribe = only_packet<mqtt5::Subscribe>(bytes);
  EXPECT_EQ(subscribe.packet_id, 65'535);
  std::vector<mqtt5::Subscription> entries;
  for (const mqtt5::Subscription& entry : subscribe.entries) entries.push_back(entry);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0],
            (mqtt5::Subscription{
                "clients/sheaf-1/services/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/"
                "command/invoke/response",
                1, false, false, 0}));
  EXPECT_EQ(entries[1],
            (mqtt5::Subscription{"clients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/"
                                 "73686561662D31/command/notify/+",
                                 1, false, false, 0}));
  EXPECT_FALSE(wire.session.ready());
  wire.feed(suback());
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.ready() && wire.session.clean());
  EXPECT_EQ(wire.session.room(), 512U);
}

TEST(StoreSessionHandshake, APasswordThatTheServerRepeatsIsNotInTheReason) {
  StoreSessionOptions options = test_options();
  options.login = test::login_slot("app", "s3cret");
  Wire wire(options);
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack(ReasonCode::bad_user_name_or_password, [](PropertyWriter& writer) {
    writer.text(PropertyId::reason_string, std::string(120, 'x') + "s3cret");
  }));
  const std::string& text = wire.session.close_reason().text;
  EXPECT_NE(text.find("xxx..."), text.npos) << text;
  EXPECT_EQ(text.find("s3c"), text.npos) << text;
}

TEST(StoreSessionHandshake, RefusalsOfConnackAreDistinguished) {
  struct Case {
    ReasonCode code;
    Reason reason;
    bool permanent;
  };
  const Case cases[] = {{ReasonCode::unsupported_protocol_version, Reason::authentication, true},
                        {ReasonCode::client_identifier_not_valid, Reason::authentication, true},
                        {ReasonCode::bad_user_name_or_password, Reason::authentication, true},
                        {ReasonCode::not_authorized, Reason::authentication, true},
                        {ReasonCode::bad_authentication_method, Reason::authentication, true},
                        {ReasonCode::banned, Reason::connect_failed, true},
                        {ReasonCode::server_busy, Reason::connect_failed, false},
                        {ReasonCode::server_unavailable, Reason::connect_failed, false}};
  for (const Case& expected : cases) {
    Wire wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed(connack(expected.code, [](PropertyWriter& writer) {
      writer.text(PropertyId::reason_string, "no\n");
    }));
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.take(), "");  // section 3.2.2.2: the server closes
    const CloseReason& reason = wire.session.close_reason();
    EXPECT_EQ(reason.reason, expected.reason) << to_string(expected.code);
    EXPECT_EQ(reason.permanent, expected.permanent) << to_string(expected.code);
    EXPECT_EQ(reason.text, "the server refused the connection: " +
                               std::string(to_string(expected.code)) + " (no\\x0A)");
  }
}

// The result of the handshake with each of these, in one line.
std::string after_connack(const Fill& fill, bool session_present = false) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  std::string bytes = connack(ReasonCode::success, fill);
  if (session_present) bytes[2] = 1;
  wire.feed(bytes);
  wire.take();
  return wire.session.closed() ? wire.session.close_reason().text : "open";
}

TEST(StoreSessionHandshake, ConnackThatCannotServeUsIsRefused) {
  EXPECT_EQ(after_connack({}), "open");
  EXPECT_EQ(after_connack({}, true),
            "the server broke the protocol: the server resumed a session after a clean start");
  EXPECT_EQ(after_connack([](auto& writer) { writer.byte(PropertyId::maximum_qos, 0); }),
            "the server does not offer QoS 1, which the state store needs");
  EXPECT_EQ(after_connack([](auto& writer) { writer.u32(PropertyId::maximum_packet_size, 50); }),
            "the server's Maximum Packet Size is too small to subscribe");
  EXPECT_EQ(after_connack([](auto& writer) { writer.u16(PropertyId::receive_maximum, 0); }),
            "the server broke the protocol: Receive Maximum is 0");
  EXPECT_EQ(after_connack([](auto& writer) { writer.text(PropertyId::assigned_client_id, "a/+"); }),
            "the server broke the protocol: the server assigned a client ID that fits no topic");
  EXPECT_EQ(after_connack([](auto& writer) {
              writer.text(PropertyId::assigned_client_id, std::string(65'530, 'a'));
            }),
            "the server broke the protocol: the server assigned a client ID that fits no topic");
}

TEST(StoreSessionHandshake, AServerOfAnotherProtocolIsNoBroker) {
  const std::pair<std::string_view, std::string> answers[] = {
      {"ERROR\r\n", "it looks like memcached, or a proxy for its text protocol"},
      {"HTTP/1.1 400 Bad Request\r\n", "it looks like an HTTP server"},
      {"SSH-2.0", "it looks like an SSH server"},
      {"-ERR unknown command\r\n", "it looks like a Redis server, or one of its protocol"},
      {"what?", "wrong flags in the fixed header"}};
  for (const auto& [answer, what] : answers) {
    Wire wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed(answer);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed) << answer;
    EXPECT_EQ(wire.session.close_reason().text,
              "the server does not answer as an MQTT broker: " + what);
    EXPECT_TRUE(wire.session.close_reason().not_understood);
    EXPECT_EQ(wire.take(), "") << answer;
  }
}

TEST(StoreSessionHandshake, AssignedClientIdNamesTheResponseTopic) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack(ReasonCode::success, [](PropertyWriter& writer) {
    writer.text(PropertyId::assigned_client_id, "other");
  }));
  const std::string bytes = wire.take();
  EXPECT_EQ(only_packet<mqtt5::Subscribe>(bytes).entries.begin()->filter,
            response_topic(ResponseTopicForm::rust, "other"));
}

TEST(StoreSessionHandshake, RefusedSubscriptionEndsWithADisconnect) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack());
  wire.take();
  wire.feed(suback(ReasonCode::not_authorized));
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.take(), disconnect(ReasonCode::success));
  EXPECT_EQ(wire.session.close_reason().reason, Reason::not_authorized);
  EXPECT_TRUE(wire.session.close_reason().permanent);
}

TEST(StoreSessionHandshake, SubackOfAnotherPacketIsAProtocolError) {
  for (const std::string& bytes :
       {encoded(mqtt5::Suback{7, {}, "\1\1"}), encoded(mqtt5::Suback{65'535, {}, "\1"}),
        encoded(mqtt5::Suback{65'535, {}, "\1\1\1"})}) {
    Wire wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed(connack());
    wire.take();
    wire.feed(bytes);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error);
    EXPECT_EQ(wire.take(), disconnect(ReasonCode::protocol_error));
  }
}

TEST(StoreSessionHandshake, PacketsOutOfPlaceEndIt) {
  const std::string auth = encoded(mqtt5::Auth{});
  for (const std::string& bytes : {suback(), puback(1), auth, encoded(mqtt5::Pingreq{})}) {
    Wire wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed(bytes);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error);
    EXPECT_EQ(wire.take(), "");  // not greeted yet: nothing to disconnect from
  }
  for (const std::string& bytes :
       {connack(), puback(1), auth, encoded(mqtt5::Unsuback{1, {}, "x"})}) {
    Wire wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed(connack());
    wire.take();
    wire.feed(bytes);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error);
    EXPECT_EQ(wire.take(), disconnect(ReasonCode::protocol_error));
  }
}

TEST(StoreSessionHandshake, MessageBeforeSubackIsAcknowledgedAndDropped) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack());
  wire.take();
  wire.feed(reply_bytes("0123456789abcdef", {"+OK\r\n"}));
  EXPECT_EQ(wire.take(), puback(1));
  EXPECT_EQ(wire.session.counters().late_replies, 1U);
  wire.feed(suback());
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
}

TEST(StoreSessionHandshake, EndOfStreamAtEachStageClosesOnce) {
  for (int stage = 0; stage < 3; ++stage) {
    Wire wire;
    wire.session.start(wire.now());
    if (stage > 0) wire.take();
    if (stage > 1) wire.feed(connack());
    wire.session.on_eof(wire.now());
    wire.session.on_eof(wire.now());
    wire.poll();
    EXPECT_EQ(wire.events.size(), 1U);
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.session.close_reason().reason,
              stage < 2 ? Reason::connect_failed : Reason::connection_lost);
    EXPECT_EQ(wire.take(), "");
    EXPECT_TRUE(wire.session.input_space().empty());
  }
}

TEST(StoreSessionHandshake, SilenceEndsItAtItsLimit) {
  for (const bool greeted : {false, true}) {
    Wire wire;
    const Deadline begun = wire.elapsed;
    wire.session.start(wire.now());
    wire.take();
    if (greeted) wire.feed(connack());
    EXPECT_EQ(wire.session.poll_deadline(), begun + 5s);
    wire.elapsed = begun + 5s - 1ns;
    wire.session.on_deadline(wire.now());
    EXPECT_FALSE(wire.session.closed());
    wire.elapsed += 1ns;
    wire.session.on_deadline(wire.now());
    wire.poll();
    EXPECT_EQ(wire.next().kind, Event::Kind::closed);
    EXPECT_EQ(wire.session.close_reason().reason, Reason::connect_failed);
    EXPECT_FALSE(wire.session.close_reason().permanent);
    EXPECT_FALSE(wire.session.poll_deadline());
  }
}

// ---- is there a store?

StoreSessionOptions asking() {
  StoreSessionOptions options = test_options();
  options.asks_store = true;
  return options;
}

// Up to the question to the store, which it returns.
SeenRequest ask_store(Wire& wire) {
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack());
  wire.take();
  wire.feed(suback());
  EXPECT_FALSE(wire.session.ready());
  const std::vector<SeenRequest> requests = wire.take_requests();
  EXPECT_EQ(requests.size(), 1u);
  return requests.empty() ? SeenRequest{} : requests.front();
}

TEST(StoreSessionHandshake, AnyAnswerOfTheStoreMakesItReady) {
  for (const std::string_view payload :
       {"$-1\r\n", "$1\r\nv\r\n", "-ERR the key is not yours\r\n"}) {
    for (const ReasonCode code : {ReasonCode::success, ReasonCode::no_matching_subscribers}) {
      Wire wire(asking());
      const SeenRequest asked = ask_store(wire);
      wire.feed(puback(asked.packet_id, code));
      EXPECT_FALSE(wire.session.ready());
      wire.feed(reply_bytes(asked.correlation, {.payload = std::string(payload)}));
      EXPECT_EQ(wire.next().kind, Event::Kind::ready) << payload;
      EXPECT_TRUE(wire.events.empty());
      EXPECT_TRUE(wire.session.ready());
      EXPECT_EQ(wire.session.in_flight(), 0u);
    }
  }
}

// The first mistake of a newcomer: the plugin is not loaded, or the listener is another one.
TEST(StoreSessionHandshake, ABrokerWithoutAStoreIsRecognizedHalfASecondAfterItsPuback) {
  Wire wire(asking());
  const SeenRequest asked = ask_store(wire);
  wire.feed(puback(asked.packet_id, ReasonCode::no_matching_subscribers));
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 500ms);
  wire.elapsed += 499ms;
  wire.session.on_deadline(wire.now());
  EXPECT_FALSE(wire.session.closed());
  wire.elapsed += 1ms;
  wire.session.on_deadline(wire.now());
  EXPECT_TRUE(wire.session.closed());
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connect_failed);
  EXPECT_EQ(wire.session.close_reason().text,
            "no state store answers at this broker: nothing is subscribed to requests");
}

TEST(StoreSessionHandshake, ARefusalByTheBrokerIsLeftToRequests) {
  Wire wire(asking());
  const SeenRequest asked = ask_store(wire);
  wire.feed(puback(asked.packet_id, ReasonCode::not_authorized));
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_TRUE(wire.session.ready());
}

TEST(StoreSessionHandshake, NoAnswerAtAllEndsItAtItsLimit) {
  Wire wire(asking());
  const SeenRequest asked = ask_store(wire);
  wire.feed(puback(asked.packet_id, ReasonCode::success));
  EXPECT_EQ(wire.session.poll_deadline(), 1h + 5s);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
