// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/properties.h"

#include <cstdint>

#include "base/text.h"

namespace sheaf::protocol::statestore {
namespace {

void keep_first(std::optional<std::string_view>& slot, std::string_view value) noexcept {
  if (!slot) slot = value;
}

// The codes that the SDKs' remote calls define; the store itself is not known to send any of them.
Fault fault_of(std::uint64_t status) noexcept {
  switch (status) {
    case 400:
      return {Reason::syntax, "the remote end found a header or the payload invalid (status 400)"};
    case 408:
      return {Reason::timed_out, "the remote end timed out (status 408)"};
    case 415:
      return {Reason::syntax, "the remote end does not accept this content type (status 415)"};
    case 500:
      return {Reason::other, "the remote end failed (status 500)"};
    case 503:
      return {Reason::clock_skew, "the remote end's clock has drifted (status 503)"};
    case 505:
      return {Reason::other, "the remote end speaks another protocol version (status 505)"};
    default:
      return {Reason::other, "unknown remote error"};
  }
}

// Accepts "1." and a number.
bool version_supported(std::string_view version) noexcept {
  return version.starts_with("1.") && parse_decimal(version.substr(2)).has_value();
}

}  // namespace

void RequestProperties::take(std::string_view name, std::string_view value) noexcept {
  if (name == property::timestamp) keep_first(timestamp, value);
  if (name == property::fencing_token) keep_first(fencing_token, value);
  if (name == property::persistence) keep_first(persistence, value);
}

void ReplyProperties::take(std::string_view name, std::string_view value) noexcept {
  if (name == property::timestamp) keep_first(timestamp, value);
  if (name == property::status) keep_first(status, value);
  if (name == property::status_message) keep_first(status_message, value);
  if (name == property::protocol_version) keep_first(protocol_version, value);
}

std::expected<void, Fault> ReplyProperties::check() const noexcept {
  if (protocol_version && !version_supported(*protocol_version)) {
    return std::unexpected(Fault{Reason::protocol_error, "the protocol version is not 1.x"});
  }
  if (!status) return {};
  const auto number = parse_decimal(*status);
  if (!number) return std::unexpected(Fault{Reason::protocol_error, "the status is not a number"});
  if (*number == 200 || *number == 204) return {};
  Fault fault = fault_of(*number);
  if (status_message && !status_message->empty()) fault.text = *status_message;
  return std::unexpected(fault);
}

}  // namespace sheaf::protocol::statestore
