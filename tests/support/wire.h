#pragma once

// Wire: one blocking connection of a test's own client, over TCP or over something that goes on top
// of it (tls_wire.h).
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
  // What cannot be sent is dropped: the end shows when reading.
  virtual void send(std::string_view bytes) = 0;
  // The bytes that have come; none if nothing comes in time, nothing at all if it has ended.
  virtual std::optional<std::string> receive(std::chrono::milliseconds limit) = 0;
};

// True if the server on this port of 127.0.0.1 still has a connection, which its client may have
// closed: then the server has not read the end of it.
bool has_connections(std::uint16_t port);

// A socket that is connected to the port of a numeric address. Throws std::runtime_error if that
// fails.
int connected_socket(std::uint16_t port, const std::string& address = "127.0.0.1");
std::unique_ptr<Wire> connect_tcp(std::uint16_t port);
std::unique_ptr<Wire> connect_tcp_at(const std::string& address, std::uint16_t port);

}  // namespace sheaf::test
