#pragma once

// AnsweringServer: a server on a free port of 127.0.0.1 that answers as a test says, over UDP and
// TCP on the same port, on its own thread until the object ends.
//
// Thread rule: the rules run on its thread, one after another; everything else belongs to the test.

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace sheaf::test {

class AnsweringServer {
 public:
  struct Rules {
    // The answer to a datagram: each text is a datagram, no text is silence.
    std::function<std::vector<std::string>(std::string_view)> datagram{};
    // Takes the part of the connection's input that it answers, and returns the answer; "" is
    // silence.
    std::function<std::string(std::string& input)> stream{};
    bool hangs_up = false;  // after the first answer
  };

  explicit AnsweringServer(Rules rules) : rules_(std::move(rules)) {
    open();
    thread_ = std::thread([this] { run(); });
  }
  ~AnsweringServer() {
    const std::uint64_t one = 1;
    if (::write(over_, &one, sizeof one) == sizeof one) thread_.join();
    for (const auto& [fd, input] : connections_) ::close(fd);
    for (const int fd : {udp_, tcp_, over_}) ::close(fd);
  }
  AnsweringServer(const AnsweringServer&) = delete;
  AnsweringServer& operator=(const AnsweringServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  // The port that the kernel gives for UDP may be in use for TCP.
  void open() {
    over_ = ::eventfd(0, EFD_CLOEXEC);
    for (int attempt = 0; attempt < 100; ++attempt) {
      udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof address;
      auto* const any = reinterpret_cast<sockaddr*>(&address);
      if (::bind(udp_, any, size) == 0 && ::getsockname(udp_, any, &size) == 0 &&
          ::bind(tcp_, any, size) == 0 && ::listen(tcp_, 16) == 0) {
        port_ = ntohs(address.sin_port);
        return;
      }
      ::close(udp_);
      ::close(tcp_);
    }
    throw std::runtime_error("no port is free for UDP and TCP");
  }

  void run() {
    while (true) {
      std::vector<pollfd> all{{over_, POLLIN, 0}, {udp_, POLLIN, 0}, {tcp_, POLLIN, 0}};
      for (const auto& [fd, input] : connections_) all.push_back({fd, POLLIN, 0});
      ::poll(all.data(), all.size(), -1);
      if (all[0].revents != 0) return;
      if (all[1].revents != 0) answer_datagram();
      if (all[2].revents != 0) connections_[::accept4(tcp_, nullptr, nullptr, SOCK_CLOEXEC)];
      for (std::size_t i = 3; i < all.size(); ++i) {
        if (all[i].revents != 0) answer_stream(all[i].fd);
      }
    }
  }
  void answer_datagram() {
    std::array<char, 65'536> buffer;
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    auto* const any = reinterpret_cast<sockaddr*>(&peer);
    const auto got = ::recvfrom(udp_, buffer.data(), buffer.size(), 0, any, &size);
    if (got < 0 || !rules_.datagram) return;
    const std::string_view question(buffer.data(), static_cast<std::size_t>(got));
    for (const std::string& answer : rules_.datagram(question)) {
      ::sendto(udp_, answer.data(), answer.size(), 0, any, size);
    }
  }
  void answer_stream(int fd) {
    std::array<char, 4'096> buffer;
    const auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
    std::string& input = connections_[fd];
    if (got > 0) input.append(buffer.data(), static_cast<std::size_t>(got));
    const std::string answer = got > 0 && rules_.stream ? rules_.stream(input) : std::string();
    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    if (got > 0 && (answer.empty() || !rules_.hangs_up)) return;
    ::close(fd);
    connections_.erase(fd);
  }

  Rules rules_;
  int over_ = -1;
  int udp_ = -1;
  int tcp_ = -1;
  std::uint16_t port_ = 0;
  std::map<int, std::string> connections_;  // what each has sent; owned by the running thread
  std::thread thread_;
};

}  // namespace sheaf::test
