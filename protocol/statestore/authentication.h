#pragma once

// Authentication: how a connection logs in to a broker. Either by user and password, which are
// valid for the life of the connection; or by enhanced authentication (MQTT 5, section 4.12), whose
// token can be renewed. The supported methods (K8S-SAT) have one step: the token goes with CONNECT,
// and with the AUTH that begins a re-authentication.
//
// | state   | input                           | then                               | next    |
// |---------|---------------------------------|------------------------------------|---------|
// | idle    | renew(), ready, the token is    | AUTH 0x19 with the token           | asked   |
// |         | stale                           |                                    |         |
// | asked   | AUTH 0x00                       |                                    | idle    |
// | asked   | the same, the token is stale    | AUTH 0x19 with the token           | asked   |
// | asked   | no answer in time               | DISCONNECT                         | closed  |
// | asked   | DISCONNECT >= 0x80              | refused permanently                | closed  |
// | logging | AUTH 0x18, the first            | AUTH 0x18 with the token           | logging |
// | in,     |                                 |                                    |         |
// | asked   | AUTH 0x18, another one          | refused permanently: it has more   | closed  |
// |         |                                 | steps than the method              |         |
// | any     | AUTH of another method or none, | the protocol is broken             | closed  |
// |         | any other AUTH                  |                                    |         |
//
// Requests continue meanwhile, under the previous login (section 4.12.1).
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <string_view>

#include "protocol/connection_life.h"
#include "protocol/login.h"
#include "protocol/mqtt5/packets.h"
#include "protocol/statestore/session_options.h"

namespace sheaf::protocol::statestore {

class Authentication {
 public:
  // Both outlive this object.
  Authentication(const StoreSessionOptions& options, ConnectionLife& life)
      : answer_limit_(options.answer_limit), life_(life), login_(options.login) {}

  // Uses the current login for this connection. Null: no login.
  const Login* begin() noexcept { return login_.take(); }
  // The frame of CONNECT: nothing is answered before it has left.
  void sent(OutputQueue::FrameId connect) noexcept { frame_ = connect; }
  const UsedLogin& login() const noexcept { return login_; }

  // Returns false if a CONNACK uses another method; then the connection has ended.
  bool accepts(const mqtt5::Properties& properties);
  Step on_auth(const mqtt5::Frame& frame, std::string_view packet, Now now);
  // True if a DISCONNECT with this code refuses the login itself, and not just an action under it.
  bool is_refused_by(mqtt5::ReasonCode code) const noexcept;

  // As Session::renew_login. A login that goes stale before the connection is ready waits for
  // become_ready().
  bool renew(std::size_t packet_limit, Now now);
  void become_ready(Now now);

  // When the answer to a re-authentication is due.
  Deadline due() const noexcept { return due_; }
  void on_deadline(Now now);

 private:
  std::string_view method() const noexcept;
  void send(mqtt5::ReasonCode code);
  void ask(Now now);
  Step on_continue();

  const std::chrono::milliseconds answer_limit_;
  ConnectionLife& life_;
  UsedLogin login_;
  OutputQueue::FrameId frame_ = 0;  // CONNECT, or the last AUTH
  Deadline due_ = never;            // never: no answer is expected
  bool continued_ = false;          // the token was sent once more
};

// The properties for a login's method and token; empty if it has none.
std::size_t size_of_properties(const Login* login) noexcept;
void add_properties(mqtt5::PropertyWriter& out, const Login* login);

}  // namespace sheaf::protocol::statestore
