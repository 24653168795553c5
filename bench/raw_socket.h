#pragma once

// A blocking TCP connection with no layer in between, which the raw contestants use.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>

#include "bench/measure.h"

namespace bench {

class RawSocket {
 public:
  explicit RawSocket(const Target& target) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target.port);
    inet_pton(AF_INET, target.host.c_str(), &address.sin_addr);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("raw: cannot connect");
    }
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~RawSocket() { close(fd_); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  void send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("raw: cannot send");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // Reads at least one byte; returns how many.
  std::size_t read_some(char* to, std::size_t size) const {
    const ssize_t got = recv(fd_, to, size, 0);
    if (got <= 0) throw std::runtime_error("raw: connection ended");
    return static_cast<std::size_t>(got);
  }

 private:
  int fd_;
};

}  // namespace bench
