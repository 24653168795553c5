#pragma once

// The header of memcached's binary protocol: 24 bytes before extras, key and value, with big-endian
// numbers. Also opcodes, status codes, and the families of opcodes.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/memcached_limits.h"

namespace sheaf::protocol::memcached {

using memcached_limits::max_key_length;
inline constexpr std::uint32_t max_body_length =
    1u << 30;  // the server closes the connection above it

enum class Magic : std::uint8_t { request = 0x80, reply = 0x81 };

// The opcodes that memcached itself implements. No others are ever sent: after an unknown opcode a
// server skips the beginning of the next request.
enum class Opcode : std::uint8_t {
  get = 0x00,
  set = 0x01,
  add = 0x02,
  replace = 0x03,
  remove = 0x04,
  increment = 0x05,
  decrement = 0x06,
  quit = 0x07,
  flush = 0x08,
  get_quiet = 0x09,
  no_op = 0x0a,
  version = 0x0b,
  get_key = 0x0c,
  get_key_quiet = 0x0d,
  append = 0x0e,
  prepend = 0x0f,
  stat = 0x10,
  set_quiet = 0x11,
  add_quiet = 0x12,
  replace_quiet = 0x13,
  remove_quiet = 0x14,
  increment_quiet = 0x15,
  decrement_quiet = 0x16,
  quit_quiet = 0x17,
  flush_quiet = 0x18,
  append_quiet = 0x19,
  prepend_quiet = 0x1a,
  touch = 0x1c,
  get_and_touch = 0x1d,
  get_and_touch_quiet = 0x1e,
  sasl_list = 0x20,
  sasl_auth = 0x21,
  sasl_step = 0x22,
  get_and_touch_key = 0x23,
  get_and_touch_key_quiet = 0x24
};

// Opcodes whose packets have the same parts.
enum class Family : std::uint8_t {
  get,            // request: key; reply: flags, value, with the key or without
  touch,          // request: expiry, key; reply: flags
  get_and_touch,  // request: expiry, key; reply: as get
  store,          // request: flags, expiry, key, value; reply: nothing
  append,         // request: key, value; reply: nothing
  remove,         // request: key; reply: nothing
  arithmetic,     // request: delta, initial, expiry, key; reply: the number
  bare,           // no-op, quit: nothing in both directions
  flush,          // request: delay or nothing; reply: nothing
  version,        // reply: a text
  stat,           // request: a group or nothing; reply: many pairs of name and value
  sasl            // list: nothing; auth and step: mechanism and data; reply: a text
};
// Returns nothing for an opcode that this client does not use.
std::optional<Family> family_of(Opcode opcode) noexcept;
// True if the reply of a read contains the key.
bool returns_key(Opcode opcode) noexcept;

enum class StatusCode : std::uint16_t {
  success = 0x0000,
  key_not_found = 0x0001,
  key_exists = 0x0002,
  value_too_large = 0x0003,
  invalid_arguments = 0x0004,  // the server closes after it
  not_stored = 0x0005,
  non_numeric = 0x0006,
  wrong_vbucket = 0x0007,
  auth_error = 0x0020,  // before log-in the server closes after it
  auth_continue = 0x0021,
  unknown_command = 0x0081,
  out_of_memory = 0x0082,
  not_supported = 0x0083,
  internal_error = 0x0084,
  busy = 0x0085,
  temporary_failure = 0x0086
};
std::string_view to_string(StatusCode status) noexcept;

enum class PacketError : std::uint8_t {
  incomplete,            // not an error of the peer: more bytes are needed
  bad_magic,             // we have lost our place in the stream
  too_many_connections,  // the server's text line instead of a binary reply
  bad_lengths,           // key and extras do not fit in the body
  body_too_long,
  bad_key_length,  // a key must have 1 to 250 bytes
  unknown_opcode,
  wrong_opcode,  // a packet of another kind than the requested one
  bad_shape      // extras, key, value or reserved fields that this packet must not have
};
std::string_view to_string(PacketError error) noexcept;

template <class T>
using Parsed = std::expected<T, PacketError>;
using Encoded = std::expected<void, PacketError>;

// The header, field by field as on the wire.
struct Header {
  static constexpr std::size_t wire_size = 24;

  Magic magic = Magic::request;
  Opcode opcode = Opcode::get;
  std::uint16_t key_length = 0;
  std::uint8_t extra_length = 0;
  std::uint8_t data_type = 0;
  std::uint16_t vbucket_or_status = 0;  // request: vbucket, always 0; reply: status
  std::uint32_t total_body_length = 0;  // extras + key + value
  std::uint32_t opaque = 0;             // returned unchanged: pairs a reply with its request
  std::uint64_t cas = 0;

  void encode(ByteWriter& out) const;
  // Checks magic and lengths, so that it is safe to wait for the body; accepts any opcode.
  static Parsed<Header> parse(ByteReader& in, Magic magic);

  StatusCode status() const noexcept { return static_cast<StatusCode>(vbucket_or_status); }
  std::uint32_t value_length() const noexcept {
    return total_body_length - key_length - extra_length;
  }
  std::size_t packet_length() const noexcept { return wire_size + total_body_length; }
  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(sizeof(Header) == Header::wire_size && std::is_trivially_copyable_v<Header>);
static_assert(offsetof(Header, vbucket_or_status) == 6 && offsetof(Header, opaque) == 12 &&
              offsetof(Header, cas) == 16);

}  // namespace sheaf::protocol::memcached
