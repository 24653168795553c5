#include "protocol/mqtt5/properties.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "protocol/mqtt5/packets.h"
#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

using namespace std::string_view_literals;

std::string block(const std::function<void(PropertyWriter&)>& fill) {
  std::string raw;
  ByteWriter to_raw(raw);
  PropertyWriter writer(to_raw);
  fill(writer);
  Properties properties;
  properties.raw = raw;
  std::string bytes;
  ByteWriter out(bytes);
  properties.encode(out);
  EXPECT_EQ(bytes.size(), properties.encoded_size());
  return bytes;
}

struct Checked {
  Properties properties;
  bool good = false;
  ParseError error;
};

Checked parse(std::string_view bytes, PacketType packet) {
  Cursor in(bytes);
  Checked checked{Properties::parse(in, packet), false, {}};
  in.refuse_rest();
  checked.good = !in.failed();
  if (in.failed()) checked.error = in.error();
  return checked;
}

Checked parse_will(std::string_view bytes) {
  Cursor in(bytes);
  Checked checked{Properties::parse_will(in), false, {}};
  checked.good = !in.failed();
  return checked;
}

// Every property, with an allowed value, as one block.
std::string sample(std::uint8_t id) {
  return block([id](PropertyWriter& writer) {
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
        return writer.byte(property, 1);
      case 19:
      case 33:
      case 34:
      case 35:
        return writer.u16(property, 5);
      case 2:
      case 17:
      case 24:
      case 39:
        return writer.u32(property, 70'000);
      case 11:
        return writer.varint(property, 300);
      case 38:
        return writer.user("name", "value");
      default:
        return writer.text(property, "text");
    }
  });
}

constexpr std::uint8_t all_properties[] = {1,  2,  3,  8,  9,  11, 17, 18, 19, 21, 22, 23, 24, 25,
                                           26, 28, 31, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42};

// Table 2-4 of the standard, written again independently: packets by number, 0 = will.
std::vector<int> allowed_in(int id) {
  switch (id) {
    case 1:
    case 2:
    case 3:
    case 8:
    case 9:
      return {0, 3};
    case 11:
      return {3, 8};
    case 17:
      return {1, 2, 14};
    case 21:
    case 22:
      return {1, 2, 15};
    case 23:
    case 25:
      return {1};
    case 24:
      return {0};
    case 28:
      return {2, 14};
    case 31:
      return {2, 4, 5, 6, 7, 9, 11, 14, 15};
    case 33:
    case 34:
    case 39:
      return {1, 2};
    case 35:
      return {3};
    case 38:
      return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15};
    default:
      return {2};
  }
}

TEST(Mqtt5Properties, EachIsTakenWhereTheStandardAllowsItAndNowhereElse) {
  for (const std::uint8_t id : all_properties) {
    const std::vector<int> allowed = allowed_in(id);
    for (int packet = 0; packet <= 15; ++packet) {
      if (packet == 12 || packet == 13) continue;  // PINGREQ and PINGRESP have no properties
      std::string bytes = sample(id);
      if (id == 22) {  // only together with a method
        bytes = block([](PropertyWriter& writer) {
          writer.text(PropertyId::authentication_method, "m");
          writer.text(PropertyId::authentication_data, "d");
        });
      }
      const bool good =
          packet == 0 ? parse_will(bytes).good : parse(bytes, static_cast<PacketType>(packet)).good;
      const bool expected = std::find(allowed.begin(), allowed.end(), packet) != allowed.end();
      EXPECT_EQ(good, expected) << "property " << int{id} << " in packet " << packet;
    }
  }
}

TEST(Mqtt5Properties, AnyOtherNumberIsMalformed) {
  for (int id = 0; id < 256; ++id) {
    if (std::find(std::begin(all_properties), std::end(all_properties), id) !=
        std::end(all_properties))
      continue;
    const std::string bytes{'\x05', static_cast<char>(id), '\0', '\0', '\0', '\0'};
    const Checked checked = parse(bytes, PacketType::publish);
    EXPECT_FALSE(checked.good) << id;
    EXPECT_EQ(checked.error.code, ReasonCode::malformed_packet);
  }
}

TEST(Mqtt5Properties, OnlyUserPropertiesAndSubscriptionIdentifiersMayRepeat) {
  for (const std::uint8_t id : all_properties) {
    const auto packet = static_cast<PacketType>(allowed_in(id).back());
    const std::string once = sample(id).substr(1);
    const std::string twice = std::string(1, static_cast<char>(2 * once.size())) + once + once;
    const bool good = id == 24 ? parse_will(twice).good : parse(twice, packet).good;
    EXPECT_EQ(good, id == 38) << int{id};
  }
  const std::string many = block([](PropertyWriter& writer) {
    writer.varint(PropertyId::subscription_identifier, 5);
    writer.varint(PropertyId::subscription_identifier, 6);
  });
  const Checked publish = parse(many, PacketType::publish);
  EXPECT_TRUE(publish.good);
  EXPECT_EQ(publish.properties.subscription_identifier, 5U);
}

