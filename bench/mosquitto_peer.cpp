// The peer: libmosquitto does the same request and response with the same plugin. The caller runs
// the library's loop itself, which is its fastest configuration.

#include <mosquitto.h>
#if !__has_include(<mosquitto/mqtt_protocol.h>)  // 2.0; 2.1 has it in the header above
#include <mqtt_protocol.h>
#endif

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>

#include "bench/measure.h"

namespace bench {
namespace {

constexpr const char* request_topic =
    "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke";
constexpr std::string_view get_request = "*2\r\n$3\r\nGET\r\n$9\r\nbench/key\r\n";

class MosquittoClient {
 public:
  MosquittoClient(const Target& target, unsigned index)
      : reply_topic_("clients/bench-mosquitto-" + std::to_string(index) + "/response") {
    static const int initialised = mosquitto_lib_init();
    static_cast<void>(initialised);
    handle_ = mosquitto_new(("bench-mosquitto-" + std::to_string(index)).c_str(), true, this);
    mosquitto_int_option(handle_, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_int_option(handle_, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_int_option(handle_, MOSQ_OPT_RECEIVE_MAXIMUM, 65535);
    mosquitto_int_option(handle_, MOSQ_OPT_SEND_MAXIMUM, 65535);
    mosquitto_subscribe_v5_callback_set(
        handle_, [](mosquitto*, void* self, int, int, const int*, const mosquitto_property*) {
          static_cast<MosquittoClient*>(self)->ready_ = true;
        });
    mosquitto_message_v5_callback_set(handle_, &MosquittoClient::on_message);
    check(mosquitto_connect(handle_, target.host.c_str(), target.port, 60));
    check(mosquitto_subscribe(handle_, nullptr, reply_topic_.c_str(), 1));
    while (!ready_) check(mosquitto_loop(handle_, 1000, 1));
  }
  ~MosquittoClient() {
    mosquitto_disconnect(handle_);
    mosquitto_destroy(handle_);
  }
  MosquittoClient(const MosquittoClient&) = delete;
  MosquittoClient& operator=(const MosquittoClient&) = delete;

  void send() {
    ++sequence_;
    std::array<unsigned char, 16> correlation{};
    std::memcpy(correlation.data(), &sequence_, sizeof sequence_);
    mosquitto_property* properties = nullptr;
    mosquitto_property_add_string(&properties, MQTT_PROP_RESPONSE_TOPIC, reply_topic_.c_str());
    mosquitto_property_add_binary(&properties, MQTT_PROP_CORRELATION_DATA, correlation.data(),
                                  correlation.size());
    check(mosquitto_publish_v5(handle_, nullptr, request_topic,
                               static_cast<int>(get_request.size()), get_request.data(), 1, false,
                               properties));
    mosquitto_property_free_all(&properties);
    sent_.emplace_back(sequence_, std::chrono::steady_clock::now());
  }
  // Runs the loop until at most `left` requests are unanswered.
  void wait(std::size_t left, Samples& out) {
    out_ = &out;
    while (sent_.size() > left) check(mosquitto_loop(handle_, 1000, 1));
  }

 private:
  static void check(int code) {
    if (code != MOSQ_ERR_SUCCESS) {
      throw std::runtime_error(std::string("libmosquitto: ") + mosquitto_strerror(code));
    }
  }
  static void on_message(mosquitto*, void* object, const mosquitto_message*,
                         const mosquitto_property* properties) {
    auto& self = *static_cast<MosquittoClient*>(object);
    void* data = nullptr;
    std::uint16_t size = 0;
    mosquitto_property_read_binary(properties, MQTT_PROP_CORRELATION_DATA, &data, &size, false);
    std::uint64_t sequence = 0;
    if (size >= sizeof sequence) std::memcpy(&sequence, data, sizeof sequence);
    free(data);
    if (self.sent_.empty() || self.sent_.front().first != sequence) {
      throw std::runtime_error("libmosquitto: an answer to another request");
    }
    self.out_->push_back(std::chrono::steady_clock::now() - self.sent_.front().second);
    self.sent_.pop_front();
  }

  std::string reply_topic_;
  mosquitto* handle_ = nullptr;
  bool ready_ = false;
  std::uint64_t sequence_ = 0;
  std::deque<std::pair<std::uint64_t, std::chrono::steady_clock::time_point>> sent_;
  Samples* out_ = nullptr;
};

}  // namespace

Contestant mosquitto_peer(const Target& target, Load load) {
  const unsigned threads = load == Load::eight ? 8 : 1;
  const std::size_t window = load == Load::hundred ? 100 : 1;
  auto clients = std::make_shared<std::vector<std::unique_ptr<MosquittoClient>>>();
  for (unsigned i = 0; i < threads; ++i) {
    clients->push_back(
        std::make_unique<MosquittoClient>(target, i + 100 * static_cast<unsigned>(load)));
  }
  return {"libmosquitto", [=](std::chrono::milliseconds length) {
            return measure(threads, length, [&](unsigned thread, const auto& stop, Samples& out) {
              MosquittoClient& client = *(*clients)[thread];
              while (!stop()) {
                client.send();
                client.wait(window - 1, out);
              }
              client.wait(0, out);
            });
          }};
}

}  // namespace bench
