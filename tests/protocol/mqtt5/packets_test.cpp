// Refusals by section 3, and random packets of every type: read back, cut anywhere, damaged.

#include "protocol/mqtt5/packets.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

using namespace std::string_view_literals;

template <class Packet>
Parsed<Packet> parse(std::string_view bytes) {
  const FrameResult result = read_frame(bytes);
  if (result.state != FrameResult::State::frame) {
    return std::unexpected(ParseError{ReasonCode::malformed_packet, "not whole"});
  }
  return Packet::parse(result.frame, bytes);
}

template <class Packet>
std::string encoded(const Packet& packet) {
  std::string bytes;
  ByteWriter writer(bytes);
  packet.encode(writer);
  return bytes;
}

template <class Packet>
ReasonCode refusal(std::string_view bytes) {
  const auto parsed = parse<Packet>(bytes);
  EXPECT_FALSE(parsed.has_value());
  return parsed ? ReasonCode::success : parsed.error().code;
}

TEST(Mqtt5Packets, ConnectOfAnotherProtocolIsRefusedWithItsOwnCode) {
  const auto code = ReasonCode::unsupported_protocol_version;
  EXPECT_EQ(refusal<Connect>("\x10\x0C\0\4MQTT\4\2\0\74\0\0"sv), code);
  EXPECT_EQ(refusal<Connect>("\x10\x0E\0\6MQIsdp\3\2\0\74\0\0"sv), code);
}

TEST(Mqtt5Packets, ConnectFlagsAreChecked) {
  const auto with_flags = [](unsigned flags) {
    std::string bytes("\x10\x1B\0\4MQTT\5_\0\74\0\0\1c\0\0\1w\0\1p\0\1u\0\1s", 29);
    bytes[9] = static_cast<char>(flags);
    return parse<Connect>(bytes).has_value();
  };
  EXPECT_TRUE(with_flags(0xC6));
  EXPECT_TRUE(with_flags(0xEE));   // will, QoS 1, retained
  EXPECT_FALSE(with_flags(0xC7));  // reserved bit
  EXPECT_FALSE(with_flags(0xDE));  // will with QoS 3
  EXPECT_FALSE(with_flags(0xCA));  // QoS without will
  EXPECT_FALSE(with_flags(0xE2));  // retain without will
  EXPECT_FALSE(with_flags(0x86));  // a password that no flag announces
}

TEST(Mqtt5Packets, PublishNeedsAPlainTopicAndAPacketIdentifier) {
  EXPECT_EQ(refusal<Publish>("\x30\x03\0\0\0"sv), ReasonCode::protocol_error);
  EXPECT_TRUE(parse<Publish>("\x30\x06\0\0\3\x23\0\1"sv).has_value());  // by alias
  EXPECT_EQ(refusal<Publish>("\x30\x06\0\3a/+\0"sv), ReasonCode::topic_name_invalid);
  EXPECT_EQ(refusal<Publish>("\x30\x06\0\3a/#\0"sv), ReasonCode::topic_name_invalid);
  EXPECT_EQ(refusal<Publish>("\x32\x06\0\1a\0\0\0"sv), ReasonCode::protocol_error);
  const auto qos2 = parse<Publish>("\x34\x06\0\1a\0\1\0"sv);
  ASSERT_TRUE(qos2.has_value());
  EXPECT_EQ(qos2->qos, 2);
}

TEST(Mqtt5Packets, PubackIsReadInItsThreeLengths) {
  EXPECT_EQ(parse<Puback>("\x40\x02\0\7"sv)->code, ReasonCode::success);
  EXPECT_EQ(parse<Puback>("\x40\x03\0\7\x10"sv)->code, ReasonCode::no_matching_subscribers);
  EXPECT_EQ(parse<Puback>("\x40\x08\0\7\x87\4\x1F\0\1x"sv)->properties.reason_string, "x");
  EXPECT_EQ(refusal<Puback>("\x40\x05\0\7\0\0\0"sv), ReasonCode::malformed_packet);
  EXPECT_EQ(refusal<Puback>("\x40\x02\0\0"sv), ReasonCode::protocol_error);
  Puback refused{7, ReasonCode::not_authorized, {}};
  EXPECT_EQ(encoded(refused), "\x40\x03\0\7\x87"sv);
  refused.properties.raw = "\x1F\0\1x"sv;
  EXPECT_EQ(encoded(refused), "\x40\x08\0\7\x87\4\x1F\0\1x"sv);
}

