#pragma once

// What MQTT's reason codes mean between a client and a state store, both ways: as the server says
// them, and in the DISCONNECT by which the client ends a connection.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <string_view>

#include "protocol/connection_life.h"
#include "protocol/login.h"
#include "protocol/mqtt5/packets.h"

namespace sheaf::protocol::statestore {

// ---- as the server says them

// "the server refused the connection: not authorized (no such user)", without the secrets of our
// login, if the server repeats them.
std::string sentence(std::string_view start, mqtt5::ReasonCode code,
                     const mqtt5::Properties& properties, const Login* login);
bool is_about_identity(mqtt5::ReasonCode code) noexcept;
// True if trying again soon is useless.
bool is_permanent(mqtt5::ReasonCode code) noexcept;
Reason reason_of_puback(mqtt5::ReasonCode code) noexcept;
// Why the server ends a connection that it had accepted.
Reason reason_of_disconnect(mqtt5::ReasonCode code) noexcept;

// ---- as the client says them

// A DISCONNECT: short enough to need no memory.
std::string disconnect_packet(mqtt5::ReasonCode code);
// The connection ends because the server broke the protocol; the DISCONNECT carries `code`.
Step broken(ConnectionLife& life, std::string_view what, mqtt5::ReasonCode code);
Step broken(ConnectionLife& life, const mqtt5::ParseError& error);
Step out_of_place(ConnectionLife& life, mqtt5::PacketType type);

}  // namespace sheaf::protocol::statestore
