#pragma once

// The lines of memcached's meta protocol: requests are structs that append themselves, replies are
// read from one line without its end. Every request except mn has an opaque, in hexadecimal.
//
// A key with blanks or control characters is sent as base64, flag `b`. encode() checks nothing:
// keys and numbers have already been checked (check_meta_key, expiry_of).
//
// Thread rule: plain values; views into the caller's bytes.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_writer.h"

namespace sheaf::protocol::memcached {

// The longest lines: of a request around its value, and of a reply that we read.
inline constexpr std::size_t max_request_line = 512;
inline constexpr std::size_t max_reply_line = 8 * 1024;
// The largest value that a server can have.
inline constexpr std::size_t max_value_size = 1u << 30;

// mg: reads, touches, or both.
struct MetaGet {
  std::string_view key;
  std::uint32_t opaque = 0;
  bool value = true;                     // else only whether it exists
  std::optional<std::uint32_t> touch{};  // the new time to live
  std::optional<std::uint32_t> lease{};  // on a miss: makes a stub that lives this many seconds
  bool ttl = false;                      // also asks how long it lives

  void encode(ByteWriter& out) const;
};

// ms. The value and a line end follow.
struct MetaSet {
  enum class Mode : char { set = 'S', add = 'E', replace = 'R', append = 'A', prepend = 'P' };

  std::string_view key;
  std::size_t size = 0;
  std::uint32_t opaque = 0;
  Mode mode = Mode::set;
  std::uint32_t flags = 0;
  std::uint32_t expiry = 0;
  std::uint64_t cas = 0;  // not 0: only if the item still has this version

  void encode(ByteWriter& out) const;
};

struct MetaRemove {
  std::string_view key;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;

  void encode(ByteWriter& out) const;
};

struct MetaArithmetic {
  std::string_view key;
  std::uint32_t opaque = 0;
  bool decrement = false;
  std::uint64_t delta = 1;
  std::optional<std::uint64_t> initial{};  // a new item's number, to which `delta` is not added
  std::uint32_t expiry = 0;                // a new item's expiry

  void encode(ByteWriter& out) const;
};

// Everything about an item, for people. Before the server's 1.6.18 its reply has no opaque.
struct MetaDebug {
  std::string_view key;

  void encode(ByteWriter& out) const;
};

inline constexpr std::string_view meta_no_op = "mn\r\n";
inline constexpr std::string_view line_end = "\r\n";

// A line of the server, parsed as far as we asked for its contents.
struct ReplyLine {
  enum class Code : std::uint8_t {
    ok,            // HD
    value,         // VA: `size` bytes and a line end follow
    miss,          // EN
    not_found,     // NF
    not_stored,    // NS
    exists,        // EX
    no_op,         // MN
    debug,         // ME
    version,       // the rest is in `text`, as for all below
    stat,          // STAT
    end,           // END
    stored,        // STORED
    error,         // ERROR
    client_error,  // CLIENT_ERROR
    server_error,  // SERVER_ERROR
    other          // anything else
  };

  Code code = Code::other;
  std::size_t size = 0;
  std::optional<std::uint32_t> opaque{};
  std::optional<std::uint64_t> cas{};
  std::optional<std::uint32_t> flags{};
  bool tells_ttl = false;              // t
  std::optional<std::uint32_t> ttl{};  // seconds left; none: it never expires
  bool won = false;                    // W: the right to compute the value
  bool taken = false;                  // Z: another client has it
  bool stale = false;                  // X
  std::string_view text{};

  bool is_error() const noexcept {
    return code == Code::error || code == Code::client_error || code == Code::server_error;
  }

  // Nothing if a number is missing, malformed or repeated. Unknown flags are skipped.
  static std::optional<ReplyLine> parse(std::string_view line) noexcept;
};

// The part after VALUE in the answer to `gets`: KEY FLAGS SIZE CAS.
struct ListedHead {
  std::string_view key;
  std::uint32_t flags = 0;
  std::size_t size = 0;
  std::uint64_t cas = 0;

  static std::optional<ListedHead> parse(std::string_view text) noexcept;
};

}  // namespace sheaf::protocol::memcached
