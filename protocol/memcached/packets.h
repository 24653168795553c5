#pragma once

// memcached's binary protocol: a header of 24 bytes, then extras, key and value; numbers are
// big-endian. One struct for each request and each reply of get, set (with add and replace), delete
// and no-op. The structs are views into the caller's bytes.
//
// parse() takes one whole packet from the front of the reader. On any error the reader has not
// moved; PacketError::incomplete asks for more bytes, every other error means that the framing is
// lost. encode() appends one packet; on an error nothing has been written.
//
// Thread rule: plain values.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/byte_reader.h"
#include "base/byte_writer.h"

namespace sheaf::protocol::memcached {

inline constexpr std::size_t max_key_length = 250;
inline constexpr std::uint32_t max_body_length = 1u
                                                 << 30;  // the server ends the connection above it

enum class Magic : std::uint8_t { request = 0x80, reply = 0x81 };

enum class Opcode : std::uint8_t {
  get = 0x00,
  set = 0x01,
  add = 0x02,
  replace = 0x03,
  remove = 0x04,
  no_op = 0x0a
};

enum class Status : std::uint16_t {
  success = 0x0000,
  key_not_found = 0x0001,
  key_exists = 0x0002,
  value_too_large = 0x0003,
  invalid_arguments = 0x0004,  // the server closes after it
  not_stored = 0x0005,
  non_numeric = 0x0006,
  wrong_vbucket = 0x0007,
  auth_error = 0x0020,
  auth_continue = 0x0021,
  unknown_command = 0x0081,
  out_of_memory = 0x0082,
  not_supported = 0x0083,
  internal_error = 0x0084,
  busy = 0x0085,
  temporary_failure = 0x0086
};
std::string_view to_string(Status status) noexcept;

enum class PacketError : std::uint8_t {
  incomplete,            // not an error of the peer: more bytes are needed
  bad_magic,             // the stream is not where we think it is
  too_many_connections,  // the server's text line in place of a binary reply
  bad_lengths,           // key and extras do not fit into the body
  body_too_long,
  bad_key_length,  // 1 to 250 where a key belongs
  unknown_opcode,
  wrong_opcode,  // a packet of another kind than the one asked for
  bad_shape      // extras, key, value or reserved fields that this packet cannot have
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
  std::uint32_t opaque = 0;             // comes back unchanged: pairs a reply with its request
  std::uint64_t cas = 0;

  void encode(ByteWriter& out) const;
  // Checks magic and lengths, so that the body may be waited for; the opcode may be any.
  static Parsed<Header> parse(ByteReader& in, Magic magic);

  std::uint32_t value_length() const noexcept {
    return total_body_length - key_length - extra_length;
  }
  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(sizeof(Header) == Header::wire_size && std::is_trivially_copyable_v<Header>);
static_assert(offsetof(Header, vbucket_or_status) == 6 && offsetof(Header, opaque) == 12 &&
              offsetof(Header, cas) == 16);

// ---- requests

struct GetRequest {
  std::uint32_t opaque = 0;
  std::string_view key{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<GetRequest> parse(ByteReader& in);
  friend bool operator==(const GetRequest&, const GetRequest&) = default;
};

struct SetRequest {
  static constexpr std::uint8_t extra_size = 8;

  Opcode opcode = Opcode::set;  // or add, replace
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;  // not 0: only if the item still has this version
  std::uint32_t flags = 0;
  // 0: never expires; to 30 days: seconds from now; above: seconds since the Unix epoch.
  std::uint32_t expiry = 0;
  std::string_view key{};
  std::string_view value{};

  Encoded encode(ByteWriter& out) const;
  // All but the value, which the caller sends behind it without a copy.
  Encoded encode_head(ByteWriter& out) const;
  static Parsed<SetRequest> parse(ByteReader& in);
  friend bool operator==(const SetRequest&, const SetRequest&) = default;
};

struct RemoveRequest {
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;  // not 0: only if the item still has this version
  std::string_view key{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<RemoveRequest> parse(ByteReader& in);
  friend bool operator==(const RemoveRequest&, const RemoveRequest&) = default;
};

// Its reply shows that everything before it has been answered.
struct NoOpRequest {
  std::uint32_t opaque = 0;

  Encoded encode(ByteWriter& out) const;
  static Parsed<NoOpRequest> parse(ByteReader& in);
  friend bool operator==(const NoOpRequest&, const NoOpRequest&) = default;
};

// ---- replies. With any status but success, `text` holds the server's words and nothing else came.

struct GetReply {
  static constexpr std::uint8_t extra_size = 4;

  Status status = Status::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::uint32_t flags = 0;
  std::string_view value{};
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<GetReply> parse(ByteReader& in);
  friend bool operator==(const GetReply&, const GetReply&) = default;
};

struct SetReply {
  Opcode opcode = Opcode::set;  // as in the request
  Status status = Status::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;  // the new version
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<SetReply> parse(ByteReader& in);
  friend bool operator==(const SetReply&, const SetReply&) = default;
};

struct RemoveReply {
  Status status = Status::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<RemoveReply> parse(ByteReader& in);
  friend bool operator==(const RemoveReply&, const RemoveReply&) = default;
};

struct NoOpReply {
  Status status = Status::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<NoOpReply> parse(ByteReader& in);
  friend bool operator==(const NoOpReply&, const NoOpReply&) = default;
};

using Request = std::variant<GetRequest, SetRequest, RemoveRequest, NoOpRequest>;
using Reply = std::variant<GetReply, SetReply, RemoveReply, NoOpReply>;

// One packet of whichever kind its opcode says, by the table of opcodes in packets.cpp.
Parsed<Request> parse_request(ByteReader& in);
Parsed<Reply> parse_reply(ByteReader& in);

}  // namespace sheaf::protocol::memcached
