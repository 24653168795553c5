#pragma once

// A real mosquitto with the state store plugin, as a child process of a test (server_process.h), on
// free ports of 127.0.0.1.
//
// Thread rule: that of ServerProcess.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/reserved_port.h"
#include "tests/support/server_process.h"

namespace sheaf::test {

struct BrokerOptions {
  // plugin_opt_NAME VALUE, repeated for each listener with per_listener_settings.
  std::vector<std::pair<std::string, std::string>> plugin_options;
  std::vector<std::pair<std::string, std::string>> users;  // name, password; empty = anonymous
  bool anonymous_too = false;  // with users: clients without a login may connect, too
  // A file with a client token on each line. Clients must then log in with K8S-SAT
  // (tests/support/token_plugin/token_plugin.cpp). Empty: `users` decides.
  std::string tokens;
  bool tokens_twice = false;  // the broker asks for each token again
  std::string acl;            // an acl_file; empty = none
  std::string extra;          // further lines of mosquitto.conf
  // Lines for each listener that make it serve TLS; empty = without TLS. With TLS the start does
  // not wait for a CONNACK.
  std::string tls;
  // Makes all of mosquitto.conf for a port, instead of the other members. The start then does not
  // wait for a CONNACK. Two functions count as different.
  struct Whole : std::function<std::string(std::uint16_t port)> {
    using function::function;
    bool operator==(const Whole& other) const { return !*this && !other; }
  };
  Whole whole;
  unsigned listeners = 1;
  bool per_listener_settings = false;
  bool plugin = true;    // false: a stock broker
  bool forgets = false;  // forget() can be called
  bool sink = true;      // the bridge that never connects; without it requests get PUBACK 0x10
  bool nodelay = true;   // set_tcp_nodelay

  bool operator==(const BrokerOptions&) const = default;
};

class BrokerProcess : public ServerProcess {
 public:
  using Options = BrokerOptions;

  // Starts the broker and returns when it answers CONNECT. Throws std::runtime_error with the
  // broker's log if it does not start.
  explicit BrokerProcess(BrokerOptions options = {});

  std::uint16_t port(unsigned listener = 0) const { return ports_.at(listener).number(); }

  int terminate();       // SIGTERM; returns the exit status, 128 + signal if a signal ended it
  void hang_up() const;  // SIGHUP: mosquitto reads its configuration again
  // SIGHUP; returns when the broker has logged `logged` once more and can hear the next SIGHUP.
  void reload(std::string_view logged) const;
  // Returns when the store is empty, as after a restart. The log begins again when the old store
  // has ended; returns what was logged until then. Sessions and retained messages stay.
  std::string forget();
  void restart();  // after kill() or terminate(): the same ports and options

  // Starts the broker with a configuration it must refuse; returns its log.
  static std::string failing_start(const BrokerOptions& options);

 private:
  struct Deferred {};
  BrokerProcess(BrokerOptions options, Deferred);

  void write_configuration() const;
  void write_users() const;
  void wait_for_connack();
  bool launch();  // false: it ended
  void wait_for_lookup() const;
  void wait_for_answer() const;

  BrokerOptions options_;
  std::vector<ReservedPort> ports_;
};

}  // namespace sheaf::test
