// The floor: PINGREQ and PINGRESP over a blocking socket, with nothing in between.

#include <memory>
#include <string>
#include <string_view>

#include "bench/raw_socket.h"

namespace bench {
namespace {

class PingConnection {
 public:
  explicit PingConnection(const Target& target) : socket_(target) {
    // CONNECT, MQTT 5, clean start, keep-alive 600 s, no properties, no client ID.
    socket_.send_all({"\x10\x0d\x00\x04MQTT\x05\x02\x02\x58\x00\x00\x00", 15});
    char header[2];
    read_exact(header, 2);
    char rest[128];
    read_exact(rest, static_cast<unsigned char>(header[1]));
  }
  void ping(unsigned times) {
    static const std::string many = [] {
      std::string text;
      for (int i = 0; i < 100; ++i) text.append("\xc0\x00", 2);
      return text;
    }();
    socket_.send_all(std::string_view(many).substr(0, std::size_t{2} * times));
    char reply[200];
    read_exact(reply, std::size_t{2} * times);
  }

 private:
  void read_exact(char* to, std::size_t size) const {
    while (size > 0) {
      const std::size_t got = socket_.read_some(to, size);
      to += got;
      size -= got;
    }
  }
  RawSocket socket_;
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