TEST(Mqtt5Packets, DisconnectAndAuthMayBeEmpty) {
  EXPECT_EQ(parse<Disconnect>("\xE0\x00"sv)->code, ReasonCode::success);
  EXPECT_EQ(parse<Disconnect>("\xE0\x01\x8E"sv)->code, ReasonCode::session_taken_over);
  EXPECT_EQ(parse<Auth>("\xF0\x00"sv)->code, ReasonCode::success);
  EXPECT_EQ(parse<Auth>("\xF0\x06\x18\4\x15\0\1m"sv)->properties.authentication_method, "m");
}

TEST(Mqtt5Packets, SubscribeNeedsFiltersAndOptionsInRange) {
  const auto options = [](char value) {
    std::string bytes("\x82\x07\0\1\0\0\1a_", 9);
    bytes.back() = value;
    return parse<Subscribe>(bytes).has_value();
  };
  EXPECT_TRUE(options(0x2D));
  EXPECT_FALSE(options(0x03));
  EXPECT_FALSE(options(0x30));
  EXPECT_FALSE(options(0x40));
  EXPECT_EQ(refusal<Subscribe>("\x82\x03\0\1\0"sv), ReasonCode::protocol_error);
  EXPECT_EQ(refusal<Subscribe>("\x82\x06\0\1\0\0\0\1"sv), ReasonCode::malformed_packet);
  EXPECT_EQ(refusal<Subscribe>("\x82\x06\0\0\0\0\1a"sv), ReasonCode::protocol_error);
  EXPECT_EQ(refusal<Unsubscribe>("\xA2\x03\0\1\0"sv), ReasonCode::protocol_error);
  EXPECT_EQ(refusal<Suback>("\x90\x03\0\1\0"sv), ReasonCode::protocol_error);
}

TEST(Mqtt5Packets, PingsAreEmpty) {
  EXPECT_TRUE(parse<Pingreq>("\xC0\x00"sv).has_value());
  EXPECT_TRUE(parse<Pingresp>("\xD0\x00"sv).has_value());
  EXPECT_FALSE(parse<Pingresp>("\xD0\x01x"sv).has_value());
  EXPECT_EQ(encoded(Pingreq{}), "\xC0\x00"sv);
  EXPECT_EQ(encoded(Pingresp{}), "\xD0\x00"sv);
}

