// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/requests.h"

#include "protocol/memcached/packet_parts.h"

namespace sheaf::protocol::memcached {
namespace {

struct Shape {
  std::size_t extras = 0;
  bool key = false;
  bool value = false;
  bool cas = false;
};

std::optional<PacketError> check(const Parts& parts, const Shape& shape) {
  if (parts.extras.size() != shape.extras || parts.header.vbucket_or_status != 0) {
    return PacketError::bad_shape;
  }
  if (!shape.key && !parts.key.empty()) return PacketError::bad_shape;
  if (shape.key && !good_key(parts.key.size())) return PacketError::bad_key_length;
  if (!shape.value && !parts.value.empty()) return PacketError::bad_shape;
  if (!shape.cas && parts.header.cas != 0) return PacketError::bad_shape;
  return std::nullopt;
}

Header header_of(Opcode opcode, std::uint32_t opaque, std::uint64_t cas = 0) {
  Header header;
  header.opcode = opcode;
  header.opaque = opaque;
  header.cas = cas;
  return header;
}

Encoded write_keyed(ByteWriter& out, const Header& header, std::size_t extras, std::string_view key,
                    std::uint64_t value_length = 0) {
  if (!good_key(key.size())) return std::unexpected(PacketError::bad_key_length);
  return write_header(out, header, extras, key, value_length);
}

bool is_bare(Opcode opcode) noexcept {
  return is_of(opcode, Family::bare) || opcode == Opcode::version || opcode == Opcode::sasl_list;
}

bool is_login(Opcode opcode) noexcept {
  return opcode == Opcode::sasl_auth || opcode == Opcode::sasl_step;
}

bool touches(Opcode opcode) noexcept {
  return is_of(opcode, Family::touch) || is_of(opcode, Family::get_and_touch);
}

}  // namespace

Encoded GetRequest::encode(ByteWriter& out) const {
  if (!is_of(opcode, Family::get)) return std::unexpected(PacketError::wrong_opcode);
  if (auto written = write_keyed(out, header_of(opcode, opaque), 0, key); !written) return written;
  out.bytes(key);
  return {};
}

Parsed<GetRequest> GetRequest::parse(ByteReader& in) {
  return take<GetRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<GetRequest> {
    const Header& header = parts.header;
    if (!is_of(header.opcode, Family::get)) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check(parts, {.key = true})) return std::unexpected(*error);
    return GetRequest{header.opcode, header.opaque, parts.key};
  });
}

Encoded TouchRequest::encode(ByteWriter& out) const {
  if (!touches(opcode)) return std::unexpected(PacketError::wrong_opcode);
  const Header header = header_of(opcode, opaque);
  if (auto written = write_keyed(out, header, extra_size, key); !written) return written;
  out.u32(expiry);
  out.bytes(key);
  return {};
}

Parsed<TouchRequest> TouchRequest::parse(ByteReader& in) {
  return take<TouchRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<TouchRequest> {
    const Header& header = parts.header;
    if (!touches(header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check(parts, {.extras = extra_size, .key = true})) {
      return std::unexpected(*error);
    }
    return TouchRequest{header.opcode, header.opaque, ByteReader(parts.extras).u32(), parts.key};
  });
}

Encoded SetRequest::encode_head(ByteWriter& out) const {
  if (!is_of(opcode, Family::store)) return std::unexpected(PacketError::wrong_opcode);
  const Header header = header_of(opcode, opaque, cas);
  if (auto written = write_keyed(out, header, extra_size, key, value.size()); !written) {
    return written;
  }
  out.u32(flags);
  out.u32(expiry);
  out.bytes(key);
  return {};
}

Encoded SetRequest::encode(ByteWriter& out) const {
  if (auto written = encode_head(out); !written) return written;
  out.bytes(value);
  return {};
}

