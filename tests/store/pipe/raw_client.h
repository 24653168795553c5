#pragma once

// A hand-written MQTT client of a state store, over any dialer. It does what sessions do, but shows
// every packet.
//
// Thread rule: belongs to one loop.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/mqtt5/packets.h"
#include "protocol/statestore/topics.h"
#include "socket/seam.h"
#include "tests/store/server/wire.h"

namespace sheaf::store::test {

namespace mqtt5 = protocol::mqtt5;
namespace wire = server::test;

class RawClient final : public socket::StreamSink, public socket::DialSink {
 public:
  explicit RawClient(std::string id) : id_(std::move(id)) {}

  void dial(socket::Dialer& dialer, const socket::Endpoint& endpoint, Deadline deadline) {
    dial_ = dialer.dial(endpoint, deadline, *this, *this);
  }
  // Drops the connection without DISCONNECT.
  void leave() {
    dial_.reset();
    stream_.reset();
  }
  void request(std::string_view correlation, std::string_view payload) {
    const std::string topic = "clients/" + id_ + "/response";
    const std::string properties = wire::properties([&](mqtt5::PropertyWriter& writer) {
      writer.text(mqtt5::PropertyId::response_topic, topic);
      writer.text(mqtt5::PropertyId::correlation_data, correlation);
      writer.user("__ts", std::to_string(connected_at_.wall.count()) + ":0:" + id_);
    });
    ++packet_id_;
    if (packet_id_ == 0) packet_id_ = 1;
    send(wire::publish(1, packet_id_, protocol::statestore::request_topic, payload, properties));
  }
  void send(std::string_view bytes) {
    out_.append(bytes);
    flush();
  }

  bool connecting() const { return dial_ != nullptr; }
  const socket::Stream* stream() const { return stream_.get(); }

  bool ready = false;                                              // CONNACK with success
  bool closed = false;                                             // by the other side
  bool reading = true;                                             // false: no space for what comes
  bool blocked = false;                                            // until on_writable()
  std::string failed;                                              // why the dial failed
  std::map<std::string, std::vector<std::string>> replies;         // payloads by correlation data
  std::vector<std::pair<std::string, std::string>> notifications;  // topic, payload
  std::vector<mqtt5::ReasonCode> acknowledged;
  std::size_t largest_space = 64 * 1024;
  std::function<void()> on_publish;        // after one has been recorded
  std::function<void()> on_event = [] {};  // before each call of a sink: the turn need not wait

 private:
  void on_connected(std::unique_ptr<socket::Stream> stream, Now now) override {
    on_event();
    connected_at_ = now;
    stream_ = std::move(stream);
    dial_.reset();
    send(wire::connect(id_, 60));
  }
  void on_dial_failed(socket::DialFailure why, Now) override {
    on_event();
    failed = std::move(why.text);
    dial_.reset();
  }
  std::span<std::byte> read_space() override {
    space_.resize(reading ? largest_space : 0);
    return std::as_writable_bytes(std::span(space_));
  }
  void on_read(std::size_t size, Now) override {
    on_event();
    in_.append(space_, 0, size);
    std::size_t at = 0;
    for (;;) {
      const auto rest = std::string_view(in_).substr(at);
      const auto found = mqtt5::read_frame(rest);
      if (found.state != mqtt5::FrameResult::State::frame) break;
      at += found.frame.total_size;
      on_packet(found.frame, rest.substr(0, found.frame.total_size));
    }
    in_.erase(0, at);
    if (on_publish && std::exchange(published_, false)) on_publish();  // may destroy the stream
  }
  void on_writable(Now) override {
    on_event();
    blocked = false;
    flush();
  }
  void on_closed(int, Now) override {
    on_event();
    closed = true;
    stream_.reset();
  }

  void on_packet(const mqtt5::Frame& frame, std::string_view packet) {
    if (frame.type == mqtt5::PacketType::connack) {
      ready = mqtt5::Connack::parse(frame, packet)->code == mqtt5::ReasonCode::success;
    } else if (frame.type == mqtt5::PacketType::puback) {
      acknowledged.push_back(mqtt5::Puback::parse(frame, packet)->code);
    } else if (frame.type == mqtt5::PacketType::publish) {
      const auto publish = mqtt5::Publish::parse(frame, packet);
      published_ = true;
      if (protocol::statestore::in_notification_tree(publish->topic)) {
        notifications.emplace_back(publish->topic, publish->payload);
      } else {
        const auto correlation = publish->properties.correlation_data.value_or("");
        replies[std::string(correlation)].emplace_back(publish->payload);
      }
      if (publish->qos == 1) send(wire::puback(publish->packet_id));
    }
  }
  void flush() {
    if (stream_ == nullptr || out_.empty() || blocked) return;
    const Bytes parts[] = {as_bytes(out_)};
    out_.erase(0, stream_->write(parts));
    blocked = !out_.empty();
  }

  std::string id_;
  std::unique_ptr<socket::Dial> dial_;
  std::unique_ptr<socket::Stream> stream_;
  Now connected_at_;
  std::uint16_t packet_id_ = 0;
  std::string space_;
  std::string in_;
  std::string out_;
  bool published_ = false;
};

// A command as the protocol page shows it: an array of bulk strings.
inline std::string command(const std::vector<std::string_view>& parts) {
  std::string out = "*" + std::to_string(parts.size()) + "\r\n";
  for (const std::string_view part : parts) {
    out += "$" + std::to_string(part.size()) + "\r\n";
    out.append(part).append("\r\n");
  }
  return out;
}

}  // namespace sheaf::store::test
