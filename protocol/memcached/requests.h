#pragma once

// Requests of memcached's binary protocol, one struct for each family of opcodes. The structs are
// views into the caller's bytes.
//
// parse() takes one whole packet from the front of the reader. On any error the reader has not
// moved; PacketError::incomplete asks for more bytes, every other error means that the framing is
// lost. encode() appends one packet; on an error it has written nothing.
//
// Expiry on the wire: 0: never; to 30 days: seconds from now; above: seconds since the Unix epoch.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <variant>

#include "protocol/memcached/header.h"

namespace sheaf::protocol::memcached {

struct GetRequest {
  Opcode opcode = Opcode::get;
  std::uint32_t opaque = 0;
  std::string_view key{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<GetRequest> parse(ByteReader& in);
  friend bool operator==(const GetRequest&, const GetRequest&) = default;
};

// Touch, and get-and-touch in all its forms.
struct TouchRequest {
  static constexpr std::uint8_t extra_size = 4;

  Opcode opcode = Opcode::touch;
  std::uint32_t opaque = 0;
  std::uint32_t expiry = 0;
  std::string_view key{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<TouchRequest> parse(ByteReader& in);
  friend bool operator==(const TouchRequest&, const TouchRequest&) = default;
};

struct SetRequest {
  static constexpr std::uint8_t extra_size = 8;

  Opcode opcode = Opcode::set;  // or add, replace
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;  // not 0: only if the item still has this version
  std::uint32_t flags = 0;
  std::uint32_t expiry = 0;
  std::string_view key{};
  std::string_view value{};

  Encoded encode(ByteWriter& out) const;
  // All but the value, which the caller sends after it without a copy.
  Encoded encode_head(ByteWriter& out) const;
  static Parsed<SetRequest> parse(ByteReader& in);
  friend bool operator==(const SetRequest&, const SetRequest&) = default;
};

struct AppendRequest {
  Opcode opcode = Opcode::append;  // or prepend
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::string_view key{};
  std::string_view value{};

  Encoded encode(ByteWriter& out) const;
  Encoded encode_head(ByteWriter& out) const;
  static Parsed<AppendRequest> parse(ByteReader& in);
  friend bool operator==(const AppendRequest&, const AppendRequest&) = default;
};

struct RemoveRequest {
  Opcode opcode = Opcode::remove;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::string_view key{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<RemoveRequest> parse(ByteReader& in);
  friend bool operator==(const RemoveRequest&, const RemoveRequest&) = default;
};

struct ArithmeticRequest {
  static constexpr std::uint8_t extra_size = 20;
  static constexpr std::uint32_t do_not_create = 0xffffffff;  // as expiry

  Opcode opcode = Opcode::increment;  // or decrement
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::uint64_t delta = 1;
  std::uint64_t initial = 0;  // a new item's number, to which `delta` is not added
  std::uint32_t expiry = do_not_create;
  std::string_view key{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<ArithmeticRequest> parse(ByteReader& in);
  friend bool operator==(const ArithmeticRequest&, const ArithmeticRequest&) = default;
};

// No-op, whose reply shows that everything before it has been answered; quit; version; and the
// request for the list of SASL mechanisms.
struct BareRequest {
  Opcode opcode = Opcode::no_op;
  std::uint32_t opaque = 0;

  Encoded encode(ByteWriter& out) const;
  static Parsed<BareRequest> parse(ByteReader& in);
  friend bool operator==(const BareRequest&, const BareRequest&) = default;
};

struct FlushRequest {
  Opcode opcode = Opcode::flush;
  std::uint32_t opaque = 0;
  std::optional<std::uint32_t> expiry{};  // when to flush; nothing: now

  Encoded encode(ByteWriter& out) const;
  static Parsed<FlushRequest> parse(ByteReader& in);
  friend bool operator==(const FlushRequest&, const FlushRequest&) = default;
};

struct StatRequest {
  std::uint32_t opaque = 0;
  std::string_view group{};  // empty: general

  Encoded encode(ByteWriter& out) const;
  static Parsed<StatRequest> parse(ByteReader& in);
  friend bool operator==(const StatRequest&, const StatRequest&) = default;
};

// PLAIN: `data` is NUL, user, NUL, password.
struct SaslRequest {
  static constexpr std::size_t max_mechanism = 32;

  Opcode opcode = Opcode::sasl_auth;  // or sasl_step
  std::uint32_t opaque = 0;
  std::string_view mechanism{};
  std::string_view data{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<SaslRequest> parse(ByteReader& in);
  friend bool operator==(const SaslRequest&, const SaslRequest&) = default;
};

using AnyRequest =
    std::variant<GetRequest, TouchRequest, SetRequest, AppendRequest, RemoveRequest,
                 ArithmeticRequest, BareRequest, FlushRequest, StatRequest, SaslRequest>;

// Parses one packet of the kind that its opcode says.
Parsed<AnyRequest> parse_request(ByteReader& in);

}  // namespace sheaf::protocol::memcached
