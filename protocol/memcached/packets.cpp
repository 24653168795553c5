#include "protocol/memcached/packets.h"

#include <algorithm>
#include <array>
#include <optional>

namespace sheaf::protocol::memcached {
namespace {

// Sent in text, and followed by the end of the connection, when the server's limit is reached: also
// to clients that speak binary.
constexpr std::string_view too_many = "ERROR Too many open connections";

bool takes_value(Opcode opcode) noexcept {
  return opcode == Opcode::set || opcode == Opcode::add || opcode == Opcode::replace;
}

bool good_key(std::size_t length) noexcept { return length >= 1 && length <= max_key_length; }

// A packet cut into its parts.
struct Parts {
  Header header;
  std::string_view extras;
  std::string_view key;
  std::string_view value;
};

// Reads a whole packet from a copy of the reader; the caller moves its own only on success.
Parsed<Parts> read_parts(ByteReader& in, Magic magic) {
  const auto header = Header::parse(in, magic);
  if (!header) return std::unexpected(header.error());
  if (in.left() < header->total_body_length) return std::unexpected(PacketError::incomplete);
  if (header->data_type != 0) return std::unexpected(PacketError::bad_shape);
  Parts parts{*header, {}, {}, {}};
  parts.extras = in.view(header->extra_length);
  parts.key = in.view(header->key_length);
  parts.value = in.view(header->value_length());
  return parts;
}

// Runs `build` on the parts of the packet and moves the reader behind it if all is well.
template <class T, class Build>
Parsed<T> take(ByteReader& in, Magic magic, Build build) {
  ByteReader ahead = in;
  const auto parts = read_parts(ahead, magic);
  if (!parts) return std::unexpected(parts.error());
  Parsed<T> packet = build(*parts);
  if (packet) in = ahead;
  return packet;
}

struct Shape {
  std::size_t extras = 0;
  bool key = false;
  bool value = false;
  bool cas = false;
};

std::optional<PacketError> check_request(const Parts& parts, const Shape& shape) {
  if (parts.extras.size() != shape.extras || parts.header.vbucket_or_status != 0) {
    return PacketError::bad_shape;
  }
  if (!shape.key && !parts.key.empty()) return PacketError::bad_shape;
  if (shape.key && !good_key(parts.key.size())) return PacketError::bad_key_length;
  if (!shape.value && !parts.value.empty()) return PacketError::bad_shape;
  if (!shape.cas && parts.header.cas != 0) return PacketError::bad_shape;
  return std::nullopt;
}

// Success carries what its kind has; a failure carries a text and nothing else.
std::optional<PacketError> check_reply(const Parts& parts, std::size_t extras, bool value) {
  const bool success = parts.header.vbucket_or_status == 0;
  if (!parts.key.empty()) return PacketError::bad_shape;
  if (parts.extras.size() != (success ? extras : 0)) return PacketError::bad_shape;
  if (success && !value && !parts.value.empty()) return PacketError::bad_shape;
  return std::nullopt;
}

std::uint64_t body_length(std::size_t extras, std::string_view key, std::uint64_t rest) noexcept {
  return extras + key.size() + rest;
}

Encoded write(ByteWriter& out, Header header, std::size_t extras, std::string_view key,
              std::uint64_t rest) {
  if (body_length(extras, key, rest) > max_body_length) {
    return std::unexpected(PacketError::body_too_long);
  }
  header.extra_length = static_cast<std::uint8_t>(extras);
  header.key_length = static_cast<std::uint16_t>(key.size());
  header.total_body_length = static_cast<std::uint32_t>(body_length(extras, key, rest));
  header.encode(out);
  return {};
}

Encoded write_request(ByteWriter& out, const Header& header, std::size_t extras,
                      std::string_view key, std::uint64_t value_length) {
  if (header.opcode != Opcode::no_op && !good_key(key.size())) {
    return std::unexpected(PacketError::bad_key_length);
  }
  return write(out, header, extras, key, value_length);
}

Header reply_header(Opcode opcode, Status status, std::uint32_t opaque, std::uint64_t cas) {
  Header header;
  header.magic = Magic::reply;
  header.opcode = opcode;
  header.vbucket_or_status = static_cast<std::uint16_t>(status);
  header.opaque = opaque;
  header.cas = cas;
  return header;
}

Header request_header(Opcode opcode, std::uint32_t opaque, std::uint64_t cas) {
  Header header;
  header.opcode = opcode;
  header.opaque = opaque;
  header.cas = cas;
  return header;
}

Status status_of(const Header& header) noexcept {
  return static_cast<Status>(header.vbucket_or_status);
}

// Replies that carry nothing on success.
Encoded write_plain(ByteWriter& out, const Header& header, Status status, std::string_view text) {
  if (status == Status::success && !text.empty()) return std::unexpected(PacketError::bad_shape);
  if (auto written = write(out, header, 0, {}, text.size()); !written) return written;
  out.bytes(text);
  return {};
}

}  // namespace

std::string_view to_string(Status status) noexcept {
  switch (status) {
    case Status::success:
      return "success";
    case Status::key_not_found:
      return "key not found";
    case Status::key_exists:
      return "key exists";
    case Status::value_too_large:
      return "value too large";
    case Status::invalid_arguments:
      return "invalid arguments";
    case Status::not_stored:
      return "not stored";
    case Status::non_numeric:
      return "not a number";
    case Status::wrong_vbucket:
      return "wrong vbucket";
    case Status::auth_error:
      return "authentication failed";
    case Status::auth_continue:
      return "authentication goes on";
    case Status::unknown_command:
      return "unknown command";
    case Status::out_of_memory:
      return "out of memory";
    case Status::not_supported:
      return "not supported";
    case Status::internal_error:
      return "internal error";
    case Status::busy:
      return "busy";
    case Status::temporary_failure:
      return "temporary failure";
  }
  return "unknown status";
}

std::string_view to_string(PacketError error) noexcept {
  switch (error) {
    case PacketError::incomplete:
      return "the packet is not complete";
    case PacketError::bad_magic:
      return "the packet does not begin with its magic byte";
    case PacketError::too_many_connections:
      return "the server has too many open connections";
    case PacketError::bad_lengths:
      return "key and extras are longer than the body";
    case PacketError::body_too_long:
      return "the body is longer than 1 GiB";
    case PacketError::bad_key_length:
      return "a key must have 1 to 250 bytes";
    case PacketError::unknown_opcode:
      return "unknown opcode";
    case PacketError::wrong_opcode:
      return "the opcode is that of another packet";
    case PacketError::bad_shape:
      return "the packet has parts that its opcode does not have";
  }
  return "unknown error";
}

// ---- header

void Header::encode(ByteWriter& out) const {
  out.u8(static_cast<std::uint8_t>(magic));
  out.u8(static_cast<std::uint8_t>(opcode));
  out.u16(key_length);
  out.u8(extra_length);
  out.u8(data_type);
  out.u16(vbucket_or_status);
  out.u32(total_body_length);
  out.u32(opaque);
  out.u64(cas);
}

Parsed<Header> Header::parse(ByteReader& in, Magic magic) {
  ByteReader ahead = in;
  const std::string_view seen = ByteReader(ahead).view(std::min(ahead.left(), too_many.size()));
  if (magic == Magic::reply && !seen.empty() && too_many.starts_with(seen)) {
    const bool whole = seen.size() == too_many.size();
    return std::unexpected(whole ? PacketError::too_many_connections : PacketError::incomplete);
  }
  if (!seen.empty() &&
      static_cast<std::uint8_t>(seen.front()) != static_cast<std::uint8_t>(magic)) {
    return std::unexpected(PacketError::bad_magic);
  }
  if (ahead.left() < wire_size) return std::unexpected(PacketError::incomplete);
  Header header;
  header.magic = static_cast<Magic>(ahead.u8());
  header.opcode = static_cast<Opcode>(ahead.u8());
  header.key_length = ahead.u16();
  header.extra_length = ahead.u8();
  header.data_type = ahead.u8();
  header.vbucket_or_status = ahead.u16();
  header.total_body_length = ahead.u32();
  header.opaque = ahead.u32();
  header.cas = ahead.u64();
  if (header.total_body_length > max_body_length) {
    return std::unexpected(PacketError::body_too_long);
  }
  if (header.total_body_length < std::uint32_t{header.key_length} + header.extra_length) {
    return std::unexpected(PacketError::bad_lengths);
  }
  in = ahead;
  return header;
}

// ---- requests

Encoded GetRequest::encode(ByteWriter& out) const {
  const Header header = request_header(Opcode::get, opaque, 0);
  if (auto written = write_request(out, header, 0, key, 0); !written) return written;
  out.bytes(key);
  return {};
}

Parsed<GetRequest> GetRequest::parse(ByteReader& in) {
  return take<GetRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<GetRequest> {
    if (parts.header.opcode != Opcode::get) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check_request(parts, {.key = true})) return std::unexpected(*error);
    return GetRequest{parts.header.opaque, parts.key};
  });
}