// Random packets. `keep` holds the bytes that their views point to.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string packet(PacketType type) {
    keep_.clear();
    switch (type) {
      case PacketType::connect:
        return encoded(connect());
      case PacketType::connack:
        return encoded(Connack{flip(), code(), properties(type)});
      case PacketType::publish:
        return encoded(publish());
      case PacketType::puback:
        return encoded(Puback{id(), code(), properties(type)});
      case PacketType::subscribe:
        return encoded(subscribe());
      case PacketType::suback:
        return encoded(Suback{id(), properties(type), keep(bytes(1, 9))});
      case PacketType::unsubscribe:
        return encoded(unsubscribe());
      case PacketType::unsuback:
        return encoded(Unsuback{id(), properties(type), keep(bytes(1, 9))});
      case PacketType::pingreq:
        return encoded(Pingreq{});
      case PacketType::pingresp:
        return encoded(Pingresp{});
      case PacketType::disconnect:
        return encoded(Disconnect{code(), properties(type)});
      default:
        return encoded(Auth{code(), properties(type)});
    }
  }
  Random& random() { return random_; }

 private:
  bool flip() { return random_.below(2) == 0; }
  std::uint16_t id() { return static_cast<std::uint16_t>(1 + random_.below(65'535)); }
  ReasonCode code() { return static_cast<ReasonCode>(random_.below(256)); }
  std::string bytes(std::size_t least, std::size_t most) {
    std::string out(least + random_.below(most - least + 1), '\0');
    for (char& c : out) c = static_cast<char>(random_.below(256));
    return out;
  }
  std::string text(std::size_t least, std::size_t most) {
    static constexpr std::string_view utf8_pieces[] = {"a", "Z", "/", "\xC3\xBC",
                                                       "\xF0\x9F\x98\x80"};
    std::string out;
    for (std::size_t i = least + random_.below(most - least + 1); i > 0; --i) {
      out += utf8_pieces[random_.below(std::size(utf8_pieces))];
    }
    return out;
  }
  std::string_view keep(std::string bytes) { return keep_.emplace_back(std::move(bytes)); }

  void property(PropertyWriter& writer, std::uint8_t id) {
    const auto property = static_cast<PropertyId>(id);
    switch (id) {
      case 1:
      case 23:
      case 25:
      case 36:
      case 37:
      case 40:
      case 41:
      case 42:
        return writer.byte(property, flip() ? 1 : 0);
      case 19:
      case 33:
      case 34:
      case 35:
        return writer.u16(property, this->id());
      case 2:
      case 17:
      case 24:
      case 39:
        return writer.u32(property, 1 + random_.u32() / 2);
      case 11:
        return writer.varint(property, 1 + random_.u32() % max_varint);
      case 38:
        return writer.user(text(0, 9), text(0, 200));
      case 9:
      case 22:
        return writer.text(property, bytes(0, 40));
      default:
        return writer.text(property, text(0, 40));
    }
  }
  Properties properties(PacketType type) {
    std::vector<std::uint8_t> ids{38};
    switch (type) {
      case PacketType::connect:
        ids.insert(ids.end(), {17, 21, 23, 25, 33, 34, 39});
        break;
      case PacketType::connack:
        ids.insert(ids.end(), {17, 18, 19, 21, 26, 28, 31, 33, 34, 36, 37, 39, 40, 41, 42});
        break;
      case PacketType::publish:
        ids.insert(ids.end(), {1, 2, 3, 8, 9, 11, 35});
        break;
      case PacketType::subscribe:
        ids.push_back(11);
        break;
      case PacketType::unsubscribe:
        break;
      case PacketType::disconnect:
        ids.insert(ids.end(), {17, 28, 31});
        break;
      default:
        ids.push_back(31);
        break;
    }
    std::string raw;
    ByteWriter out(raw);
    PropertyWriter writer(out);
    for (const std::uint8_t id : ids) {
      if (flip()) property(writer, id);
    }
    Properties properties;
    properties.raw = keep(std::move(raw));
    return properties;
  }
  Connect connect() {
    Connect connect;
    connect.clean_start = flip();
    connect.keep_alive = id();
    connect.properties = properties(PacketType::connect);
    connect.client_id = keep(text(0, 30));
    if (flip()) connect.user = keep(text(0, 30));
    if (flip()) connect.password = keep(bytes(0, 30));
    if (flip()) {
      Connect::Will will;
      will.qos = static_cast<std::uint8_t>(random_.below(3));
      will.retain = flip();
      will.topic = keep(text(1, 20));
      will.payload = keep(bytes(0, 30));
      connect.will = will;
    }
    return connect;
  }
  Publish publish() {
    Publish publish;
    publish.qos = static_cast<std::uint8_t>(random_.below(3));
    publish.dup = publish.qos > 0 && flip();
    publish.retain = flip();
    publish.topic = keep(text(1, 30));
    publish.packet_id = publish.qos > 0 ? id() : std::uint16_t{0};
    publish.properties = properties(PacketType::publish);
    publish.payload = keep(bytes(0, 300));
    return publish;
  }
  Subscribe subscribe() {
    std::string entries;
    ByteWriter out(entries);
    for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
      const auto three = [this] { return static_cast<std::uint8_t>(random_.below(3)); };
      Subscription{text(1, 20), three(), flip(), flip(), three()}.encode(out);
    }
    return {id(), properties(PacketType::subscribe),
            EntryList<Subscription>(keep(std::move(entries)))};
  }
  Unsubscribe unsubscribe() {
    std::string entries;
    ByteWriter out(entries);
    for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
      Unsubscribe::encode_filter(out, text(1, 20));
    }
    return {id(), properties(PacketType::unsubscribe),
            EntryList<std::string_view>(keep(std::move(entries)))};
  }

  Random random_;
  std::deque<std::string> keep_;  // elements never move
};

constexpr PacketType all_types[] = {
    PacketType::connect,   PacketType::connack,  PacketType::publish,     PacketType::puback,
    PacketType::subscribe, PacketType::suback,   PacketType::unsubscribe, PacketType::unsuback,
    PacketType::pingreq,   PacketType::pingresp, PacketType::disconnect,  PacketType::auth};

