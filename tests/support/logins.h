#pragma once

// Logins for sessions that a test creates without a factory.

#include <memory>
#include <string_view>

#include "protocol/login.h"

namespace sheaf::test {

// A slot whose login a test may change.
inline std::shared_ptr<protocol::LoginSlot> login_slot(std::string_view user,
                                                       std::string_view password) {
  return std::make_shared<protocol::LoginSlot>(protocol::make_login(user, password));
}

// A login of MQTT 5's enhanced authentication.
inline protocol::SharedLogin token_login(std::string_view method, std::string_view token) {
  auto login = std::make_shared<protocol::Login>();
  login->method = method;
  login->token = Secret(token);
  return login;
}

}  // namespace sheaf::test
