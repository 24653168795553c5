// Pure: no socket, clock, entropy, thread or callback.

#include "store/server/admission.h"

namespace sheaf::store::server {

namespace mqtt5 = protocol::mqtt5;
using mqtt5::ReasonCode;

namespace {

// The time that it takes does not depend on where the texts differ.
bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0u : 1u;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(given[i] ^ other);
  }
  return difference == 0;
}

}  // namespace

Admission::Refusal Admission::check(const mqtt5::Connect& connect) const {
  if (!logins_.method.empty() || connect.properties.authentication_method)
    return check(connect.properties);
  if (!logins_.user) return {};
  const bool user = equal_in_constant_time(connect.user.value_or(""), *logins_.user);
  const bool password = equal_in_constant_time(connect.password.value_or(""), logins_.password);
  if (user && password) return {};
  return {ReasonCode::bad_user_name_or_password, "wrong user name or password"};
}

Admission::Refusal Admission::check(const mqtt5::Properties& properties) const {
  if (!properties.authentication_method)
    return {ReasonCode::not_authorized, "an authentication method is required"};
  if (logins_.method.empty())
    return {ReasonCode::bad_authentication_method, "extended authentication is not offered"};
  if (*properties.authentication_method != logins_.method)
    return {ReasonCode::bad_authentication_method, "another authentication method is offered"};
  const std::string_view token = properties.authentication_data.value_or(std::string_view{});
  bool known = false;
  for (const std::string& one : tokens_) known |= equal_in_constant_time(token, one);
  if (known) return {};
  return {ReasonCode::not_authorized, "the token is not accepted"};
}

}  // namespace sheaf::store::server