// Parses it, reads everything that a user would, and encodes it again. Nothing if it was refused.
template <class Packet>
std::optional<std::string> again_as(const Frame& frame, std::string_view bytes) {
  const auto parsed = Packet::parse(frame, bytes);
  if (!parsed) {
    EXPECT_FALSE(parsed.error().text.empty());
    EXPECT_TRUE(is_error(parsed.error().code));
    return std::nullopt;
  }
  if constexpr (requires { parsed->properties; }) {
    for (const UserProperty& user : parsed->properties.user()) {
      EXPECT_TRUE(is_mqtt_string(user.name) && is_mqtt_string(user.value));
    }
  }
  if constexpr (requires { parsed->entries; }) {
    EXPECT_NE(parsed->entries.begin(), parsed->entries.end());
    for (const auto& entry : parsed->entries) EXPECT_NE(sizeof entry, 0U);
  }
  return encoded(*parsed);
}

std::optional<std::string> again(std::string_view bytes) {
  const FrameResult result = read_frame(bytes);
  if (result.state != FrameResult::State::frame) return std::nullopt;
  const Frame& frame = result.frame;
  const std::string_view packet = bytes.substr(0, frame.total_size);
  switch (frame.type) {
    case PacketType::connect:
      return again_as<Connect>(frame, packet);
    case PacketType::connack:
      return again_as<Connack>(frame, packet);
    case PacketType::publish:
      return again_as<Publish>(frame, packet);
    case PacketType::puback:
      return again_as<Puback>(frame, packet);
    case PacketType::subscribe:
      return again_as<Subscribe>(frame, packet);
    case PacketType::suback:
      return again_as<Suback>(frame, packet);
    case PacketType::unsubscribe:
      return again_as<Unsubscribe>(frame, packet);
    case PacketType::unsuback:
      return again_as<Unsuback>(frame, packet);
    case PacketType::pingreq:
      return again_as<Pingreq>(frame, packet);
    case PacketType::pingresp:
      return again_as<Pingresp>(frame, packet);
    case PacketType::disconnect:
      return again_as<Disconnect>(frame, packet);
    case PacketType::auth:
      return again_as<Auth>(frame, packet);
    default:
      return std::nullopt;
  }
}

TEST(Mqtt5Packets, WhatWasEncodedIsReadAndEncodedAlike) {
  Generator generator(1);
  for (int round = 0; round < 500; ++round) {
    for (const PacketType type : all_types) {
      const std::string bytes = generator.packet(type);
      ASSERT_EQ(again(bytes), bytes) << to_string(type) << " of round " << round;
    }
  }
}

TEST(Mqtt5Packets, PacketCutAnywhereIsIncomplete) {
  Generator generator(2);
  for (const PacketType type : all_types) {
    const std::string bytes = generator.packet(type);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string part = bytes.substr(0, size);
      const FrameResult result = read_frame(part);
      ASSERT_EQ(result.state, FrameResult::State::need_more);
      ASSERT_LE(size + result.missing, bytes.size());
      if (result.frame.header_size == 0 || type != PacketType::publish) continue;
      const auto head = Publish::parse_head(result.frame, part);
      ASSERT_TRUE(head.has_value());
      if (!*head) continue;
      ASSERT_TRUE(bytes.ends_with(std::string((*head)->payload) + bytes.substr(size)));
    }
  }
}

// Bodies that end early inside a frame whose length matches.
TEST(Mqtt5Packets, BodyCutAnywhereIsRefusedOrAShorterPacketNeverReadBeyond) {
  Generator generator(3);
  for (int round = 0; round < 20; ++round) {
    for (const PacketType type : all_types) {
      const std::string bytes = generator.packet(type);
      const Frame whole = read_frame(bytes).frame;
      for (std::size_t size = 0; size + whole.header_size < bytes.size(); ++size) {
        std::string cut(1, bytes.front());
        ByteWriter out(cut);
        write_varint(out, size);
        cut += bytes.substr(whole.header_size, size);
        again(std::string(cut));  // an exact copy, so that a sanitizer sees its end
      }
    }
  }
}

TEST(Mqtt5Packets, DamagedPacketsAreRefusedOrReadAsWhatTheySay) {
  Generator generator(4);
  Random& random = generator.random();
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 2'000; ++round) {
    for (const PacketType type : all_types) {
      std::string bytes = generator.packet(type);
      for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
      }
      const auto once = again(bytes);
      (once ? accepted : refused)++;
      if (!once) continue;
      ASSERT_EQ(again(*once), *once) << to_string(type) << " of round " << round;
    }
  }
  EXPECT_GT(accepted, 1'000);
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace sheaf::protocol::mqtt5
