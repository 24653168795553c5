#pragma once

// Listener: a listening socket of this machine. The kernel takes connections and bytes for it, so
// it is a server that never answers as long as accept() is not called.
//
// Thread rule: one thread at a time; accept() may wait on another one.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

namespace sheaf::test {

class Listener {
 public:
  // On any free port, or on one that is free at that address.
  explicit Listener(const char* host = "127.0.0.1", std::uint16_t port = 0) {
    const int on = 1;
    if (port != 0) ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, host, &address.sin_addr);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd_, any, size), 0);
    EXPECT_EQ(::listen(fd_, 16), 0);
    EXPECT_EQ(::getsockname(fd_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::uint16_t port() const { return port_; }
  // At 127.0.0.1.
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int descriptor() const { return fd_; }
  // Waits for a connection; negative after shut_down().
  int accept() const { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }
  void shut_down() const { ::shutdown(fd_, SHUT_RDWR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
};

// For tests that never call accept().
using DeafServer = Listener;

}  // namespace sheaf::test