Parsed<SetRequest> SetRequest::parse(ByteReader& in) {
  return take<SetRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<SetRequest> {
    const Header& header = parts.header;
    if (!is_of(header.opcode, Family::store)) return std::unexpected(PacketError::wrong_opcode);
    const Shape shape{.extras = extra_size, .key = true, .value = true, .cas = true};
    if (auto error = check(parts, shape)) return std::unexpected(*error);
    ByteReader extras(parts.extras);
    const std::uint32_t flags = extras.u32();
    return SetRequest{header.opcode, header.opaque, header.cas, flags,
                      extras.u32(),  parts.key,     parts.value};
  });
}

Encoded AppendRequest::encode_head(ByteWriter& out) const {
  if (!is_of(opcode, Family::append)) return std::unexpected(PacketError::wrong_opcode);
  const Header header = header_of(opcode, opaque, cas);
  if (auto written = write_keyed(out, header, 0, key, value.size()); !written) return written;
  out.bytes(key);
  return {};
}

Encoded AppendRequest::encode(ByteWriter& out) const {
  if (auto written = encode_head(out); !written) return written;
  out.bytes(value);
  return {};
}

Parsed<AppendRequest> AppendRequest::parse(ByteReader& in) {
  return take<AppendRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<AppendRequest> {
    const Header& header = parts.header;
    if (!is_of(header.opcode, Family::append)) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check(parts, {.key = true, .value = true, .cas = true})) {
      return std::unexpected(*error);
    }
    return AppendRequest{header.opcode, header.opaque, header.cas, parts.key, parts.value};
  });
}

Encoded RemoveRequest::encode(ByteWriter& out) const {
  if (!is_of(opcode, Family::remove)) return std::unexpected(PacketError::wrong_opcode);
  const Header header = header_of(opcode, opaque, cas);
  if (auto written = write_keyed(out, header, 0, key); !written) return written;
  out.bytes(key);
  return {};
}

Parsed<RemoveRequest> RemoveRequest::parse(ByteReader& in) {
  return take<RemoveRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<RemoveRequest> {
    const Header& header = parts.header;
    if (!is_of(header.opcode, Family::remove)) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check(parts, {.key = true, .cas = true})) return std::unexpected(*error);
    return RemoveRequest{header.opcode, header.opaque, header.cas, parts.key};
  });
}

Encoded ArithmeticRequest::encode(ByteWriter& out) const {
  if (!is_of(opcode, Family::arithmetic)) return std::unexpected(PacketError::wrong_opcode);
  const Header header = header_of(opcode, opaque, cas);
  if (auto written = write_keyed(out, header, extra_size, key); !written) return written;
  out.u64(delta);
  out.u64(initial);
  out.u32(expiry);
  out.bytes(key);
  return {};
}

Parsed<ArithmeticRequest> ArithmeticRequest::parse(ByteReader& in) {
  const auto build = [](const Parts& parts) -> Parsed<ArithmeticRequest> {
    const Header& header = parts.header;
    if (!is_of(header.opcode, Family::arithmetic)) {
      return std::unexpected(PacketError::wrong_opcode);
    }
    if (auto error = check(parts, {.extras = extra_size, .key = true, .cas = true})) {
      return std::unexpected(*error);
    }
    ArithmeticRequest request;
    request.opcode = header.opcode;
    request.opaque = header.opaque;
    request.cas = header.cas;
    ByteReader extras(parts.extras);
    request.delta = extras.u64();
    request.initial = extras.u64();
    request.expiry = extras.u32();
    request.key = parts.key;
    return request;
  };
  return take<ArithmeticRequest>(in, Magic::request, build);
}

Encoded BareRequest::encode(ByteWriter& out) const {
  if (!is_bare(opcode)) return std::unexpected(PacketError::wrong_opcode);
  return write_header(out, header_of(opcode, opaque), 0, {}, 0);
}

Parsed<BareRequest> BareRequest::parse(ByteReader& in) {
  return take<BareRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<BareRequest> {
    if (!is_bare(parts.header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check(parts, {})) return std::unexpected(*error);
    return BareRequest{parts.header.opcode, parts.header.opaque};
  });
}

