#include "tests/live/plugin/store_client.h"

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace sheaf::test {

std::string command(std::initializer_list<std::string_view> arguments) {
  std::string out = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string_view argument : arguments) {
    out += "$" + std::to_string(argument.size()) + "\r\n";
    out += argument;
    out += "\r\n";
  }
  return out;
}

std::string timestamp(std::int64_t ahead_ms) {
  using namespace std::chrono;
  const auto wall = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  return std::to_string(wall + ahead_ms) + ":0:tester";
}

std::string notification_topic(std::string_view client_id, std::string_view key) {
  const auto hex = [](std::string_view bytes) {
    std::string out;
    char digits[3];
    for (const char c : bytes) {
      std::snprintf(digits, sizeof digits, "%02X",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += digits;
    }
    return out;
  };
  return std::string(store_tree) + "/" + hex(client_id) + "/command/notify/" + hex(key);
}

StoreClient::StoreClient(std::uint16_t port, ConnectOptions options)
    : mqtt_(port, std::move(options)),
      response_topic_("clients/" + mqtt_.client_id() +
                      "/services/statestore/_any_/command/invoke/response") {}

Outgoing StoreClient::request(std::string payload) {
  char correlation[17];
  std::snprintf(correlation, sizeof correlation, "correlation%05u", next_++ % 100000u);
  Outgoing out;
  out.topic = store_request;
  out.payload = std::move(payload);
  out.response_topic = response_topic_;
  out.correlation = correlation;
  out.user = {{"__ts", timestamp()}, {"__protVer", "1.0"}, {"__srcId", mqtt_.client_id()}};
  return out;
}

Message StoreClient::ask(const Outgoing& request) {
  const std::uint16_t id = mqtt_.send(request);
  if (request.qos > 0 && mqtt_.wait_puback(id) != std::uint8_t{0}) {
    throw std::runtime_error("no PUBACK 0x00 for the request");
  }
  while (std::optional<Message> message = mqtt_.receive()) {
    if (message->topic.starts_with(store_tree)) {
      notifications_.push_back(*std::move(message));
    } else if (message->correlation == request.correlation) {
      return *std::move(message);
    }
  }
  throw std::runtime_error("no answer to: " + request.payload.substr(0, 100));
}

std::string StoreClient::operator()(std::initializer_list<std::string_view> arguments) {
  return (*this)(command(arguments));
}

std::string StoreClient::operator()(std::string payload) {
  return ask(request(std::move(payload))).payload;
}

std::string StoreClient::inspect(std::initializer_list<std::string_view> arguments) {
  Outgoing question = request(command(arguments));
  question.topic = store_inspection;
  return ask(question).payload;
}

std::optional<Message> StoreClient::notification() {
  if (notifications_.empty()) return mqtt_.receive();
  Message first = std::move(notifications_.front());
  notifications_.pop_front();
  return first;
}

bool StoreClient::no_notification() { return notifications_.empty() && mqtt_.nothing_arrives(); }

}  // namespace sheaf::test
