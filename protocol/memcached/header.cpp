// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/header.h"

#include <algorithm>

namespace sheaf::protocol::memcached {
namespace {

// At its limit of connections the server sends this text, even to clients that speak binary, and
// then closes.
constexpr std::string_view too_many = "ERROR Too many open connections";

}  // namespace

std::optional<Family> family_of(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::get:
    case Opcode::get_quiet:
    case Opcode::get_key:
    case Opcode::get_key_quiet:
      return Family::get;
    case Opcode::touch:
      return Family::touch;
    case Opcode::get_and_touch:
    case Opcode::get_and_touch_quiet:
    case Opcode::get_and_touch_key:
    case Opcode::get_and_touch_key_quiet:
      return Family::get_and_touch;
    case Opcode::set:
    case Opcode::set_quiet:
    case Opcode::add:
    case Opcode::add_quiet:
    case Opcode::replace:
    case Opcode::replace_quiet:
      return Family::store;
    case Opcode::append:
    case Opcode::append_quiet:
    case Opcode::prepend:
    case Opcode::prepend_quiet:
      return Family::append;
    case Opcode::remove:
    case Opcode::remove_quiet:
      return Family::remove;
    case Opcode::increment:
    case Opcode::increment_quiet:
    case Opcode::decrement:
    case Opcode::decrement_quiet:
      return Family::arithmetic;
    case Opcode::no_op:
    case Opcode::quit:
    case Opcode::quit_quiet:
      return Family::bare;
    case Opcode::flush:
    case Opcode::flush_quiet:
      return Family::flush;
    case Opcode::version:
      return Family::version;
    case Opcode::stat:
      return Family::stat;
    case Opcode::sasl_list:
    case Opcode::sasl_auth:
    case Opcode::sasl_step:
      return Family::sasl;
  }
  return std::nullopt;
}

bool returns_key(Opcode opcode) noexcept {
  return opcode == Opcode::get_key || opcode == Opcode::get_key_quiet ||
         opcode == Opcode::get_and_touch_key || opcode == Opcode::get_and_touch_key_quiet;
}

std::string_view to_string(StatusCode status) noexcept {
  switch (status) {
    case StatusCode::success:
      return "success";
    case StatusCode::key_not_found:
      return "key not found";
    case StatusCode::key_exists:
      return "key exists";
    case StatusCode::value_too_large:
      return "value too large";
    case StatusCode::invalid_arguments:
      return "invalid arguments";
    case StatusCode::not_stored:
      return "not stored";
    case StatusCode::non_numeric:
      return "not a number";
    case StatusCode::wrong_vbucket:
      return "wrong vbucket";
    case StatusCode::auth_error:
      return "authentication failed";
    case StatusCode::auth_continue:
      return "authentication continues";
    case StatusCode::unknown_command:
      return "unknown command";
    case StatusCode::out_of_memory:
      return "out of memory";
    case StatusCode::not_supported:
      return "not supported";
    case StatusCode::internal_error:
      return "internal error";
    case StatusCode::busy:
      return "busy";
    case StatusCode::temporary_failure:
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

}  // namespace sheaf::protocol::memcached
