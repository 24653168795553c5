// The limit of a get: the same request and reply as libmosquitto's, written in advance, over a
// blocking socket. Replies are only counted. No client that speaks the protocol and sleeps while it
// waits can be faster.

#include <memory>
#include <string>
#include <string_view>

#include "bench/raw_socket.h"

namespace bench {
namespace {

std::string text16(std::string_view text) {
  return std::string{static_cast<char>(text.size() >> 8), static_cast<char>(text.size())} +
         std::string(text);
}

// A packet with at most 16,383 bytes after its fixed header.
std::string packet(char first, const std::string& rest) {
  std::string out(1, first);
  if (rest.size() < 128) return out + static_cast<char>(rest.size()) + rest;
  out += static_cast<char>(rest.size() % 128 | 128);
  return out + static_cast<char>(rest.size() / 128) + rest;
}

class GetConnection {
 public:
  GetConnection(const Target& target, unsigned index)
      : socket_(target), topic_("clients/bench-raw-" + std::to_string(index) + "/response") {
    // Clean start, keep-alive 600 s, no properties.
    socket_.send_all(packet(0x10, text16("MQTT") + std::string("\x05\x02\x02\x58\x00", 5) +
                                      text16("bench-raw-" + std::to_string(index))));
    take_packet();
    socket_.send_all(packet('\x82', std::string("\xff\xff\x00", 3) + text16(topic_) + '\x01'));
    take_packet();
  }
  void get(unsigned times) {
    std::string out;
    for (unsigned i = 0; i < times; ++i) out += request();
    socket_.send_all(out + acks_);  // PUBACKs follow the requests
    acks_.clear();
    for (unsigned left = times; left > 0;) {
      if (take_packet()) --left;
    }
  }

 private:
  std::string request() {
    id_ = id_ % 60'000 + 1;
    std::string correlation(16, '\0');
    correlation[0] = static_cast<char>(id_ >> 8);
    correlation[1] = static_cast<char>(id_);
    const std::string properties = '\x08' + text16(topic_) + '\x09' + text16(correlation);
    const std::string id{static_cast<char>(id_ >> 8), static_cast<char>(id_)};
    return packet('\x32',
                  text16("statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke") + id +
                      static_cast<char>(properties.size()) + properties +
                      "*2\r\n$3\r\nGET\r\n$9\r\nbench/key\r\n");
  }
  // Takes one packet off the input. True if it was a PUBLISH, which will be acknowledged.
  bool take_packet() {
    for (;;) {
      const std::string_view rest = std::string_view(input_).substr(at_);
      std::size_t size = 0;
      std::size_t head = 0;
      if (rest.size() >= 2 && (rest[1] & 128) == 0) {
        head = 2;
        size = head + static_cast<unsigned char>(rest[1]);
      } else if (rest.size() >= 3) {
        head = 3;
        size = head + (static_cast<unsigned char>(rest[1]) & 127) +
               128u * static_cast<unsigned char>(rest[2]);
      }
      if (head > 0 && rest.size() >= size) {
        const bool publish = (rest[0] & 0xf0) == 0x30;
        if (publish) {
          const std::size_t topic = static_cast<unsigned char>(rest[head + 1]);
          acks_ += std::string("\x40\x02", 2) + std::string(rest.substr(head + 2 + topic, 2));
        }
        at_ += size;
        return publish;
      }
      input_.erase(0, at_);
      at_ = 0;
      char buffer[32768];
      input_.append(buffer, socket_.read_some(buffer, sizeof buffer));
    }
  }
  RawSocket socket_;
  std::string topic_;
  std::string input_;
  std::size_t at_ = 0;
  std::string acks_;
  unsigned id_ = 0;
};

}  // namespace

Contestant raw_get(const Target& target, Load load) {
  const unsigned threads = load == Load::eight ? 8 : 1;
  const unsigned batch = load == Load::hundred ? 100 : 1;
  auto connections = std::make_shared<std::vector<std::unique_ptr<GetConnection>>>();
  for (unsigned i = 0; i < threads; ++i) {
    connections->push_back(
        std::make_unique<GetConnection>(target, i + 100 * static_cast<unsigned>(load)));
  }
  return {"raw get", [=](std::chrono::milliseconds length) {
            return measure(threads, length, [&](unsigned thread, const auto& stop, Samples& out) {
              while (!stop()) {
                const auto start = std::chrono::steady_clock::now();
                (*connections)[thread]->get(batch);
                const auto took = std::chrono::steady_clock::now() - start;
                for (unsigned i = 0; i < batch; ++i) out.push_back(took);
              }
            });
          }};
}

}  // namespace bench