Encoded SetRequest::encode_head(ByteWriter& out) const {
  if (!takes_value(opcode)) return std::unexpected(PacketError::wrong_opcode);
  const Header header = request_header(opcode, opaque, cas);
  if (auto written = write_request(out, header, extra_size, key, value.size()); !written) {
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
    if (!takes_value(parts.header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    const Shape shape{.extras = extra_size, .key = true, .value = true, .cas = true};
    if (auto error = check_request(parts, shape)) return std::unexpected(*error);
    SetRequest request;
    request.opcode = parts.header.opcode;
    request.opaque = parts.header.opaque;
    request.cas = parts.header.cas;
    ByteReader extras(parts.extras);
    request.flags = extras.u32();
    request.expiry = extras.u32();
    request.key = parts.key;
    request.value = parts.value;
    return request;
  });
}

Encoded RemoveRequest::encode(ByteWriter& out) const {
  const Header header = request_header(Opcode::remove, opaque, cas);
  if (auto written = write_request(out, header, 0, key, 0); !written) return written;
  out.bytes(key);
  return {};
}

Parsed<RemoveRequest> RemoveRequest::parse(ByteReader& in) {
  return take<RemoveRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<RemoveRequest> {
    if (parts.header.opcode != Opcode::remove) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check_request(parts, {.key = true, .cas = true})) {
      return std::unexpected(*error);
    }
    return RemoveRequest{parts.header.opaque, parts.header.cas, parts.key};
  });
}

