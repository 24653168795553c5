#pragma once

// A client of the state store for the plugin tests: requests as hand-written payloads.
//
// Thread rule: one thread at a time.

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "tests/live/plugin/mqtt_client.h"

namespace sheaf::test {

inline constexpr std::string_view store_request =
    "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke";
inline constexpr std::string_view store_inspection =
    "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/sheaf/inspect";
inline constexpr std::string_view store_tree =
    "clients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8";

// These arguments as "*3\r\n$3\r\nSET\r\n...".
std::string command(std::initializer_list<std::string_view> arguments);
// The wall clock, `ahead_ms` from now, as a timestamp of the node "tester".
std::string timestamp(std::int64_t ahead_ms = 0);
// The notification topic of a key for a client, written with a hex conversion of the test's own.
std::string notification_topic(std::string_view client_id, std::string_view key);

class StoreClient {
 public:
  StoreClient(std::uint16_t port, std::string client_id) : StoreClient(port, named(client_id)) {}
  StoreClient(std::uint16_t port, ConnectOptions options);

  MqttClient& mqtt() { return mqtt_; }
  const std::string& response_topic() const { return response_topic_; }

  // A complete request; change a member, then send it.
  Outgoing request(std::string payload);
  // Sends it, waits for PUBACK 0x00 and the answer with this correlation. Throws on anything else.
  Message ask(const Outgoing& request);
  // The same; returns the payload.
  std::string operator()(std::initializer_list<std::string_view> arguments);
  std::string operator()(std::string payload);

  // Asks the store about itself; returns the answer's payload.
  std::string inspect(std::initializer_list<std::string_view> arguments);

  // The next notification; nothing if none comes in time.
  std::optional<Message> notification();
  // True if no notification has come and none comes before a ping is answered.
  bool no_notification();

 private:
  static ConnectOptions named(const std::string& client_id) {
    ConnectOptions options;
    options.client_id = client_id;
    return options;
  }

  MqttClient mqtt_;
  std::string response_topic_;
  std::uint32_t next_ = 1;
  std::deque<Message> notifications_;
};

}  // namespace sheaf::test
