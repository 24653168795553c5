// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/reason_codes.h"

#include "base/text.h"

namespace sheaf::protocol::statestore {

using mqtt5::ReasonCode;

std::string sentence(std::string_view start, ReasonCode code, const mqtt5::Properties& properties,
                     const Login* login) {
  std::string text(start);
  if (code != ReasonCode::success) text.append(": ").append(to_string(code));
  if (properties.reason_string && !properties.reason_string->empty()) {
    const std::string words = without_secrets(*properties.reason_string, login);
    text.append(" (").append(printable(words, 128)).append(")");
  }
  return text;
}

bool is_about_identity(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::unsupported_protocol_version:
    case ReasonCode::client_identifier_not_valid:
    case ReasonCode::bad_user_name_or_password:
    case ReasonCode::not_authorized:
    case ReasonCode::bad_authentication_method:
      return true;
    default:
      return false;
  }
}

bool is_permanent(ReasonCode code) noexcept {
  return is_about_identity(code) || code == ReasonCode::banned || code == ReasonCode::server_moved;
}

Reason reason_of_puback(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::not_authorized:
      return Reason::not_authorized;
    case ReasonCode::quota_exceeded:
      return Reason::quota;
    case ReasonCode::packet_too_large:
      return Reason::too_large;
    default:
      return Reason::other;
  }
}

Reason reason_of_disconnect(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::malformed_packet:
    case ReasonCode::protocol_error:
    case ReasonCode::receive_maximum_exceeded:
    case ReasonCode::packet_too_large:
    case ReasonCode::topic_alias_invalid:
      return Reason::protocol_error;
    case ReasonCode::not_authorized:
      return Reason::not_authorized;
    default:
      return Reason::connection_lost;
  }
}

std::string disconnect_packet(ReasonCode code) {
  std::string packet;
  ByteWriter out(packet);
  mqtt5::Disconnect{code, {}}.encode(out);
  return packet;
}

Step broken(ConnectionLife& life, std::string_view what, ReasonCode code) {
  return life.broken(what, disconnect_packet(code));
}

Step broken(ConnectionLife& life, const mqtt5::ParseError& error) {
  return broken(life, error.text, error.code);
}

Step out_of_place(ConnectionLife& life, mqtt5::PacketType type) {
  std::string text(to_string(type));
  return broken(life, text.append(" was not expected here"), ReasonCode::protocol_error);
}

}  // namespace sheaf::protocol::statestore
