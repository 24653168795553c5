// PUBLISH, PUBACK, PINGREQ, PINGRESP.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>

#include "protocol/mqtt5/packets.h"
#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

// True once all bytes before the payload are in `body`, or if they clearly never will be: then
// parsing what is there fails, instead of waiting for a packet of any size.
bool head_is_buffered(const Frame& frame, std::string_view body) noexcept {
  const std::size_t body_size = frame.total_size - frame.header_size;
  Cursor in(body);
  const std::uint16_t topic_size = in.u16();
  if (in.failed()) return false;
  if (topic_size > body_size) return true;
  in.view(topic_size);
  if (((frame.flags >> 1) & 3) != 0) in.u16();
  if (in.failed()) return false;
  Cursor length(body.substr(in.position(), 4));  // four bytes decide the property length
  const std::uint32_t properties = length.varint();
  if (length.failed()) return in.left() >= 4;
  const std::size_t head_size = in.position() + length.position() + properties;
  return head_size > body_size || head_size <= body.size();
}

void check_topic(Cursor& in, const Publish& publish) noexcept {
  if (publish.topic.empty() && !publish.properties.topic_alias) {
    in.fail("PUBLISH without a topic", ReasonCode::protocol_error);
  }
  if (has_wildcard(publish.topic)) {
    in.fail("topic holds a wildcard", ReasonCode::topic_name_invalid);
  }
}

}  // namespace

Parsed<std::optional<Publish>> Publish::parse_head(const Frame& frame,
                                                   std::string_view buffered) noexcept {
  const std::string_view body =
      buffered.substr(0, frame.total_size).substr(std::min(frame.header_size, buffered.size()));
  const bool whole = buffered.size() >= frame.total_size;
  if (!whole && !head_is_buffered(frame, body)) return std::nullopt;

  Cursor in(body);
  Publish publish;
  publish.dup = (frame.flags & 8) != 0;
  publish.qos = (frame.flags >> 1) & 3;
  publish.retain = (frame.flags & 1) != 0;
  publish.topic = in.string();
  if (publish.qos > 0) {
    publish.packet_id = in.u16();
    if (publish.packet_id == 0) in.fail("packet identifier is 0", ReasonCode::protocol_error);
  }
  publish.properties = Properties::parse(in, PacketType::publish);
  check_topic(in, publish);
  publish.payload = in.rest();
  if (in.failed()) return std::unexpected(in.error());
  return publish;
}

Parsed<Publish> Publish::parse(const Frame& frame, std::string_view packet) noexcept {
  auto head = parse_head(frame, packet);
  if (!head) return std::unexpected(head.error());
  if (!*head) {
    return std::unexpected(ParseError{ReasonCode::malformed_packet, "packet ends too early"});
  }
  return **head;
}

std::size_t Publish::encoded_size(std::size_t properties_size,
                                  std::size_t payload_size) const noexcept {
  const std::size_t body = 2 + topic.size() + (qos > 0 ? 2 : 0) + varint_size(properties_size) +
                           properties_size + payload_size;
  return 1 + varint_size(body) + body;
}

void Publish::encode_head(ByteWriter& out, std::size_t properties_size,
                          std::size_t payload_size) const {
  const std::size_t body = 2 + topic.size() + (qos > 0 ? 2 : 0) + varint_size(properties_size) +
                           properties_size + payload_size;
  const unsigned first = static_cast<unsigned>(PacketType::publish) << 4 | (dup ? 8U : 0U) |
                         static_cast<unsigned>(qos << 1) | (retain ? 1U : 0U);
  out.u8(static_cast<std::uint8_t>(first));
  write_varint(out, body);
  write_string(out, topic);
  if (qos > 0) out.u16(packet_id);
  write_varint(out, properties_size);
}

void Publish::encode(ByteWriter& out) const {
  encode_head(out, properties.raw.size(), payload.size());
  out.bytes(properties.raw);
  out.bytes(payload);
}

Parsed<Puback> Puback::parse(const Frame& frame, std::string_view packet) noexcept {
  Cursor in(packet.substr(frame.header_size));
  Puback puback;
  puback.packet_id = in.u16();
  if (puback.packet_id == 0) in.fail("packet identifier is 0", ReasonCode::protocol_error);
  if (in.left() > 0) puback.code = static_cast<ReasonCode>(in.u8());
  if (in.left() > 0) puback.properties = Properties::parse(in, PacketType::puback);
  in.refuse_rest();
  if (in.failed()) return std::unexpected(in.error());
  return puback;
}

void Puback::encode(ByteWriter& out) const {
  out.u8(static_cast<unsigned>(PacketType::puback) << 4);
  if (!properties.raw.empty()) {
    write_varint(out, 3 + properties.encoded_size());
    out.u16(packet_id);
    out.u8(static_cast<std::uint8_t>(code));
    return properties.encode(out);
  }
  const bool plain = code == ReasonCode::success;  // section 3.4.2.1: two bytes mean the same
  out.u8(plain ? 2 : 3);
  out.u16(packet_id);
  if (!plain) out.u8(static_cast<std::uint8_t>(code));
}

namespace {

template <class Packet>
Parsed<Packet> parse_empty(const Frame& frame, std::string_view packet) noexcept {
  Cursor in(packet.substr(frame.header_size));
  in.refuse_rest();
  if (in.failed()) return std::unexpected(in.error());
  return Packet{};
}

}  // namespace

Parsed<Pingreq> Pingreq::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_empty<Pingreq>(frame, packet);
}
void Pingreq::encode(ByteWriter& out) const {
  out.u8(static_cast<unsigned>(PacketType::pingreq) << 4);
  out.u8(0);
}

Parsed<Pingresp> Pingresp::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_empty<Pingresp>(frame, packet);
}
void Pingresp::encode(ByteWriter& out) const {
  out.u8(static_cast<unsigned>(PacketType::pingresp) << 4);
  out.u8(0);
}

}  // namespace sheaf::protocol::mqtt5