Encoded FlushRequest::encode(ByteWriter& out) const {
  if (!is_of(opcode, Family::flush)) return std::unexpected(PacketError::wrong_opcode);
  const std::size_t extras = expiry ? 4 : 0;
  if (auto written = write_header(out, header_of(opcode, opaque), extras, {}, 0); !written) {
    return written;
  }
  if (expiry) out.u32(*expiry);
  return {};
}

Parsed<FlushRequest> FlushRequest::parse(ByteReader& in) {
  return take<FlushRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<FlushRequest> {
    const Header& header = parts.header;
    if (!is_of(header.opcode, Family::flush)) return std::unexpected(PacketError::wrong_opcode);
    const bool later = !parts.extras.empty();
    if (auto error = check(parts, {.extras = later ? 4u : 0u})) return std::unexpected(*error);
    FlushRequest request{header.opcode, header.opaque, {}};
    if (later) request.expiry = ByteReader(parts.extras).u32();
    return request;
  });
}

Encoded StatRequest::encode(ByteWriter& out) const {
  if (group.size() > max_key_length) return std::unexpected(PacketError::bad_key_length);
  if (auto written = write_header(out, header_of(Opcode::stat, opaque), 0, group, 0); !written) {
    return written;
  }
  out.bytes(group);
  return {};
}

Parsed<StatRequest> StatRequest::parse(ByteReader& in) {
  return take<StatRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<StatRequest> {
    if (parts.header.opcode != Opcode::stat) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check(parts, {.key = !parts.key.empty()})) return std::unexpected(*error);
    return StatRequest{parts.header.opaque, parts.key};
  });
}

Encoded SaslRequest::encode(ByteWriter& out) const {
  if (!is_login(opcode)) return std::unexpected(PacketError::wrong_opcode);
  if (mechanism.empty() || mechanism.size() > max_mechanism) {
    return std::unexpected(PacketError::bad_key_length);
  }
  const Header header = header_of(opcode, opaque);
  if (auto written = write_header(out, header, 0, mechanism, data.size()); !written) return written;
  out.bytes(mechanism);
  out.bytes(data);
  return {};
}

Parsed<SaslRequest> SaslRequest::parse(ByteReader& in) {
  return take<SaslRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<SaslRequest> {
    const Header& header = parts.header;
    if (!is_login(header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check(parts, {.key = true, .value = true})) return std::unexpected(*error);
    if (parts.key.size() > max_mechanism) return std::unexpected(PacketError::bad_key_length);
    return SaslRequest{header.opcode, header.opaque, parts.key, parts.value};
  });
}

namespace {

template <class Packet>
Parsed<AnyRequest> parse_request_as(ByteReader& in) {
  auto packet = Packet::parse(in);
  if (!packet) return std::unexpected(packet.error());
  return AnyRequest(*packet);
}

}  // namespace

Parsed<AnyRequest> parse_request(ByteReader& in) {
  ByteReader ahead = in;
  const auto header = Header::parse(ahead, Magic::request);
  if (!header) return std::unexpected(header.error());
  const auto family = family_of(header->opcode);
  if (!family) return std::unexpected(PacketError::unknown_opcode);
  switch (*family) {
    case Family::get:
      return parse_request_as<GetRequest>(in);
    case Family::touch:
    case Family::get_and_touch:
      return parse_request_as<TouchRequest>(in);
    case Family::store:
      return parse_request_as<SetRequest>(in);
    case Family::append:
      return parse_request_as<AppendRequest>(in);
    case Family::remove:
      return parse_request_as<RemoveRequest>(in);
    case Family::arithmetic:
      return parse_request_as<ArithmeticRequest>(in);
    case Family::bare:
    case Family::version:
      return parse_request_as<BareRequest>(in);
    case Family::flush:
      return parse_request_as<FlushRequest>(in);
    case Family::stat:
      return parse_request_as<StatRequest>(in);
    case Family::sasl:
      return is_login(header->opcode) ? parse_request_as<SaslRequest>(in)
                                      : parse_request_as<BareRequest>(in);
  }
  return std::unexpected(PacketError::unknown_opcode);
}

}  // namespace sheaf::protocol::memcached
