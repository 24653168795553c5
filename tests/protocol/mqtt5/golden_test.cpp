// Whole packets that were seen on the wire: decoded, checked, and encoded to the same bytes again.

#include <gtest/gtest.h>

#include <string>

#include "protocol/mqtt5/packets.h"

namespace sheaf::protocol::mqtt5 {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view topic_of_requests =
    "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke";
constexpr std::string_view topic_of_responses =
    "clients/client-id1/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke";
constexpr std::string_view correlation = "\177\254\021(_N\200F\207\330\250'\004f\331S"sv;

constexpr std::string_view connect_packet =
    "\020<\000\004MQTT\005\000\000<%\021\000\000\016\020&\000\016metriccategory"
    "\000\raiosdk-dotnet\000\nclient-id1"sv;

constexpr std::string_view subscribe_packet =
    "\202Z\000\001\000\000Tclients/client-id1/statestore/v1/"
    "FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke\001"sv;

constexpr std::string_view request_packet =
    "2\236\003\000Astatestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke"
    "\000\002\266\002"
    "\003\000\030application/octet-stream"
    "\011\000\020\177\254\021(_N\200F\207\330\250'\004f\331S"
    "\002\000\000\000\n"
    "\010\000Tclients/client-id1/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke"
    "&\000\011__protVer\000\0031.0"
    "&\000\n$partition\000\nclient-id1"
    "&\000\007__srcId\000\nclient-id1"
    "&\000\007__invId\000\nclient-id1"
    "&\000\004__ts\000:001795224775781:00000:ce28fe72-9a52-4491-b518-4daeb162f901"
    "&\000\016$high_priority\000\000"
    "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n"sv;

constexpr std::string_view reply_packet =
    "2\362\001\000Tclients/client-id1/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/"
    "command/invoke\000\001\223\001"
    "\003\000\030application/octet-stream"
    "\001\000"
    "\002\000\000\000\n"
    "\011\000\020\177\254\021(_N\200F\207\330\250'\004f\331S"
    "&\000\006__stat\000\003200"
    "&\000\011__protVer\000\0031.0"
    "&\000\007__srcId\000\nStateStore"
    "&\000\004__ts\000 001795224776886:00000:StateStore"
    "+OK\r\n"sv;

constexpr std::string_view notification_packet =
    "2\343\001\000mclients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/"
    "636C69656E742D696431/command/notify/534F4D454B4559\000\005D"
    "\003\000\030application/octet-stream"
    "&\000\004__ts\000 001795224777382:00000:StateStore"
    "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n"sv;

// Checks the framing, then parses the packet.
template <class Packet>
Packet decode(std::string_view bytes, PacketType type) {
  const FrameResult result = read_frame(bytes);
  EXPECT_EQ(result.state, FrameResult::State::frame);
  EXPECT_EQ(result.frame.type, type);
  EXPECT_EQ(result.frame.total_size, bytes.size());
  auto packet = Packet::parse(result.frame, bytes);
  EXPECT_TRUE(packet.has_value()) << packet.error().text;
  return packet.value_or(Packet{});
}

template <class Packet>
std::string encode(const Packet& packet) {
  std::string bytes;
  ByteWriter writer(bytes);
  packet.encode(writer);
  return bytes;
}

TEST(Mqtt5Golden, ConnectOfTheDotNetSdk) {
  const auto connect = decode<Connect>(connect_packet, PacketType::connect);
  EXPECT_FALSE(connect.clean_start);
  EXPECT_EQ(connect.keep_alive, 60);
  EXPECT_EQ(connect.properties.session_expiry, 3600U);
  EXPECT_EQ(connect.properties.user().find("metriccategory"), "aiosdk-dotnet");
  EXPECT_EQ(connect.client_id, "client-id1");
  EXPECT_FALSE(connect.user || connect.password || connect.will);
  EXPECT_EQ(encode(connect), connect_packet);
}

TEST(Mqtt5Golden, SubscribeToTheResponseTopic) {
  const auto subscribe = decode<Subscribe>(subscribe_packet, PacketType::subscribe);
  EXPECT_EQ(subscribe.packet_id, 1);
  int count = 0;
  for (const Subscription& entry : subscribe.entries) {
    ++count;
    EXPECT_EQ(entry, (Subscription{topic_of_responses, 1, false, false, 0}));
  }
  EXPECT_EQ(count, 1);
  EXPECT_EQ(encode(subscribe), subscribe_packet);

  std::string entries;
  ByteWriter writer(entries);
  Subscription{topic_of_responses, 1, false, false, 0}.encode(writer);
  Subscribe own;
  own.packet_id = 1;
  own.entries = EntryList<Subscription>(entries);
  EXPECT_EQ(encode(own), subscribe_packet);
}

TEST(Mqtt5Golden, RequestOf417Bytes) {
  ASSERT_EQ(request_packet.size(), 417U);
  const auto request = decode<Publish>(request_packet, PacketType::publish);
  EXPECT_EQ(request.topic, topic_of_requests);
  EXPECT_EQ(request.qos, 1);
  EXPECT_EQ(request.packet_id, 2);
  EXPECT_EQ(request.properties.content_type, "application/octet-stream");
  EXPECT_EQ(request.properties.correlation_data, correlation);
  EXPECT_EQ(request.properties.message_expiry, 10U);
  EXPECT_EQ(request.properties.response_topic, topic_of_responses);
  EXPECT_FALSE(request.properties.payload_format);
  const UserProperties user = request.properties.user();
  EXPECT_EQ(user.find("__ts"), "001795224775781:00000:ce28fe72-9a52-4491-b518-4daeb162f901");
  EXPECT_EQ(user.find("$high_priority"), "");
  EXPECT_FALSE(user.find("__ft"));
  EXPECT_EQ(std::distance(user.begin(), user.end()), 6);
  EXPECT_EQ(request.payload, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
  EXPECT_EQ(encode(request), request_packet);
}

TEST(Mqtt5Golden, RequestWrittenPropertyByProperty) {
  std::string properties;
  ByteWriter to_properties(properties);
  PropertyWriter writer(to_properties);
  writer.text(PropertyId::content_type, "application/octet-stream");
  writer.text(PropertyId::correlation_data, correlation);
  writer.u32(PropertyId::message_expiry, 10);
  writer.text(PropertyId::response_topic, topic_of_responses);
  writer.user("__protVer", "1.0");
  writer.user("$partition", "client-id1");
  writer.user("__srcId", "client-id1");
  writer.user("__invId", "client-id1");
  writer.user("__ts", "001795224775781:00000:ce28fe72-9a52-4491-b518-4daeb162f901");
  writer.user("$high_priority", "");
  Publish request;
  request.qos = 1;
  request.topic = topic_of_requests;
  request.packet_id = 2;
  request.properties.raw = properties;
  request.payload = "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n";
  EXPECT_EQ(encode(request), request_packet);
  EXPECT_EQ(request.encoded_size(properties.size(), request.payload.size()), request_packet.size());
}

TEST(Mqtt5Golden, ReplyOf245Bytes) {
  ASSERT_EQ(reply_packet.size(), 245U);
  const auto reply = decode<Publish>(reply_packet, PacketType::publish);
  EXPECT_EQ(reply.topic, topic_of_responses);
  EXPECT_EQ(reply.properties.payload_format, 0);
  EXPECT_EQ(reply.properties.correlation_data, correlation);
  EXPECT_EQ(reply.properties.user().find("__stat"), "200");
  EXPECT_EQ(reply.properties.user().find("__ts"), "001795224776886:00000:StateStore");
  EXPECT_EQ(reply.payload, "+OK\r\n");
  EXPECT_EQ(encode(reply), reply_packet);
}

TEST(Mqtt5Golden, NotificationOf230Bytes) {
  ASSERT_EQ(notification_packet.size(), 230U);
  const auto notification = decode<Publish>(notification_packet, PacketType::publish);
  EXPECT_EQ(notification.packet_id, 5);
  EXPECT_FALSE(notification.properties.correlation_data);
  EXPECT_EQ(notification.properties.user().find("__ts"), "001795224777382:00000:StateStore");
  EXPECT_EQ(notification.payload,
            "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n");
  EXPECT_EQ(encode(notification), notification_packet);
}

TEST(Mqtt5Golden, PubackOfFourBytes) {
  const auto puback = decode<Puback>("@\002\000\002"sv, PacketType::puback);
  EXPECT_EQ(puback.packet_id, 2);
  EXPECT_EQ(puback.code, ReasonCode::success);
  EXPECT_EQ(encode(puback), "@\002\000\002"sv);
}

TEST(Mqtt5Golden, DisconnectWithReasonAndNoProperties) {
  const auto disconnect = decode<Disconnect>("\340\002\000\000"sv, PacketType::disconnect);
  EXPECT_EQ(disconnect.code, ReasonCode::success);
  EXPECT_EQ(encode(disconnect), "\340\002\000\000"sv);
}

}  // namespace
}  // namespace sheaf::protocol::mqtt5
