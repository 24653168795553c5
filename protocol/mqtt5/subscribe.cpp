// SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/mqtt5/packets.h"
#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

// SUBSCRIBE and UNSUBSCRIBE carry flags 2 (section 2.1.3).
void begin(ByteWriter& out, PacketType type, unsigned flags, std::uint16_t packet_id,
           const Properties& properties, std::size_t payload_size) {
  out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(type) << 4 | flags));
  write_varint(out, 2 + properties.encoded_size() + payload_size);
  out.u16(packet_id);
  properties.encode(out);
}

std::uint16_t read_packet_id(Cursor& in) noexcept {
  const std::uint16_t id = in.u16();
  if (id == 0) in.fail("packet identifier is 0", ReasonCode::protocol_error);
  return id;
}

std::string_view read_filter(Cursor& in) noexcept {
  const std::string_view filter = in.string();
  if (filter.empty()) in.fail("topic filter is empty");  // section 4.7.3
  return filter;
}

Subscription read_subscription(Cursor& in) noexcept {
  Subscription entry;
  entry.filter = read_filter(in);
  const std::uint8_t options = in.u8();
  entry.qos = options & 3;
  entry.no_local = (options & 4) != 0;
  entry.retain_as_published = (options & 8) != 0;
  entry.retain_handling = (options >> 4) & 3;
  if (entry.qos == 3 || entry.retain_handling == 3) {
    in.fail("subscription option is out of range", ReasonCode::protocol_error);
  }
  if ((options & 0xC0) != 0) in.fail("reserved subscription option is set");
  return entry;
}

template <class Packet>
Parsed<Packet> parse_answer(const Frame& frame, std::string_view packet) noexcept {
  Cursor in(packet.substr(frame.header_size));
  Packet answer;
  answer.packet_id = read_packet_id(in);
  answer.properties = Properties::parse(in, frame.type);
  answer.codes = in.rest();
  if (answer.codes.empty()) in.fail("answer without a reason code", ReasonCode::protocol_error);
  if (in.failed()) return std::unexpected(in.error());
  return answer;
}

// Reads all entries with `read_entry` to check them; iterating reads them a second time.
template <class Packet, class ReadEntry>
Parsed<Packet> parse_request(const Frame& frame, std::string_view packet,
                             ReadEntry read_entry) noexcept {
  Cursor in(packet.substr(frame.header_size));
  Packet request;
  request.packet_id = read_packet_id(in);
  request.properties = Properties::parse(in, frame.type);
  const std::string_view entries = packet.substr(frame.header_size + in.position());
  if (entries.empty()) in.fail("request without a topic filter", ReasonCode::protocol_error);
  while (in.left() > 0 && !in.failed()) read_entry(in);
  if (in.failed()) return std::unexpected(in.error());
  request.entries = decltype(request.entries)(entries);
  return request;
}

}  // namespace

template <>
EntryList<Subscription>::Iterator& EntryList<Subscription>::Iterator::operator++() noexcept {
  end_ = rest_.empty();
  if (end_) return *this;
  Cursor in(rest_);
  current_ = read_subscription(in);
  rest_.remove_prefix(in.position());
  return *this;
}

template <>
EntryList<std::string_view>::Iterator&
EntryList<std::string_view>::Iterator::operator++() noexcept {
  end_ = rest_.empty();
  if (end_) return *this;
  Cursor in(rest_);
  current_ = in.string();
  rest_.remove_prefix(in.position());
  return *this;
}

void Subscription::encode(ByteWriter& out) const {
  write_string(out, filter);
  const unsigned options = qos | (no_local ? 4U : 0U) | (retain_as_published ? 8U : 0U) |
                           static_cast<unsigned>(retain_handling << 4);
  out.u8(static_cast<std::uint8_t>(options));
}

Parsed<Subscribe> Subscribe::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_request<Subscribe>(frame, packet, read_subscription);
}
void Subscribe::encode(ByteWriter& out) const {
  begin(out, PacketType::subscribe, 2, packet_id, properties, entries.raw().size());
  out.bytes(entries.raw());
}

Parsed<Suback> Suback::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_answer<Suback>(frame, packet);
}
void Suback::encode(ByteWriter& out) const {
  begin(out, PacketType::suback, 0, packet_id, properties, codes.size());
  out.bytes(codes);
}

Parsed<Unsubscribe> Unsubscribe::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_request<Unsubscribe>(frame, packet, read_filter);
}
void Unsubscribe::encode_filter(ByteWriter& out, std::string_view filter) {
  write_string(out, filter);
}
void Unsubscribe::encode(ByteWriter& out) const {
  begin(out, PacketType::unsubscribe, 2, packet_id, properties, entries.raw().size());
  out.bytes(entries.raw());
}

Parsed<Unsuback> Unsuback::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_answer<Unsuback>(frame, packet);
}
void Unsuback::encode(ByteWriter& out) const {
  begin(out, PacketType::unsuback, 0, packet_id, properties, codes.size());
  out.bytes(codes);
}

}  // namespace sheaf::protocol::mqtt5
