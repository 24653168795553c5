#pragma once

// The data types of MQTT 5 section 1.5 in both directions. Only the packet code uses them.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string_view>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/checks.h"
#include "protocol/mqtt5/reason_code.h"

namespace sheaf::protocol::mqtt5 {

inline constexpr std::uint32_t max_varint = 268'435'455;  // section 1.5.5
inline constexpr std::size_t max_string = 65'535;         // section 1.5.4

// Section 1.5.4: well-formed UTF-8 without U+0000.
bool is_mqtt_string(std::string_view text) noexcept;
// Section 4.7.1: true if there is a `+` or `#` anywhere.
bool has_wildcard(std::string_view topic) noexcept;

constexpr std::size_t varint_size(std::size_t value) noexcept {
  return value < 128 ? 1 : value < 16'384 ? 2 : value < 2'097'152 ? 3 : 4;
}

inline void write_varint(ByteWriter& out, std::size_t value) {
  SHEAF_CHECK(value <= max_varint);
  while (value >= 128) {
    out.u8(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.u8(static_cast<std::uint8_t>(value));
}

// A string or binary data: two bytes of length, then the bytes.
inline void write_string(ByteWriter& out, std::string_view text) {
  SHEAF_CHECK(text.size() <= max_string);
  out.u16(static_cast<std::uint16_t>(text.size()));
  out.bytes(text);
}

// A reader that remembers the first error.
class Cursor {
 public:
  explicit Cursor(std::string_view data) noexcept : in_(data) {}

  std::size_t left() const noexcept { return in_.left(); }
  std::size_t position() const noexcept { return in_.position(); }
  bool failed() const noexcept { return in_.failed(); }
  ParseError error() const noexcept {
    return error_.text.empty() ? ParseError{ReasonCode::malformed_packet, "packet ends too early"}
                               : error_;
  }
  void fail(std::string_view text, ReasonCode code = ReasonCode::malformed_packet) noexcept {
    if (!in_.failed()) error_ = {code, text};
    in_.fail();
  }
  void refuse_rest() noexcept {
    if (in_.left() > 0) fail("packet is longer than its content");
  }

  std::uint8_t u8() noexcept { return in_.u8(); }
  std::uint16_t u16() noexcept { return in_.u16(); }
  std::uint32_t u32() noexcept { return in_.u32(); }
  std::string_view view(std::size_t size) noexcept { return in_.view(size); }
  std::string_view rest() noexcept { return in_.rest(); }
  std::string_view binary() noexcept { return in_.view(in_.u16()); }
  std::string_view string() noexcept {
    const std::string_view text = binary();
    if (!is_mqtt_string(text)) fail("string is not UTF-8 or holds U+0000");
    return text;
  }
  // Section 1.5.5: at most four bytes, and no more than the value needs.
  std::uint32_t varint() noexcept {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
      const std::uint8_t byte = in_.u8();
      value |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) != 0) continue;
      if (byte == 0 && shift > 0) fail("number takes more bytes than it needs");
      return value;
    }
    fail("number is longer than four bytes");
    return 0;
  }

 private:
  ByteReader in_;
  ParseError error_;
};

}  // namespace sheaf::protocol::mqtt5
