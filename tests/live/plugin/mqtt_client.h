#pragma once

// A small blocking MQTT 5 client for tests on a real broker. It shows every packet and hides
// nothing. It waits only for packets, with a limit; ping() is the barrier that proves that no
// packet came.
//
// Thread rule: one thread at a time.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/wire.h"

namespace sheaf::test {

using UserProperties = std::vector<std::pair<std::string, std::string>>;

// A received PUBLISH.
struct Message {
  std::string topic;
  std::string payload;
  std::uint8_t qos = 0;
  bool retain = false;
  std::string content_type;
  std::optional<std::string> correlation;
  UserProperties user;

  // The value of the user property of this name; nothing unless there is exactly one.
  std::optional<std::string> user_value(std::string_view name) const;
};

// A PUBLISH to send.
struct Outgoing {
  std::string topic;
  std::string payload;
  std::uint8_t qos = 1;
  bool retain = false;
  bool dup = false;
  std::optional<std::uint16_t> packet_id;  // none: the next one
  std::optional<std::string> response_topic;
  std::optional<std::string> correlation;
  UserProperties user;
};

struct Will {
  std::string topic;
  std::string payload;
};

struct ConnectOptions {
  std::string client_id;
  bool clean_start = true;
  std::uint32_t session_expiry = 0;
  std::string user;
  std::string password;
  std::optional<Will> will;
  // Connects to a port of 127.0.0.1.
  std::function<std::unique_ptr<Wire>(std::uint16_t port)> connect = connect_tcp;
};

class MqttClient {
 public:
  // Connects and waits for CONNACK. Throws std::runtime_error if none arrives.
  MqttClient(std::uint16_t port, ConnectOptions options);
  ~MqttClient();
  MqttClient(const MqttClient&) = delete;
  MqttClient& operator=(const MqttClient&) = delete;

  const std::string& client_id() const { return options_.client_id; }
  std::uint8_t connack_reason() const { return connack_reason_; }
  bool session_present() const { return session_present_; }

  std::uint8_t subscribe(std::string_view filter, std::uint8_t qos = 1);
  // Sends without waiting; returns the packet ID (0 with QoS 0).
  std::uint16_t send(const Outgoing& message);
  // The reason code of the PUBACK; nothing if the connection ended first.
  std::optional<std::uint8_t> wait_puback(std::uint16_t packet_id);
  // Receives and acknowledges the next PUBLISH. Nothing if the connection ended or none came in
  // time.
  std::optional<Message> receive(std::chrono::milliseconds limit = std::chrono::seconds(20));
  // Sends PINGREQ twice and waits for the answers. Everything that the broker had for us is then
  // received.
  bool ping();
  // True if no PUBLISH has arrived and none does before the broker has answered a ping().
  bool nothing_arrives();
  // The reason code of the broker's DISCONNECT; 0 if the connection just ended.
  std::optional<std::uint8_t> wait_end();
  void send_raw(std::string_view bytes);
  void disconnect();  // DISCONNECT 0x00; returns when the broker has closed
  void drop();        // closes without DISCONNECT

 private:
  std::uint16_t take_id();
  bool pump(std::chrono::steady_clock::time_point end);  // reads one packet; false: ended or late
  bool fill(std::chrono::steady_clock::time_point end);
  void handle(std::string_view packet);
  void handle_publish(std::string_view packet);

  ConnectOptions options_;
  std::unique_ptr<Wire> wire_;  // null: dropped
  std::string input_;
  std::uint16_t next_id_ = 1;
  bool connected_ = false;
  bool session_present_ = false;
  std::uint8_t connack_reason_ = 0xFF;
  std::deque<Message> messages_;
  std::deque<std::pair<std::uint16_t, std::uint8_t>> pubacks_;
  std::deque<std::uint8_t> subacks_;
  unsigned pongs_ = 0;
  std::optional<std::uint8_t> end_reason_;
};

}  // namespace sheaf::test
