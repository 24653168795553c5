#pragma once

// Cuts a byte stream into MQTT 5 packets by their fixed header (section 2.1).
//
// Thread rule: plain values and free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/mqtt5/reason_code.h"

namespace sheaf::protocol::mqtt5 {

enum class PacketType : std::uint8_t {
  connect = 1,
  connack,
  publish,
  puback,
  pubrec,
  pubrel,
  pubcomp,
  subscribe,
  suback,
  unsubscribe,
  unsuback,
  pingreq,
  pingresp,
  disconnect,
  auth
};
// "PUBLISH"
std::string_view to_string(PacketType type) noexcept;

// The content of the fixed header. `flags` have been checked against section 2.1.3.
struct Frame {
  PacketType type = PacketType::connect;
  std::uint8_t flags = 0;
  std::size_t header_size = 0;  // 2 .. 5; 0 = not known yet
  std::size_t total_size = 0;   // header and body
};

struct FrameResult {
  enum class State : std::uint8_t {
    need_more,  // at least `missing` more bytes; `frame` is set if frame.header_size > 0
    frame,      // all of `frame` is buffered
    malformed   // see `error`
  };
  State state = State::need_more;
  Frame frame;
  std::size_t missing = 0;
  ParseError error;
};

// Reads the fixed header of the first packet in `buffered`.
FrameResult read_frame(std::string_view buffered) noexcept;

}  // namespace sheaf::protocol::mqtt5
