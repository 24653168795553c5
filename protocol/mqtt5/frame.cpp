// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/mqtt5/frame.h"

#include <array>

#include "protocol/mqtt5/wire.h"

namespace sheaf::protocol::mqtt5 {
namespace {

constexpr std::array<std::string_view, 16> names{
    "reserved packet", "CONNECT",  "CONNACK",    "PUBLISH", "PUBACK",      "PUBREC",
    "PUBREL",          "PUBCOMP",  "SUBSCRIBE",  "SUBACK",  "UNSUBSCRIBE", "UNSUBACK",
    "PINGREQ",         "PINGRESP", "DISCONNECT", "AUTH"};

// Section 2.1.3: flags are fixed for every type except PUBLISH.
std::string_view wrong_flags(PacketType type, std::uint8_t flags) noexcept {
  if (type == PacketType::publish) {
    const unsigned qos = (flags >> 1) & 3U;
    if (qos == 3) return "PUBLISH with QoS 3";
    if (qos == 0 && (flags & 8) != 0) return "PUBLISH with DUP and QoS 0";
    return {};
  }
  const bool two = type == PacketType::pubrel || type == PacketType::subscribe ||
                   type == PacketType::unsubscribe;
  return flags == (two ? 2 : 0) ? std::string_view{} : "wrong flags in the fixed header";
}

FrameResult malformed(std::string_view text) noexcept {
  return {FrameResult::State::malformed, {}, 0, {ReasonCode::malformed_packet, text}};
}

}  // namespace

std::string_view to_string(PacketType type) noexcept {
  return names[static_cast<std::uint8_t>(type) & 15];
}

FrameResult read_frame(std::string_view buffered) noexcept {
  if (buffered.empty()) return {FrameResult::State::need_more, {}, 2, {}};
  const auto first = static_cast<std::uint8_t>(buffered.front());
  if (first >> 4 == 0) return malformed("reserved packet type 0");
  Frame frame;
  frame.type = static_cast<PacketType>(first >> 4);
  frame.flags = first & 15;
  const std::string_view flags_error = wrong_flags(frame.type, frame.flags);
  if (!flags_error.empty()) return malformed(flags_error);

  std::size_t length = 0;
  for (std::size_t i = 1; i <= 4; ++i) {
    if (i >= buffered.size()) return {FrameResult::State::need_more, {}, 1, {}};
    const auto byte = static_cast<std::uint8_t>(buffered[i]);
    length |= static_cast<std::size_t>(byte & 0x7F) << (7 * (i - 1));
    if ((byte & 0x80) != 0) continue;
    if (byte == 0 && i > 1) return malformed("length takes more bytes than it needs");
    frame.header_size = i + 1;
    frame.total_size = frame.header_size + length;
    if (buffered.size() >= frame.total_size) return {FrameResult::State::frame, frame, 0, {}};
    return {FrameResult::State::need_more, frame, frame.total_size - buffered.size(), {}};
  }
  return malformed("length is longer than four bytes");
}

}  // namespace sheaf::protocol::mqtt5