TEST(Mqtt5Properties, ValuesOutOfRangeAreRefused) {
  const auto code = [](PropertyId id, std::uint32_t value, PacketType packet) {
    const std::string bytes = block([&](PropertyWriter& writer) {
      switch (id) {
        case PropertyId::maximum_packet_size:
          return writer.u32(id, value);
        case PropertyId::subscription_identifier:
          return writer.varint(id, value);
        case PropertyId::payload_format:
        case PropertyId::maximum_qos:
        case PropertyId::retain_available:
          return writer.byte(id, static_cast<std::uint8_t>(value));
        default:
          return writer.u16(id, static_cast<std::uint16_t>(value));
      }
    });
    const Checked checked = parse(bytes, packet);
    EXPECT_FALSE(checked.good);
    return checked.error.code;
  };
  const auto error = ReasonCode::protocol_error;
  EXPECT_EQ(code(PropertyId::receive_maximum, 0, PacketType::connect), error);
  EXPECT_EQ(code(PropertyId::maximum_packet_size, 0, PacketType::connack), error);
  EXPECT_EQ(code(PropertyId::subscription_identifier, 0, PacketType::publish), error);
  EXPECT_EQ(code(PropertyId::payload_format, 2, PacketType::publish), error);
  EXPECT_EQ(code(PropertyId::maximum_qos, 2, PacketType::connack), error);
  EXPECT_EQ(code(PropertyId::retain_available, 255, PacketType::connack), error);
  EXPECT_EQ(code(PropertyId::topic_alias, 0, PacketType::publish), ReasonCode::topic_alias_invalid);
}

TEST(Mqtt5Properties, AuthenticationDataNeedsAMethod) {
  const std::string bytes =
      block([](PropertyWriter& writer) { writer.text(PropertyId::authentication_data, "secret"); });
  EXPECT_FALSE(parse(bytes, PacketType::connect).good);
}

TEST(Mqtt5Properties, StringsMustBeUtf8WithoutNul) {
  const auto good = [](PropertyId id, std::string_view text) {
    const std::string bytes = block([&](PropertyWriter& writer) { writer.text(id, text); });
    return parse(bytes, PacketType::publish).good;
  };
  EXPECT_TRUE(good(PropertyId::content_type, "gr\xC3\xBC\xC3\x9F"));
  EXPECT_TRUE(good(PropertyId::content_type, ""));
  EXPECT_FALSE(good(PropertyId::content_type, "a\0b"sv));
  EXPECT_FALSE(good(PropertyId::content_type, "\xC0\x80"));      // U+0000, overlong
  EXPECT_FALSE(good(PropertyId::content_type, "\xED\xA0\x80"));  // a surrogate
  EXPECT_FALSE(good(PropertyId::content_type, "\xFF"));
  EXPECT_TRUE(good(PropertyId::correlation_data, "a\0\xFF"sv));
  const auto user_good = [](std::string_view name, std::string_view value) {
    const std::string bytes = block([&](PropertyWriter& writer) { writer.user(name, value); });
    return parse(bytes, PacketType::publish).good;
  };
  EXPECT_TRUE(user_good("", ""));
  EXPECT_FALSE(user_good("\xFF", "v"));
  EXPECT_FALSE(user_good("n", "\0"sv));
}

TEST(Mqtt5Properties, OneBadByteIsFoundAtAnyPlaceOfAStringOfAnyLength) {
  for (std::size_t size = 0; size < 40; ++size) {
    EXPECT_TRUE(is_mqtt_string(std::string(size, 'x')));
    EXPECT_FALSE(has_wildcard(std::string(size, 'x')));
    for (std::size_t at = 0; at < size; ++at) {
      for (const char bad : {'\0', '\x80', '\xFF', '\xC3'}) {
        std::string text(size, 'x');
        text[at] = bad;
        EXPECT_FALSE(is_mqtt_string(text)) << size << " " << at;
      }
      for (int c = 0; c < 256; ++c) {
        std::string text(size, 'x');
        text[at] = static_cast<char>(c);
        EXPECT_EQ(has_wildcard(text), c == '+' || c == '#') << size << " " << at << " " << c;
      }
    }
  }
}

TEST(Mqtt5Properties, UserPropertiesAreFoundBetweenAllOthers) {
  const std::string bytes = block([](PropertyWriter& writer) {
    writer.user("a", "1");
    writer.byte(PropertyId::payload_format, 0);
    writer.u32(PropertyId::message_expiry, 38);  // looks like the number of a user property
    writer.user("b", "");
    writer.varint(PropertyId::subscription_identifier, 200'000'000);
    writer.text(PropertyId::correlation_data, "&\0\1n\0\1v"sv);
    writer.u16(PropertyId::topic_alias, 38);
    writer.user("a", "2");
  });
  const Checked checked = parse(bytes, PacketType::publish);
  ASSERT_TRUE(checked.good) << checked.error.text;
  const UserProperties user = checked.properties.user();
  const std::vector<UserProperty> found(user.begin(), user.end());
  EXPECT_EQ(found, (std::vector<UserProperty>{{"a", "1"}, {"b", ""}, {"a", "2"}}));
  EXPECT_EQ(user.find("a"), "1");
  EXPECT_FALSE(user.find("c"));
}

TEST(Mqtt5Properties, NumbersOfVariableLengthAreReadToTheLimit) {
  for (const std::uint32_t value :
       {0U, 127U, 128U, 16'383U, 16'384U, 2'097'151U, 2'097'152U, max_varint}) {
    std::string bytes;
    ByteWriter out(bytes);
    write_varint(out, value);
    EXPECT_EQ(bytes.size(), varint_size(value));
    Cursor in(bytes);
    EXPECT_EQ(in.varint(), value);
    EXPECT_FALSE(in.failed());
  }
  for (const std::string_view bad : {"\x80"sv, "\x80\x00"sv, "\xFF\xFF\xFF\xFF\x01"sv}) {
    Cursor in(bad);
    in.varint();
    EXPECT_TRUE(in.failed());
  }
}

}  // namespace
}  // namespace sheaf::protocol::mqtt5
