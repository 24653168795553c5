#pragma once

// Messages of the DNS (RFC 1035) as far as a look-up of SRV records (RFC 2782) needs them: one
// question and its answer. An answer may come from anyone, so names are followed backwards only,
// and everything is bounded by the message.
//
// Thread rule: pure functions and plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"

namespace sheaf::discovery::dns {

// Longest name as text, without a dot at its end (RFC 1035 §2.3.4).
inline constexpr std::size_t max_name = 253;
// Longest answer over UDP to a question without EDNS (RFC 1035 §4.2.1).
inline constexpr std::size_t max_udp_message = 512;

struct SrvQuery {
  std::uint16_t id = 0;  // random, so that only those who see the question can answer it
  std::string name;      // in lower case, without a dot at its end

  // The error is one sentence without its subject, the name: "has an empty part". Parts consist of
  // letters, digits, "-" and "_"; other names are written in their ASCII form (RFC 5891).
  static std::expected<SrvQuery, std::string> of(std::string_view name, std::uint16_t id);
  void encode(ByteWriter& out) const;
};

struct SrvRecord {
  std::uint16_t priority = 0;
  std::uint16_t weight = 0;
  std::uint16_t port = 0;
  std::string target;  // in lower case, without a dot at its end; empty: "."
  friend bool operator==(const SrvRecord&, const SrvRecord&) = default;
};

// The server's verdict on the question, RFC 1035 §4.1.1.
enum class ResponseCode : std::uint8_t {
  no_error = 0,
  format_error = 1,
  server_failure = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5
};

struct SrvAnswer {
  ResponseCode code = ResponseCode::no_error;
  bool truncated = false;  // the records do not fit in the message; `records` are not read
  std::vector<SrvRecord> records{};  // those of the name, or of the name it is an alias of

  enum class Fault : std::uint8_t {
    stray,     // answers another question; it may come from anyone
    malformed  // answers this question, but cannot be read
  };
  static std::expected<SrvAnswer, Fault> parse(std::string_view message, const SrvQuery& query);
};

}  // namespace sheaf::discovery::dns
