#pragma once

// Handshake: how a connection to a state store begins, and what client and server agree on in it.
//
// | state    | input           | then                                        | next     |
// |----------|-----------------|---------------------------------------------|----------|
// | greeting | begin()         | CONNECT                                     | greeting |
// | greeting | CONNACK < 0x80  | SUBSCRIBE to replies and notifications      | accepted |
// | greeting | CONNACK >= 0x80 |                                             | closed   |
// | accepted | SUBACK < 0x80   | a question to the store (session.h)         | accepted |
// | accepted | SUBACK >= 0x80  | DISCONNECT                                  | closed   |
//
// The states are those of ConnectionLife. The second code of SUBACK may refuse the notifications:
// then watches are refused, and everything else works.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/connection_life.h"
#include "protocol/mqtt5/packets.h"
#include "protocol/statestore/authentication.h"
#include "protocol/statestore/session_options.h"

namespace sheaf::protocol::statestore {

struct Agreement {
  std::string client_id;  // ours, unless the server has assigned another one
  std::string response_topic;
  std::size_t packet_limit;     // the largest packet that the server accepts
  std::size_t window = 65'535;  // requests without a PUBACK that the server accepts
  bool notifications = false;   // the subscription to them was granted
};

class Handshake {
 public:
  // All outlive this object.
  Handshake(const StoreSessionOptions& options, Authentication& authentication,
            ConnectionLife& life);
  ~Handshake();
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  void begin();
  Step on_connack(const mqtt5::Frame& frame, std::string_view packet);
  Step on_suback(const mqtt5::Frame& frame, std::string_view packet);
  bool subscribed() const noexcept { return subscribed_; }

  const Agreement& agreement() const noexcept { return agreement_; }

 private:
  bool acceptable(const Login* login) const;
  // Returns false if the connection has ended.
  bool agree(const mqtt5::Properties& limits);
  void subscribe();

  const StoreSessionOptions& options_;
  Authentication& authentication_;
  ConnectionLife& life_;
  Agreement agreement_;
  bool subscribed_ = false;
};

}  // namespace sheaf::protocol::statestore
