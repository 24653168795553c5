#pragma once

// A port at which not even a connection is made: its kernel drops what begins one, because the
// queue of those that wait to be accepted is full. So is an address whose path is broken.
//
// Thread rule: one thread at a time.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace sheaf::test {

class SilentServer {
 public:
  // Throws std::runtime_error if another process has the port at this address.
  SilentServer(const std::string& address, std::uint16_t port) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &place.sin_addr);
    const int on = 1;  // whatever was here before
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const auto* const raw = reinterpret_cast<const sockaddr*>(&place);
    const bool fills = ::bind(socket_, raw, sizeof place) == 0 && ::listen(socket_, 0) == 0 &&
                       ::connect(filler_, raw, sizeof place) == 0;
    if (fills) return;
    close_both();
    throw std::runtime_error("no silent server at " + address + ":" + std::to_string(port));
  }
  ~SilentServer() { close_both(); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

 private:
  void close_both() const {
    ::close(socket_);  // first, so that no connection lingers at its port
    ::close(filler_);
  }

  const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int filler_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

}  // namespace sheaf::test
