#pragma once

// Replies of memcached's binary protocol, one struct for each shape. As in requests.h, they are
// views into the caller's bytes, parse() moves the reader only on success, and encode() writes all
// or nothing.
//
// With any status except success, `text` holds the server's text and there is nothing else; only
// reads that return the key have the key then, and no text.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <variant>

#include "protocol/memcached/header.h"

namespace sheaf::protocol::memcached {

// For get and get-and-touch.
struct GetReply {
  static constexpr std::uint8_t extra_size = 4;

  Opcode opcode = Opcode::get;
  StatusCode status = StatusCode::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::uint32_t flags = 0;
  std::string_view key{};
  std::string_view value{};
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<GetReply> parse(ByteReader& in);
  friend bool operator==(const GetReply&, const GetReply&) = default;
};

struct TouchReply {
  static constexpr std::uint8_t extra_size = 4;

  StatusCode status = StatusCode::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::uint32_t flags = 0;
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<TouchReply> parse(ByteReader& in);
  friend bool operator==(const TouchReply&, const TouchReply&) = default;
};

// For set, add, replace, append, prepend, delete, no-op, quit, flush: only the new version.
struct PlainReply {
  Opcode opcode = Opcode::set;
  StatusCode status = StatusCode::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<PlainReply> parse(ByteReader& in);
  friend bool operator==(const PlainReply&, const PlainReply&) = default;
};

struct ArithmeticReply {
  Opcode opcode = Opcode::increment;
  StatusCode status = StatusCode::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::uint64_t number = 0;
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<ArithmeticReply> parse(ByteReader& in);
  friend bool operator==(const ArithmeticReply&, const ArithmeticReply&) = default;
};

// For version and SASL: a text with every status.
struct TextReply {
  Opcode opcode = Opcode::version;
  StatusCode status = StatusCode::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::string_view text{};

  Encoded encode(ByteWriter& out) const;
  static Parsed<TextReply> parse(ByteReader& in);
  friend bool operator==(const TextReply&, const TextReply&) = default;
};

// One of many statistics; the last reply has neither name nor value.
struct StatReply {
  StatusCode status = StatusCode::success;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;
  std::string_view name{};
  std::string_view value{};
  std::string_view text{};

  bool last() const noexcept { return name.empty() && value.empty(); }
  Encoded encode(ByteWriter& out) const;
  static Parsed<StatReply> parse(ByteReader& in);
  friend bool operator==(const StatReply&, const StatReply&) = default;
};

using AnyReply =
    std::variant<GetReply, TouchReply, PlainReply, ArithmeticReply, TextReply, StatReply>;

// Parses one packet of the kind that its opcode says.
Parsed<AnyReply> parse_reply(ByteReader& in);

}  // namespace sheaf::protocol::memcached
