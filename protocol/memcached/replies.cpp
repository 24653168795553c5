// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/replies.h"

#include "protocol/memcached/packet_parts.h"

namespace sheaf::protocol::memcached {
namespace {

Header header_of(Opcode opcode, StatusCode status, std::uint32_t opaque, std::uint64_t cas) {
  Header header;
  header.magic = Magic::reply;
  header.opcode = opcode;
  header.vbucket_or_status = static_cast<std::uint16_t>(status);
  header.opaque = opaque;
  header.cas = cas;
  return header;
}

bool succeeded(const Parts& parts) noexcept { return parts.header.status() == StatusCode::success; }

// Only a success has extras; neither it nor a failure has a key.
bool has_parts(const Parts& parts, std::size_t extras) noexcept {
  return parts.key.empty() && parts.extras.size() == (succeeded(parts) ? extras : 0);
}

Encoded write_text(ByteWriter& out, const Header& header, std::string_view text) {
  if (auto written = write_header(out, header, 0, {}, text.size()); !written) return written;
  out.bytes(text);
  return {};
}

bool reads(Opcode opcode) noexcept {
  return is_of(opcode, Family::get) || is_of(opcode, Family::get_and_touch);
}

bool is_plain(Opcode opcode) noexcept {
  return is_of(opcode, Family::store) || is_of(opcode, Family::append) ||
         is_of(opcode, Family::remove) || is_of(opcode, Family::bare) ||
         is_of(opcode, Family::flush);
}

bool is_text(Opcode opcode) noexcept {
  return is_of(opcode, Family::version) || is_of(opcode, Family::sasl);
}

// True if a reply with this opcode and status can have these parts.
bool fits(const GetReply& reply) noexcept {
  const bool good = reply.status == StatusCode::success;
  if (good && !reply.text.empty()) return false;
  if (!good && (!reply.value.empty() || reply.flags != 0)) return false;
  if (!returns_key(reply.opcode)) return reply.key.empty();
  if (good) return good_key(reply.key.size());
  return reply.key.empty() || (reply.text.empty() && good_key(reply.key.size()));
}

}  // namespace

Encoded GetReply::encode(ByteWriter& out) const {
  if (!reads(opcode)) return std::unexpected(PacketError::wrong_opcode);
  if (!fits(*this)) return std::unexpected(PacketError::bad_shape);
  const bool good = status == StatusCode::success;
  const std::size_t rest = good ? value.size() : text.size();
  const Header header = header_of(opcode, status, opaque, cas);
  if (auto written = write_header(out, header, good ? extra_size : 0, key, rest); !written) {
    return written;
  }
  if (good) out.u32(flags);
  out.bytes(key);
  out.bytes(good ? value : text);
  return {};
}

Parsed<GetReply> GetReply::parse(ByteReader& in) {
  return take<GetReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<GetReply> {
    const Header& header = parts.header;
    if (!reads(header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    const bool good = succeeded(parts);
    if (parts.extras.size() != (good ? extra_size : 0)) {
      return std::unexpected(PacketError::bad_shape);
    }
    GetReply reply{header.opcode, header.status(), header.opaque, header.cas, 0, parts.key, {}, {}};
    (good ? reply.value : reply.text) = parts.value;
    if (good) reply.flags = ByteReader(parts.extras).u32();
    if (!fits(reply)) return std::unexpected(PacketError::bad_shape);
    return reply;
  });
}

Encoded TouchReply::encode(ByteWriter& out) const {
  const Header header = header_of(Opcode::touch, status, opaque, cas);
  const bool good = status == StatusCode::success;
  if (good ? !text.empty() : flags != 0) return std::unexpected(PacketError::bad_shape);
  if (!good) return write_text(out, header, text);
  if (auto written = write_header(out, header, extra_size, {}, 0); !written) return written;
  out.u32(flags);
  return {};
}

Parsed<TouchReply> TouchReply::parse(ByteReader& in) {
  return take<TouchReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<TouchReply> {
    const Header& header = parts.header;
    if (header.opcode != Opcode::touch) return std::unexpected(PacketError::wrong_opcode);
    if (!has_parts(parts, extra_size) || (succeeded(parts) && !parts.value.empty())) {
      return std::unexpected(PacketError::bad_shape);
    }
    return TouchReply{header.status(), header.opaque, header.cas, ByteReader(parts.extras).u32(),
                      parts.value};
  });
}

Encoded PlainReply::encode(ByteWriter& out) const {
  if (!is_plain(opcode)) return std::unexpected(PacketError::wrong_opcode);
  if (status == StatusCode::success && !text.empty()) {
    return std::unexpected(PacketError::bad_shape);
  }
  return write_text(out, header_of(opcode, status, opaque, cas), text);
}

Parsed<PlainReply> PlainReply::parse(ByteReader& in) {
  return take<PlainReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<PlainReply> {
    const Header& header = parts.header;
    if (!is_plain(header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    if (!has_parts(parts, 0) || (succeeded(parts) && !parts.value.empty())) {
      return std::unexpected(PacketError::bad_shape);
    }
    return PlainReply{header.opcode, header.status(), header.opaque, header.cas, parts.value};
  });
}

Encoded ArithmeticReply::encode(ByteWriter& out) const {
  if (!is_of(opcode, Family::arithmetic)) return std::unexpected(PacketError::wrong_opcode);
  const Header header = header_of(opcode, status, opaque, cas);
  const bool good = status == StatusCode::success;
  if (good ? !text.empty() : number != 0) return std::unexpected(PacketError::bad_shape);
  if (!good) return write_text(out, header, text);
  if (auto written = write_header(out, header, 0, {}, sizeof number); !written) return written;
  out.u64(number);
  return {};
}

Parsed<ArithmeticReply> ArithmeticReply::parse(ByteReader& in) {
  return take<ArithmeticReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<ArithmeticReply> {
    const Header& header = parts.header;
    if (!is_of(header.opcode, Family::arithmetic)) {
      return std::unexpected(PacketError::wrong_opcode);
    }
    const bool good = succeeded(parts);
    if (!has_parts(parts, 0) || (good && parts.value.size() != sizeof number)) {
      return std::unexpected(PacketError::bad_shape);
    }
    ArithmeticReply reply{header.opcode, header.status(), header.opaque, header.cas, 0, {}};
    if (good) {
      reply.number = ByteReader(parts.value).u64();
    } else {
      reply.text = parts.value;
    }
    return reply;
  });
}

Encoded TextReply::encode(ByteWriter& out) const {
  if (!is_text(opcode)) return std::unexpected(PacketError::wrong_opcode);
  return write_text(out, header_of(opcode, status, opaque, cas), text);
}

Parsed<TextReply> TextReply::parse(ByteReader& in) {
  return take<TextReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<TextReply> {
    const Header& header = parts.header;
    if (!is_text(header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    if (!has_parts(parts, 0)) return std::unexpected(PacketError::bad_shape);
    return TextReply{header.opcode, header.status(), header.opaque, header.cas, parts.value};
  });
}

Encoded StatReply::encode(ByteWriter& out) const {
  const bool good = status == StatusCode::success;
  if (good ? !text.empty() : !last()) return std::unexpected(PacketError::bad_shape);
  if (name.size() > max_key_length) return std::unexpected(PacketError::bad_key_length);
  const Header header = header_of(Opcode::stat, status, opaque, cas);
  if (!good) return write_text(out, header, text);
  if (auto written = write_header(out, header, 0, name, value.size()); !written) return written;
  out.bytes(name);
  out.bytes(value);
  return {};
}

Parsed<StatReply> StatReply::parse(ByteReader& in) {
  return take<StatReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<StatReply> {
    const Header& header = parts.header;
    if (header.opcode != Opcode::stat) return std::unexpected(PacketError::wrong_opcode);
    if (!parts.extras.empty()) return std::unexpected(PacketError::bad_shape);
    if (parts.key.size() > max_key_length) return std::unexpected(PacketError::bad_key_length);
    StatReply reply{header.status(), header.opaque, header.cas, parts.key, {}, {}};
    if (succeeded(parts)) {
      reply.value = parts.value;
    } else if (parts.key.empty()) {
      reply.text = parts.value;
    } else {
      return std::unexpected(PacketError::bad_shape);
    }
    return reply;
  });
}

namespace {

template <class Packet>
Parsed<AnyReply> parse_reply_as(ByteReader& in) {
  auto packet = Packet::parse(in);
  if (!packet) return std::unexpected(packet.error());
  return AnyReply(*packet);
}

}  // namespace

Parsed<AnyReply> parse_reply(ByteReader& in) {
  ByteReader ahead = in;
  const auto header = Header::parse(ahead, Magic::reply);
  if (!header) return std::unexpected(header.error());
  const auto family = family_of(header->opcode);
  if (!family) return std::unexpected(PacketError::unknown_opcode);
  switch (*family) {
    case Family::get:
    case Family::get_and_touch:
      return parse_reply_as<GetReply>(in);
    case Family::touch:
      return parse_reply_as<TouchReply>(in);
    case Family::store:
    case Family::append:
    case Family::remove:
    case Family::bare:
    case Family::flush:
      return parse_reply_as<PlainReply>(in);
    case Family::arithmetic:
      return parse_reply_as<ArithmeticReply>(in);
    case Family::version:
    case Family::sasl:
      return parse_reply_as<TextReply>(in);
    case Family::stat:
      return parse_reply_as<StatReply>(in);
  }
  return std::unexpected(PacketError::unknown_opcode);
}

}  // namespace sheaf::protocol::memcached
