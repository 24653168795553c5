#pragma once

// Who may connect to a host: anybody, who knows a user and a password, or who has one of the tokens
// of an authentication method (MQTT 5, section 4.12, with one step: the token goes with CONNECT,
// and with the AUTH that begins a re-authentication).
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "protocol/mqtt5/packets.h"

namespace sheaf::store::server {

struct Logins {
  std::optional<std::string> user;  // none: no user and password are asked for
  std::string password;
  std::string method;  // of tokens; empty: enhanced authentication is not offered
};

class Admission {
 public:
  struct Refusal {
    protocol::mqtt5::ReasonCode code = protocol::mqtt5::ReasonCode::success;  // success: let in
    std::string_view text;
  };

  explicit Admission(Logins logins) : logins_(std::move(logins)) {}

  // Tokens of the method. Who has connected with a token that is forbidden now is the caller's.
  void allow(std::string token) { tokens_.insert(std::move(token)); }
  void forbid(const std::string& token) { tokens_.erase(token); }

  Refusal check(const protocol::mqtt5::Connect& connect) const;
  Refusal check(const protocol::mqtt5::Properties& properties) const;

 private:
  Logins logins_;
  std::set<std::string, std::less<>> tokens_;
};

}  // namespace sheaf::store::server