Encoded NoOpRequest::encode(ByteWriter& out) const {
  return write_request(out, request_header(Opcode::no_op, opaque, 0), 0, {}, 0);
}

Parsed<NoOpRequest> NoOpRequest::parse(ByteReader& in) {
  return take<NoOpRequest>(in, Magic::request, [](const Parts& parts) -> Parsed<NoOpRequest> {
    if (parts.header.opcode != Opcode::no_op) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check_request(parts, {})) return std::unexpected(*error);
    return NoOpRequest{parts.header.opaque};
  });
}

// ---- replies

Encoded GetReply::encode(ByteWriter& out) const {
  const Header header = reply_header(Opcode::get, status, opaque, cas);
  if (status != Status::success) {
    if (!value.empty() || flags != 0) return std::unexpected(PacketError::bad_shape);
    return write_plain(out, header, status, text);
  }
  if (!text.empty()) return std::unexpected(PacketError::bad_shape);
  if (auto written = write(out, header, extra_size, {}, value.size()); !written) return written;
  out.u32(flags);
  out.bytes(value);
  return {};
}

Parsed<GetReply> GetReply::parse(ByteReader& in) {
  return take<GetReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<GetReply> {
    if (parts.header.opcode != Opcode::get) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check_reply(parts, extra_size, true)) return std::unexpected(*error);
    GetReply reply;
    reply.status = status_of(parts.header);
    reply.opaque = parts.header.opaque;
    reply.cas = parts.header.cas;
    if (reply.status == Status::success) {
      reply.flags = ByteReader(parts.extras).u32();
      reply.value = parts.value;
    } else {
      reply.text = parts.value;
    }
    return reply;
  });
}

