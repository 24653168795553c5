// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/mqtt5/properties.h"

#include <array>

#include "base/byte_reader.h"
#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

enum class Kind : std::uint8_t { none, flag, u16, u32, varint, string, binary, pair };

constexpr std::uint32_t bit(PacketType type) noexcept {
  return 1U << static_cast<std::uint8_t>(type);
}
// Packet type 0 is reserved; here its bit means the will of a CONNECT.
constexpr std::uint32_t in_will = 1;
constexpr std::uint32_t in_message = in_will | bit(PacketType::publish);
constexpr std::uint32_t in_login = bit(PacketType::connect) | bit(PacketType::connack);
constexpr std::uint32_t in_connect = bit(PacketType::connect);
constexpr std::uint32_t in_connack = bit(PacketType::connack);
constexpr std::uint32_t in_answers =
    in_connack | bit(PacketType::puback) | bit(PacketType::pubrec) | bit(PacketType::pubrel) |
    bit(PacketType::pubcomp) | bit(PacketType::suback) | bit(PacketType::unsuback) |
    bit(PacketType::disconnect) | bit(PacketType::auth);

struct Rule {
  Kind kind = Kind::none;
  std::uint32_t packets = 0;
};

// Section 2.2.2.2, table 2-4.
constexpr std::array<Rule, 43> make_rules() noexcept {
  std::array<Rule, 43> rules{};
  rules[1] = {Kind::flag, in_message};
  rules[2] = {Kind::u32, in_message};
  rules[3] = {Kind::string, in_message};
  rules[8] = {Kind::string, in_message};
  rules[9] = {Kind::binary, in_message};
  rules[11] = {Kind::varint, bit(PacketType::publish) | bit(PacketType::subscribe)};
  rules[17] = {Kind::u32, in_login | bit(PacketType::disconnect)};
  rules[18] = {Kind::string, in_connack};
  rules[19] = {Kind::u16, in_connack};
  rules[21] = {Kind::string, in_login | bit(PacketType::auth)};
  rules[22] = {Kind::binary, in_login | bit(PacketType::auth)};
  rules[23] = {Kind::flag, in_connect};
  rules[24] = {Kind::u32, in_will};
  rules[25] = {Kind::flag, in_connect};
  rules[26] = {Kind::string, in_connack};
  rules[28] = {Kind::string, in_connack | bit(PacketType::disconnect)};
  rules[31] = {Kind::string, in_answers};
  rules[33] = {Kind::u16, in_login};
  rules[34] = {Kind::u16, in_login};
  rules[35] = {Kind::u16, bit(PacketType::publish)};
  rules[36] = {Kind::flag, in_connack};
  rules[37] = {Kind::flag, in_connack};
  rules[38] = {Kind::pair, 0xFFFF};
  rules[39] = {Kind::u32, in_login};
  rules[40] = {Kind::flag, in_connack};
  rules[41] = {Kind::flag, in_connack};
  rules[42] = {Kind::flag, in_connack};
  return rules;
}
constexpr auto rules_by_id = make_rules();

struct Property {
  PropertyId id{};
  std::uint32_t number = 0;
  std::string_view text;
};

Property read_one(Cursor& in, std::uint32_t packet) noexcept {
  const std::uint8_t id = in.u8();
  Property property{static_cast<PropertyId>(id), 0, {}};
  const Rule rule = id < rules_by_id.size() ? rules_by_id[id] : Rule{};
  if (rule.kind == Kind::none) {
    in.fail("unknown property");
  } else if ((rule.packets & packet) == 0) {
    in.fail("property is not allowed in this packet", ReasonCode::protocol_error);
  }
  switch (rule.kind) {
    case Kind::none:
      break;
    case Kind::flag:
      property.number = in.u8();
      if (property.number > 1) in.fail("property is neither 0 nor 1", ReasonCode::protocol_error);
      break;
    case Kind::u16:
      property.number = in.u16();
      break;
    case Kind::u32:
      property.number = in.u32();
      break;
    case Kind::varint:
      property.number = in.varint();
      break;
    case Kind::string:
      property.text = in.string();
      break;
    case Kind::binary:
      property.text = in.binary();
      break;
    case Kind::pair:
      property.text = in.string();
      in.string();
      break;
  }
  return property;
}

