// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/mqtt5/reason_code.h"

namespace sheaf::protocol::mqtt5 {
namespace {

std::string_view name_below_0x90(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::success:
      return "success";
    case ReasonCode::granted_qos_1:
      return "granted QoS 1";
    case ReasonCode::granted_qos_2:
      return "granted QoS 2";
    case ReasonCode::disconnect_with_will:
      return "disconnect with will message";
    case ReasonCode::no_matching_subscribers:
      return "no matching subscribers";
    case ReasonCode::no_subscription_existed:
      return "no subscription existed";
    case ReasonCode::continue_authentication:
      return "continue authentication";
    case ReasonCode::reauthenticate:
      return "re-authenticate";
    case ReasonCode::unspecified_error:
      return "unspecified error";
    case ReasonCode::malformed_packet:
      return "malformed packet";
    case ReasonCode::protocol_error:
      return "protocol error";
    case ReasonCode::implementation_specific_error:
      return "implementation specific error";
    case ReasonCode::unsupported_protocol_version:
      return "unsupported protocol version";
    case ReasonCode::client_identifier_not_valid:
      return "client identifier not valid";
    case ReasonCode::bad_user_name_or_password:
      return "bad user name or password";
    case ReasonCode::not_authorized:
      return "not authorized";
    case ReasonCode::server_unavailable:
      return "server unavailable";
    case ReasonCode::server_busy:
      return "server busy";
    case ReasonCode::banned:
      return "banned";
    case ReasonCode::server_shutting_down:
      return "server shutting down";
    case ReasonCode::bad_authentication_method:
      return "bad authentication method";
    case ReasonCode::keep_alive_timeout:
      return "keep alive timeout";
    case ReasonCode::session_taken_over:
      return "session taken over";
    case ReasonCode::topic_filter_invalid:
      return "topic filter invalid";
    default:
      return "unknown reason";
  }
}

}  // namespace

std::string_view to_string(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::topic_name_invalid:
      return "topic name invalid";
    case ReasonCode::packet_identifier_in_use:
      return "packet identifier in use";
    case ReasonCode::packet_identifier_not_found:
      return "packet identifier not found";
    case ReasonCode::receive_maximum_exceeded:
      return "receive maximum exceeded";
    case ReasonCode::topic_alias_invalid:
      return "topic alias invalid";
    case ReasonCode::packet_too_large:
      return "packet too large";
    case ReasonCode::message_rate_too_high:
      return "message rate too high";
    case ReasonCode::quota_exceeded:
      return "quota exceeded";
    case ReasonCode::administrative_action:
      return "administrative action";
    case ReasonCode::payload_format_invalid:
      return "payload format invalid";
    case ReasonCode::retain_not_supported:
      return "retain not supported";
    case ReasonCode::qos_not_supported:
      return "QoS not supported";
    case ReasonCode::use_another_server:
      return "use another server";
    case ReasonCode::server_moved:
      return "server moved";
    case ReasonCode::shared_subscriptions_not_supported:
      return "shared subscriptions not supported";
    case ReasonCode::connection_rate_exceeded:
      return "connection rate exceeded";
    case ReasonCode::maximum_connect_time:
      return "maximum connect time";
    case ReasonCode::subscription_identifiers_not_supported:
      return "subscription identifiers not supported";
    case ReasonCode::wildcard_subscriptions_not_supported:
      return "wildcard subscriptions not supported";
    default:
      return name_below_0x90(code);
  }
}

}  // namespace sheaf::protocol::mqtt5
