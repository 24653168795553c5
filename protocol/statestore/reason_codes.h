#pragma once

// The meaning of MQTT's reason codes between a client and a state store, in both directions: those
// that the server sends, and those in the DISCONNECT with which the client ends a connection.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <string_view>

#include "protocol/connection_life.h"
#include "protocol/login.h"
#include "protocol/mqtt5/packets.h"

namespace sheaf::protocol::statestore {

// ---- sent by the server

// "the server refused the connection: not authorized (no such user)". Secrets of our login are
// removed if the server repeats them.
std::string sentence(std::string_view start, mqtt5::ReasonCode code,
                     const mqtt5::Properties& properties, const Login* login);
bool is_about_identity(mqtt5::ReasonCode code) noexcept;
// True if trying again soon is useless.
bool is_permanent(mqtt5::ReasonCode code) noexcept;
Reason reason_of_puback(mqtt5::ReasonCode code) noexcept;
// Why the server ends a connection that it had accepted.
Reason reason_of_disconnect(mqtt5::ReasonCode code) noexcept;

// ---- sent by the client

// A DISCONNECT, short enough to need no memory.
std::string disconnect_packet(mqtt5::ReasonCode code);
// Ends the connection because the server broke the protocol; the DISCONNECT carries `code`.
Step broken(ConnectionLife& life, std::string_view what, mqtt5::ReasonCode code);
Step broken(ConnectionLife& life, const mqtt5::ParseError& error);
Step out_of_place(ConnectionLife& life, mqtt5::PacketType type);

}  // namespace sheaf::protocol::statestore