// Zero is not allowed for these (sections 3.1.2.11.3, 3.1.2.11.4, 3.3.2.3.4, 3.3.2.3.8).
void refuse_zero(Cursor& in, PropertyId id) noexcept {
  switch (id) {
    case PropertyId::receive_maximum:
      return in.fail("Receive Maximum is 0", ReasonCode::protocol_error);
    case PropertyId::maximum_packet_size:
      return in.fail("Maximum Packet Size is 0", ReasonCode::protocol_error);
    case PropertyId::topic_alias:
      return in.fail("Topic Alias is 0", ReasonCode::topic_alias_invalid);
    case PropertyId::subscription_identifier:
      return in.fail("Subscription Identifier is 0", ReasonCode::protocol_error);
    default:
      return;
  }
}

void store_text(Properties& out, const Property& property) noexcept {
  switch (property.id) {
    case PropertyId::content_type:
      out.content_type = property.text;
      break;
    case PropertyId::response_topic:
      out.response_topic = property.text;
      break;
    case PropertyId::correlation_data:
      out.correlation_data = property.text;
      break;
    case PropertyId::assigned_client_id:
      out.assigned_client_id = property.text;
      break;
    case PropertyId::authentication_method:
      out.authentication_method = property.text;
      break;
    case PropertyId::authentication_data:
      out.authentication_data = property.text;
      break;
    case PropertyId::response_information:
      out.response_information = property.text;
      break;
    case PropertyId::server_reference:
      out.server_reference = property.text;
      break;
    case PropertyId::reason_string:
      out.reason_string = property.text;
      break;
    default:
      break;
  }
}

void store_flag(Properties& out, PropertyId id, bool value) noexcept {
  switch (id) {
    case PropertyId::payload_format:
      out.payload_format = value ? 1 : 0;
      break;
    case PropertyId::maximum_qos:
      out.maximum_qos = value ? 1 : 0;
      break;
    case PropertyId::request_problem_information:
      out.request_problem_information = value;
      break;
    case PropertyId::request_response_information:
      out.request_response_information = value;
      break;
    case PropertyId::retain_available:
      out.retain_available = value;
      break;
    case PropertyId::wildcard_subscription_available:
      out.wildcard_subscription_available = value;
      break;
    case PropertyId::subscription_identifier_available:
      out.subscription_identifier_available = value;
      break;
    default:
      out.shared_subscription_available = value;
      break;
  }
}

void store_number(Properties& out, const Property& property) noexcept {
  const auto half = static_cast<std::uint16_t>(property.number);
  switch (property.id) {
    case PropertyId::message_expiry:
      out.message_expiry = property.number;
      break;
    case PropertyId::subscription_identifier:
      if (!out.subscription_identifier) out.subscription_identifier = property.number;
      break;
    case PropertyId::session_expiry:
      out.session_expiry = property.number;
      break;
    case PropertyId::will_delay:
      out.will_delay = property.number;
      break;
    case PropertyId::maximum_packet_size:
      out.maximum_packet_size = property.number;
      break;
    case PropertyId::server_keep_alive:
      out.server_keep_alive = half;
      break;
    case PropertyId::receive_maximum:
      out.receive_maximum = half;
      break;
    case PropertyId::topic_alias_maximum:
      out.topic_alias_maximum = half;
      break;
    default:
      out.topic_alias = half;
      break;
  }
}

void store(Properties& out, const Property& property) noexcept {
  switch (rules_by_id[static_cast<std::uint8_t>(property.id)].kind) {
    case Kind::flag:
      return store_flag(out, property.id, property.number != 0);
    case Kind::string:
    case Kind::binary:
      return store_text(out, property);
    default:
      return store_number(out, property);
  }
}

