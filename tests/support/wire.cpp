#include "tests/support/wire.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace sheaf::test {
namespace {

class TcpWire final : public Wire {
 public:
  explicit TcpWire(int fd) : fd_(fd) {}
  ~TcpWire() override { ::close(fd_); }
  TcpWire(const TcpWire&) = delete;
  TcpWire& operator=(const TcpWire&) = delete;

  void send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::optional<std::string> receive(std::chrono::milliseconds limit) override {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(limit.count())) != 1) return std::string();
    char buffer[65536];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0) return std::nullopt;
    return std::string(buffer, static_cast<std::size_t>(got));
  }

 private:
  int fd_;
};

}  // namespace

// The kernel's table has lines such as "  0: 0100007F:1F90 0100007F:C350 08 ...": addresses as
// hexadecimal words, then the state. If the table changes while it is read, a line may be missing.
bool has_connections(std::uint16_t port) {
  char own[24];
  static_cast<void>(std::snprintf(own, sizeof own, "%08X:%04X ", htonl(INADDR_LOOPBACK), port));
  for (int reading = 0; reading < 2; ++reading) {
    std::ifstream table("/proc/net/tcp");
    for (std::string line; std::getline(table, line);) {
      const std::size_t at = line.find(": ");
      if (at == std::string::npos || line.compare(at + 2, 14, own) != 0) continue;
      const std::string state = line.substr(at + 2 + 14 + 14, 2);
      if (state == "01" || state == "08") return true;  // ESTABLISHED, CLOSE_WAIT
    }
  }
  return false;
}

int connected_socket(std::uint16_t port, const std::string& host) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    ::close(fd);
    throw std::runtime_error(std::string("connect: ") + std::strerror(error));
  }
  return fd;
}

std::unique_ptr<Wire> connect_tcp(std::uint16_t port) {
  return std::make_unique<TcpWire>(connected_socket(port));
}

std::unique_ptr<Wire> connect_tcp_at(const std::string& address, std::uint16_t port) {
  return std::make_unique<TcpWire>(connected_socket(port, address));
}

}  // namespace sheaf::test
