#pragma once

// Logins with a token: MQTT 5 enhanced authentication with the method K8S-SAT, for development and
// tests. A token is valid if it is a line of the file plugin_opt_tokens, which is read at each
// login and each re-authentication. Nothing in the token is verified.
//
// Thread rule: the broker's one thread.

#include <expected>
#include <string>
#include <unordered_set>

#include "store/plugin/broker_api.h"

namespace sheaf::store::plugin {

class TokenLogin {
 public:
  explicit TokenLogin(std::string path) : path_(std::move(path)) {}

  // The error is one sentence that names the file.
  std::expected<void, std::string> check() const;

  // Each returns a MOSQ_ERR_* code for the broker.
  int on_token(const mosquitto_evt_extended_auth& event);
  // A client without a token. The broker's other authentication decides about one with a user name.
  // When the broker reloads its configuration, it asks here about all clients once more, and about
  // sessions without a connection. Mosquitto 2.0 crashes later if one of these is refused, so until
  // the next tick all that were let in before still are.
  int on_password(const mosquitto_evt_basic_auth& event) const;
  void on_reload() { reloading_ = true; }
  void on_tick() { reloading_ = false; }
  void forget(const mosquitto* client) { admitted_.erase(client); }

 private:
  bool admits(const mosquitto_evt_extended_auth& event) const;

  std::string path_;
  std::unordered_set<const mosquitto*> admitted_;  // connected, with a token
  bool reloading_ = false;
};

}  // namespace sheaf::store::plugin
