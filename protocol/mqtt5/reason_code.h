#pragma once

// Reason codes of MQTT 5 (section 2.4), and the error of a parser that refuses bytes.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <expected>
#include <string_view>

namespace sheaf::protocol::mqtt5 {

// Values below 0x80 mean success. A peer may send a number that is not listed here.
enum class ReasonCode : std::uint8_t {
  success = 0x00,  // also "normal disconnection" and "granted QoS 0"
  granted_qos_1 = 0x01,
  granted_qos_2 = 0x02,
  disconnect_with_will = 0x04,
  no_matching_subscribers = 0x10,
  no_subscription_existed = 0x11,
  continue_authentication = 0x18,
  reauthenticate = 0x19,
  unspecified_error = 0x80,
  malformed_packet = 0x81,
  protocol_error = 0x82,
  implementation_specific_error = 0x83,
  unsupported_protocol_version = 0x84,
  client_identifier_not_valid = 0x85,
  bad_user_name_or_password = 0x86,
  not_authorized = 0x87,
  server_unavailable = 0x88,
  server_busy = 0x89,
  banned = 0x8A,
  server_shutting_down = 0x8B,
  bad_authentication_method = 0x8C,
  keep_alive_timeout = 0x8D,
  session_taken_over = 0x8E,
  topic_filter_invalid = 0x8F,
  topic_name_invalid = 0x90,
  packet_identifier_in_use = 0x91,
  packet_identifier_not_found = 0x92,
  receive_maximum_exceeded = 0x93,
  topic_alias_invalid = 0x94,
  packet_too_large = 0x95,
  message_rate_too_high = 0x96,
  quota_exceeded = 0x97,
  administrative_action = 0x98,
  payload_format_invalid = 0x99,
  retain_not_supported = 0x9A,
  qos_not_supported = 0x9B,
  use_another_server = 0x9C,
  server_moved = 0x9D,
  shared_subscriptions_not_supported = 0x9E,
  connection_rate_exceeded = 0x9F,
  maximum_connect_time = 0xA0,
  subscription_identifiers_not_supported = 0xA1,
  wildcard_subscriptions_not_supported = 0xA2
};

// "not authorized"; "unknown reason" for a number that section 2.4 does not list.
std::string_view to_string(ReasonCode code) noexcept;
constexpr bool is_error(ReasonCode code) noexcept {
  return static_cast<std::uint8_t>(code) >= 0x80;
}

// Why bytes are not a packet: a static text, and the code to answer with (section 4.13).
struct ParseError {
  ReasonCode code = ReasonCode::malformed_packet;
  std::string_view text;
};

template <class T>
using Parsed = std::expected<T, ParseError>;

}  // namespace sheaf::protocol::mqtt5
