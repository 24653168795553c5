#pragma once

// A server that answers each connection's first bytes with the beginning of a handshake and then
// ends the connection.
//
// Thread rule: one thread at a time; it has one of its own.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>

namespace sheaf::test {

class CuttingServer {
 public:
  // Answers with the first `bytes` bytes of a ServerHello that is announced as 90 bytes.
  explicit CuttingServer(std::size_t bytes)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), bytes_(bytes) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~CuttingServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  CuttingServer(const CuttingServer&) = delete;
  CuttingServer& operator=(const CuttingServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void serve() const {
    for (;;) {
      const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      char hello[4096];
      if (::recv(peer, hello, sizeof hello, 0) > 0) {
        std::string answer("\x16\x03\x03\x00\x5a\x02\x00\x00\x56\x03\x03", 11);
        answer.resize(std::max(answer.size(), bytes_), 'x');
        ::send(peer, answer.data(), bytes_, MSG_NOSIGNAL);
      }
      ::shutdown(peer, SHUT_WR);
      while (::recv(peer, hello, sizeof hello, 0) > 0) {
      }
      ::close(peer);
    }
  }

  int socket_;
  std::size_t bytes_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace sheaf::test
