#pragma once

// A client of a host, and the requests that it sends.
//
// Thread rule: that of the host.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/statestore/topics.h"
#include "store/server/host.h"
#include "tests/store/server/wire.h"

namespace sheaf::store::server::test {

using mqtt5::PacketType;
using mqtt5::PropertyId;
using mqtt5::ReasonCode;
namespace statestore = protocol::statestore;

inline std::string command(std::initializer_list<std::string_view> arguments) {
  std::string out = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string_view argument : arguments) {
    out += "$" + std::to_string(argument.size()) + "\r\n" + std::string(argument) + "\r\n";
  }
  return out;
}

// One client of a host. It acknowledges what it receives and keeps all packets.
class HostClient {
 public:
  HostClient(Host& host, std::string client_id, std::int64_t now = 0)
      : id_(std::move(client_id)), now_(now), connection_(host.connect(at(now))) {
    send(connect(id_));
  }

  void send(std::string_view input) {
    feed(*connection_, input, at(now_), SIZE_MAX, [] {});
  }
  // Reads what is there. Returns the publishes; all else is added to `control`.
  std::vector<mqtt5::Publish> read() {
    received_.clear();
    for (bool more = true; more;) {
      more = false;
      for (Packet& packet : packets(take(*connection_, at(now_)))) {
        more = true;
        if (packet.type() == PacketType::publish) {
          const auto publish = mqtt5::Publish::parse(packet.frame, packet.bytes);
          if (publish->qos == 1) acks_ += puback(publish->packet_id);
          received_.push_back(std::make_unique<Packet>(std::move(packet)));
        } else {
          control.push_back(std::move(packet));
        }
      }
      if (!connection_->closed()) send(std::exchange(acks_, {}));
    }
    std::vector<mqtt5::Publish> all;
    for (const auto& packet : received_) {
      all.push_back(*mqtt5::Publish::parse(packet->frame, packet->bytes));
    }
    return all;
  }

  // Request properties with the present time as timestamp.
  std::string request_properties(std::string_view response_topic, std::string_view correlation) {
    return properties([&](auto& p) {
      p.text(PropertyId::response_topic, response_topic);
      if (!correlation.empty()) p.text(PropertyId::correlation_data, correlation);
      p.user("__ts", std::to_string(at(now_).wall.count()) + ":0:tester");
    });
  }
  void request(std::initializer_list<std::string_view> arguments, std::string_view correlation,
               std::string_view topic = statestore::request_topic) {
    send(publish(1, next_id_++, topic, command(arguments),
                 request_properties("clients/" + id_ + "/r", correlation)));
  }
  // Asks, and returns the answer's payload. Other publishes are added to `others`.
  std::string ask(std::initializer_list<std::string_view> arguments,
                  std::string_view topic = statestore::request_topic) {
    const std::string correlation = "correlation" + std::to_string(next_id_);
    request(arguments, correlation, topic);
    std::string answer = "none";
    for (const mqtt5::Publish& publish : read()) {
      if (publish.properties.correlation_data == correlation)
        answer = publish.payload;
      else
        others.emplace_back(publish.payload);
    }
    return answer;
  }
  std::vector<std::string> payloads() {
    std::vector<std::string> all = std::exchange(others, {});
    for (const mqtt5::Publish& publish : read()) all.emplace_back(publish.payload);
    return all;
  }
  ReasonCode disconnect_code() {
    read();
    if (control.empty() || control.back().type() != PacketType::disconnect) {
      return ReasonCode::success;
    }
    return mqtt5::Disconnect::parse(control.back().frame, control.back().bytes)->code;
  }
  void close() { connection_->on_eof(at(now_)); }

  Host::Connection& connection() { return *connection_; }
  void set_time(std::int64_t now) { now_ = now; }

  std::vector<Packet> control;
  std::vector<std::string> others;

 private:
  std::string id_;
  std::int64_t now_;
  Host::Connection* connection_;
  std::uint16_t next_id_ = 1;
  std::string acks_;
  std::vector<std::unique_ptr<Packet>> received_;
};

}  // namespace sheaf::store::server::test
