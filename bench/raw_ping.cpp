// The floor: PINGREQ and PINGRESP over a blocking socket, nothing between.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "bench/measure.h"

namespace bench {
namespace {

class PingConnection {
 public:
  explicit PingConnection(const Target& target) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target.port);
    inet_pton(AF_INET, target.host.c_str(), &address.sin_addr);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("raw ping: cannot connect");
    }
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // CONNECT, MQTT 5, clean start, keep-alive 600 s, no properties, no client ID.
    send_all({"\x10\x0d\x00\x04MQTT\x05\x02\x02\x58\x00\x00\x00", 15});
    char header[2];
    read_exact(header, 2);
    char rest[128];
    read_exact(rest, static_cast<unsigned char>(header[1]));
  }
  ~PingConnection() { close(fd_); }
  PingConnection(const PingConnection&) = delete;
  PingConnection& operator=(const PingConnection&) = delete;

  void ping(unsigned times) {
    static const std::string many = [] {
      std::string text;
      for (int i = 0; i < 100; ++i) text.append("\xc0\x00", 2);
      return text;
    }();
    send_all(std::string_view(many).substr(0, std::size_t{2} * times));
    char reply[200];
    read_exact(reply, std::size_t{2} * times);
  }

 private:
  void send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("raw ping: cannot send");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void read_exact(char* to, std::size_t size) const {
    while (size > 0) {
      const ssize_t got = recv(fd_, to, size, 0);
      if (got <= 0) throw std::runtime_error("raw ping: connection ended");
      to += got;
      size -= static_cast<std::size_t>(got);
    }
  }
  int fd_;
};

}  // namespace

Contestant raw_ping(const Target& target, Load load) {
  const unsigned threads = load == Load::eight ? 8 : 1;
  const unsigned batch = load == Load::hundred ? 100 : 1;
  auto connections = std::make_shared<std::vector<std::unique_ptr<PingConnection>>>();
  for (unsigned i = 0; i < threads; ++i) {
    connections->push_back(std::make_unique<PingConnection>(target));
  }
  return {"raw PINGREQ", [=](std::chrono::milliseconds length) {
            return measure(threads, length, [&](unsigned thread, const auto& stop, Samples& out) {
              while (!stop()) {
                const auto start = std::chrono::steady_clock::now();
                (*connections)[thread]->ping(batch);
                const auto took = std::chrono::steady_clock::now() - start;
                for (unsigned i = 0; i < batch; ++i) out.push_back(took);
              }
            });
          }};
}

}  // namespace bench
