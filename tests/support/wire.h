#pragma once

// Wire: one blocking connection of a test's own client, over TCP or over a layer on top of it
// (tls_wire.h).
//
// Thread rule: one thread at a time.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::test {

class Wire {
 public:
  virtual ~Wire() = default;
  // Drops bytes that cannot be sent: the end shows when reading.
  virtual void send(std::string_view bytes) = 0;
  // Returns the bytes that have come: an empty text if none come in time, no value if the wire has
  // ended.
  virtual std::optional<std::string> receive(std::chrono::milliseconds limit) = 0;
};

// Returns a socket connected to the port of 127.0.0.1. Throws std::runtime_error on failure.
int connected_socket(std::uint16_t port);
std::unique_ptr<Wire> connect_tcp(std::uint16_t port);

}  // namespace sheaf::test
