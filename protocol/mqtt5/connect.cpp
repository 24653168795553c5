// CONNECT, CONNACK, DISCONNECT, AUTH: how a connection begins and ends.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/mqtt5/packets.h"
#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

constexpr std::string_view protocol_name = "MQTT";
constexpr std::uint8_t protocol_level = 5;

// Bits of the connect flags, section 3.1.2.3.
constexpr std::uint8_t reserved_flag = 1;
constexpr std::uint8_t clean_start_flag = 2;
constexpr std::uint8_t will_flag = 4;
constexpr std::uint8_t will_retain_flag = 32;
constexpr std::uint8_t password_flag = 64;
constexpr std::uint8_t user_flag = 128;

std::uint8_t flags_of(const Connect& connect) noexcept {
  unsigned flags = 0;
  if (connect.clean_start) flags |= clean_start_flag;
  if (connect.will) {
    flags |= will_flag | static_cast<unsigned>(connect.will->qos << 3);
    if (connect.will->retain) flags |= will_retain_flag;
  }
  if (connect.password) flags |= password_flag;
  if (connect.user) flags |= user_flag;
  return static_cast<std::uint8_t>(flags);
}

void check_flags(Cursor& in, std::uint8_t flags) noexcept {
  const unsigned qos = (flags >> 3) & 3U;
  if ((flags & reserved_flag) != 0) in.fail("reserved connect flag is set");
  if (qos == 3) in.fail("will with QoS 3");
  if ((flags & will_flag) == 0 && (qos != 0 || (flags & will_retain_flag) != 0)) {
    in.fail("will flags without a will");
  }
}

Connect::Will parse_will(Cursor& in, std::uint8_t flags) noexcept {
  Connect::Will will;
  will.qos = (flags >> 3) & 3;
  will.retain = (flags & will_retain_flag) != 0;
  will.properties = Properties::parse_will(in);
  will.topic = in.string();
  will.payload = in.binary();
  return will;
}

// The body of DISCONNECT and AUTH: reason code and properties, which may both be missing.
template <class Packet>
Parsed<Packet> parse_short(const Frame& frame, std::string_view packet) noexcept {
  Cursor in(packet.substr(frame.header_size));
  Packet parsed;
  if (in.left() > 0) parsed.code = static_cast<ReasonCode>(in.u8());
  if (in.left() > 0) parsed.properties = Properties::parse(in, frame.type);
  in.refuse_rest();
  if (in.failed()) return std::unexpected(in.error());
  return parsed;
}

void encode_short(ByteWriter& out, PacketType type, ReasonCode code, const Properties& properties) {
  out.u8(static_cast<std::uint8_t>(static_cast<unsigned>(type) << 4));
  write_varint(out, 1 + properties.encoded_size());
  out.u8(static_cast<std::uint8_t>(code));
  properties.encode(out);
}

}  // namespace

Parsed<Connect> Connect::parse(const Frame& frame, std::string_view packet) noexcept {
  Cursor in(packet.substr(frame.header_size));
  Connect connect;
  const std::string_view name = in.string();
  if (!in.failed() && name != protocol_name) {
    in.fail("protocol name is not MQTT", ReasonCode::unsupported_protocol_version);
  }
  const std::uint8_t version = in.u8();
  if (!in.failed() && version != protocol_level) {
    in.fail("protocol version is not 5", ReasonCode::unsupported_protocol_version);
  }
  const std::uint8_t flags = in.u8();
  check_flags(in, flags);
  connect.clean_start = (flags & clean_start_flag) != 0;
  connect.keep_alive = in.u16();
  connect.properties = Properties::parse(in, PacketType::connect);
  connect.client_id = in.string();
  if ((flags & will_flag) != 0) connect.will = parse_will(in, flags);
  if ((flags & user_flag) != 0) connect.user = in.string();
  if ((flags & password_flag) != 0) connect.password = in.binary();
  in.refuse_rest();
  if (in.failed()) return std::unexpected(in.error());
  return connect;
}

void Connect::encode(ByteWriter& out) const {
  const auto string_size = [](std::string_view text) { return 2 + text.size(); };
  std::size_t size =
      string_size(protocol_name) + 4 + properties.encoded_size() + string_size(client_id);
  if (will) {
    size += will->properties.encoded_size() + string_size(will->topic) + string_size(will->payload);
  }
  if (user) size += string_size(*user);
  if (password) size += string_size(*password);

  out.u8(static_cast<unsigned>(PacketType::connect) << 4);
  write_varint(out, size);
  write_string(out, protocol_name);
  out.u8(protocol_level);
  out.u8(flags_of(*this));
  out.u16(keep_alive);
  properties.encode(out);
  write_string(out, client_id);
  if (will) {
    will->properties.encode(out);
    write_string(out, will->topic);
    write_string(out, will->payload);
  }
  if (user) write_string(out, *user);
  if (password) write_string(out, *password);
}

Parsed<Connack> Connack::parse(const Frame& frame, std::string_view packet) noexcept {
  Cursor in(packet.substr(frame.header_size));
  Connack connack;
  const std::uint8_t flags = in.u8();
  if (flags > 1) in.fail("reserved acknowledge flag is set");
  connack.session_present = flags != 0;
  connack.code = static_cast<ReasonCode>(in.u8());
  connack.properties = Properties::parse(in, PacketType::connack);
  in.refuse_rest();
  if (in.failed()) return std::unexpected(in.error());
  return connack;
}

void Connack::encode(ByteWriter& out) const {
  out.u8(static_cast<unsigned>(PacketType::connack) << 4);
  write_varint(out, 2 + properties.encoded_size());
  out.u8(session_present ? 1 : 0);
  out.u8(static_cast<std::uint8_t>(code));
  properties.encode(out);
}

Parsed<Disconnect> Disconnect::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_short<Disconnect>(frame, packet);
}
void Disconnect::encode(ByteWriter& out) const {
  encode_short(out, PacketType::disconnect, code, properties);
}

Parsed<Auth> Auth::parse(const Frame& frame, std::string_view packet) noexcept {
  return parse_short<Auth>(frame, packet);
}
void Auth::encode(ByteWriter& out) const { encode_short(out, PacketType::auth, code, properties); }

}  // namespace sheaf::protocol::mqtt5