Properties parse_block(Cursor& in, std::uint32_t packet) noexcept {
  Properties out;
  out.raw = in.view(in.varint());
  if (in.failed()) return out;
  Cursor block(out.raw);
  std::uint64_t seen = 0;
  while (block.left() > 0 && !block.failed()) {
    const Property property = read_one(block, packet);
    if (block.failed()) break;
    if (property.id == PropertyId::user_property) continue;  // any number of them; in `raw`
    // Among the others only the subscription identifiers of a PUBLISH may be repeated.
    const std::uint64_t mark = std::uint64_t{1} << static_cast<std::uint8_t>(property.id);
    const bool many =
        property.id == PropertyId::subscription_identifier && packet == bit(PacketType::publish);
    if ((seen & mark) != 0 && !many) {
      block.fail("property comes twice", ReasonCode::protocol_error);
    }
    seen |= mark;
    if (property.number == 0) refuse_zero(block, property.id);
    store(out, property);
  }
  if (block.failed()) in.fail(block.error().text, block.error().code);
  if (out.authentication_data && !out.authentication_method) {
    in.fail("Authentication Data without Authentication Method", ReasonCode::protocol_error);
  }
  return out;
}

std::size_t skip_size(Kind kind, ByteReader& in) noexcept {
  switch (kind) {
    case Kind::u16:
      return 2;
    case Kind::u32:
      return 4;
    case Kind::string:
    case Kind::binary:
      return in.u16();
    case Kind::varint:
      while ((in.u8() & 0x80) != 0) {
      }
      return 0;
    default:
      return 1;
  }
}

}  // namespace

UserProperties::Iterator& UserProperties::Iterator::operator++() noexcept {
  ByteReader in(rest_);
  while (in.left() > 0) {
    const std::uint8_t id = in.u8();
    if (static_cast<PropertyId>(id) == PropertyId::user_property) {
      current_.name = in.view(in.u16());
      current_.value = in.view(in.u16());
      rest_ = in.failed() ? std::string_view{} : rest_.substr(in.position());
      end_ = in.failed();
      return *this;
    }
    in.view(skip_size(id < rules_by_id.size() ? rules_by_id[id].kind : Kind::none, in));
    if (in.failed()) break;
  }
  end_ = true;
  return *this;
}

std::optional<std::string_view> UserProperties::find(std::string_view name) const noexcept {
  for (const UserProperty& property : *this) {
    if (property.name == name) return property.value;
  }
  return std::nullopt;
}

Properties Properties::parse(Cursor& in, PacketType packet) noexcept {
  return parse_block(in, bit(packet));
}
Properties Properties::parse_will(Cursor& in) noexcept { return parse_block(in, in_will); }

void Properties::encode(ByteWriter& out) const {
  write_varint(out, raw.size());
  out.bytes(raw);
}
std::size_t Properties::encoded_size() const noexcept {
  return varint_size(raw.size()) + raw.size();
}

void PropertyWriter::byte(PropertyId id, std::uint8_t value) {
  out_.u8(static_cast<std::uint8_t>(id));
  out_.u8(value);
}
void PropertyWriter::u16(PropertyId id, std::uint16_t value) {
  out_.u8(static_cast<std::uint8_t>(id));
  out_.u16(value);
}
void PropertyWriter::u32(PropertyId id, std::uint32_t value) {
  out_.u8(static_cast<std::uint8_t>(id));
  out_.u32(value);
}
void PropertyWriter::varint(PropertyId id, std::uint32_t value) {
  out_.u8(static_cast<std::uint8_t>(id));
  write_varint(out_, value);
}
void PropertyWriter::text(PropertyId id, std::string_view value) {
  out_.u8(static_cast<std::uint8_t>(id));
  write_string(out_, value);
}
void PropertyWriter::user(std::string_view name, std::string_view value) {
  out_.u8(static_cast<std::uint8_t>(PropertyId::user_property));
  write_string(out_, name);
  write_string(out_, value);
}

}  // namespace sheaf::protocol::mqtt5
