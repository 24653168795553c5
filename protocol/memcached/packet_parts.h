#pragma once

// What requests and replies of the binary protocol share: splitting a packet into its parts, and
// writing its header. For requests.cpp and replies.cpp.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/header.h"

namespace sheaf::protocol::memcached {

struct Parts {
  Header header;
  std::string_view extras;
  std::string_view key;
  std::string_view value;
};

inline bool good_key(std::size_t length) noexcept {
  return length >= 1 && length <= max_key_length;
}

inline bool is_of(Opcode opcode, Family family) noexcept { return family_of(opcode) == family; }

// Reads a whole packet from a copy of the reader; the caller moves its own reader only on success.
inline Parsed<Parts> read_parts(ByteReader& in, Magic magic) {
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

// Runs `build` on the parts of the packet, and moves the reader past it on success.
template <class T, class Build>
Parsed<T> take(ByteReader& in, Magic magic, Build build) {
  ByteReader ahead = in;
  const auto parts = read_parts(ahead, magic);
  if (!parts) return std::unexpected(parts.error());
  Parsed<T> packet = build(*parts);
  if (packet) in = ahead;
  return packet;
}

// Writes the header of a packet with `rest` bytes after extras and key.
inline Encoded write_header(ByteWriter& out, Header header, std::size_t extras,
                            std::string_view key, std::uint64_t rest) {
  const std::uint64_t body = extras + key.size() + rest;
  if (body > max_body_length) return std::unexpected(PacketError::body_too_long);
  header.extra_length = static_cast<std::uint8_t>(extras);
  header.key_length = static_cast<std::uint16_t>(key.size());
  header.total_body_length = static_cast<std::uint32_t>(body);
  header.encode(out);
  return {};
}

}  // namespace sheaf::protocol::memcached
