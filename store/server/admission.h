#pragma once

// Admission: decides who may connect to a host: every client, one that knows user and password, or
// one that has a token of an authentication method (MQTT 5, section 4.12, with one step: the token
// is in CONNECT, and in the AUTH that begins a re-authentication).
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
  std::optional<std::string> user;  // nothing: no user and password are needed
  std::string password;
  std::string method;  // of tokens; empty: enhanced authentication is not offered
};

class Admission {
 public:
  struct Refusal {
    protocol::mqtt5::ReasonCode code = protocol::mqtt5::ReasonCode::success;  // success: admitted
    std::string_view text;
  };

  explicit Admission(Logins logins) : logins_(std::move(logins)) {}

  // Tokens of the method. The caller handles clients that have connected with a token that is now
  // forbidden.
  void allow(std::string token) { tokens_.insert(std::move(token)); }
  void forbid(const std::string& token) { tokens_.erase(token); }

  Refusal check(const protocol::mqtt5::Connect& connect) const;
  Refusal check(const protocol::mqtt5::Properties& properties) const;

 private:
  Logins logins_;
  std::set<std::string, std::less<>> tokens_;
};

}  // namespace sheaf::store::server