Encoded SetReply::encode(ByteWriter& out) const {
  if (!takes_value(opcode)) return std::unexpected(PacketError::wrong_opcode);
  return write_plain(out, reply_header(opcode, status, opaque, cas), status, text);
}

Parsed<SetReply> SetReply::parse(ByteReader& in) {
  return take<SetReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<SetReply> {
    if (!takes_value(parts.header.opcode)) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check_reply(parts, 0, false)) return std::unexpected(*error);
    return SetReply{parts.header.opcode, status_of(parts.header), parts.header.opaque,
                    parts.header.cas, parts.value};
  });
}

Encoded RemoveReply::encode(ByteWriter& out) const {
  return write_plain(out, reply_header(Opcode::remove, status, opaque, cas), status, text);
}

Parsed<RemoveReply> RemoveReply::parse(ByteReader& in) {
  return take<RemoveReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<RemoveReply> {
    if (parts.header.opcode != Opcode::remove) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check_reply(parts, 0, false)) return std::unexpected(*error);
    return RemoveReply{status_of(parts.header), parts.header.opaque, parts.header.cas, parts.value};
  });
}

Encoded NoOpReply::encode(ByteWriter& out) const {
  return write_plain(out, reply_header(Opcode::no_op, status, opaque, cas), status, text);
}

Parsed<NoOpReply> NoOpReply::parse(ByteReader& in) {
  return take<NoOpReply>(in, Magic::reply, [](const Parts& parts) -> Parsed<NoOpReply> {
    if (parts.header.opcode != Opcode::no_op) return std::unexpected(PacketError::wrong_opcode);
    if (auto error = check_reply(parts, 0, false)) return std::unexpected(*error);
    return NoOpReply{status_of(parts.header), parts.header.opaque, parts.header.cas, parts.value};
  });
}

// ---- the table of opcodes

namespace {

template <class Packet, class Any>
Parsed<Any> parse_as(ByteReader& in) {
  auto packet = Packet::parse(in);
  if (!packet) return std::unexpected(packet.error());
  return Any(*packet);
}

struct Row {
  Opcode opcode;
  Parsed<Request> (*request)(ByteReader&);
  Parsed<Reply> (*reply)(ByteReader&);
};

template <class RequestType, class ReplyType>
constexpr Row row(Opcode opcode) {
  return {opcode, parse_as<RequestType, Request>, parse_as<ReplyType, Reply>};
}

constexpr std::array rows{
    row<GetRequest, GetReply>(Opcode::get),          row<SetRequest, SetReply>(Opcode::set),
    row<SetRequest, SetReply>(Opcode::add),          row<SetRequest, SetReply>(Opcode::replace),
    row<RemoveRequest, RemoveReply>(Opcode::remove), row<NoOpRequest, NoOpReply>(Opcode::no_op),
};

template <class Any>
Parsed<Any> parse_any(ByteReader& in, Magic magic, Parsed<Any> (*Row::*parser)(ByteReader&)) {
  ByteReader ahead = in;
  const auto header = Header::parse(ahead, magic);
  if (!header) return std::unexpected(header.error());
  for (const Row& candidate : rows) {
    if (candidate.opcode == header->opcode) return (candidate.*parser)(in);
  }
  return std::unexpected(PacketError::unknown_opcode);
}

}  // namespace

Parsed<Request> parse_request(ByteReader& in) {
  return parse_any<Request>(in, Magic::request, &Row::request);
}

Parsed<Reply> parse_reply(ByteReader& in) {
  return parse_any<Reply>(in, Magic::reply, &Row::reply);
}

}  // namespace sheaf::protocol::memcached
