#pragma once

// Client packets as bytes, and a reader for what a server sends.
//
// Thread rule: one thread at a time.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "protocol/mqtt5/packets.h"

namespace sheaf::store::server::test {

namespace mqtt5 = protocol::mqtt5;

inline Now at(std::int64_t milliseconds) {
  return {std::chrono::milliseconds(milliseconds),
          std::chrono::milliseconds(1'696'374'425'000 + milliseconds)};
}

template <class Packet>
std::string bytes(const Packet& packet) {
  std::string out;
  ByteWriter writer(out);
  packet.encode(writer);
  return out;
}

// Properties written by `fill(PropertyWriter&)`.
template <class Fill>
std::string properties(Fill fill) {
  std::string out;
  ByteWriter writer(out);
  mqtt5::PropertyWriter properties(writer);
  fill(properties);
  return out;
}

inline std::string connect(std::string_view client_id, std::uint16_t keep_alive = 0,
                           std::string_view raw_properties = {}) {
  mqtt5::Connect packet;
  packet.client_id = client_id;
  packet.keep_alive = keep_alive;
  packet.properties.raw = raw_properties;
  return bytes(packet);
}

inline std::string subscribe(std::uint16_t id, const std::vector<std::string_view>& filters,
                             std::uint8_t qos = 1) {
  std::string entries;
  ByteWriter writer(entries);
  for (const std::string_view filter : filters) {
    mqtt5::Subscription entry;
    entry.filter = filter;
    entry.qos = qos;
    entry.encode(writer);
  }
  mqtt5::Subscribe packet;
  packet.packet_id = id;
  packet.entries = mqtt5::EntryList<mqtt5::Subscription>(entries);
  return bytes(packet);
}

inline std::string unsubscribe(std::uint16_t id, const std::vector<std::string_view>& filters) {
  std::string entries;
  ByteWriter writer(entries);
  for (const std::string_view filter : filters) mqtt5::Unsubscribe::encode_filter(writer, filter);
  mqtt5::Unsubscribe packet;
  packet.packet_id = id;
  packet.entries = mqtt5::EntryList<std::string_view>(entries);
  return bytes(packet);
}

inline std::string publish(std::uint8_t qos, std::uint16_t id, std::string_view topic,
                           std::string_view payload, std::string_view raw_properties = {}) {
  mqtt5::Publish packet;
  packet.qos = qos;
  packet.packet_id = id;
  packet.topic = topic;
  packet.payload = payload;
  packet.properties.raw = raw_properties;
  return bytes(packet);
}

inline std::string puback(std::uint16_t id) {
  mqtt5::Puback packet;
  packet.packet_id = id;
  return bytes(packet);
}

// Gives all of `input` to a session or connection in pieces of `piece` bytes. Calls `after` after
// each piece. Returns what was not taken.
template <class Session, class After>
std::string_view feed(Session& session, std::string_view input, Now now, std::size_t piece,
                      After after) {
  while (!input.empty()) {
    const auto space = session.input_space();
    if (space.empty()) break;
    const std::size_t size = std::min({space.size(), input.size(), piece});
    std::memcpy(space.data(), input.data(), size);
    session.on_input(size, now);
    input.remove_prefix(size);
    after();
  }
  return input;
}

// Takes all output, in pieces of `piece` bytes.
template <class Session>
std::string take(Session& session, Now now, std::size_t piece = SIZE_MAX) {
  std::string out;
  for (;;) {
    const auto spans = session.poll_output();
    if (spans.empty()) return out;
    const std::string_view text = as_text(spans[0]).substr(0, piece);
    out += text;
    session.on_output(text.size(), now);
  }
}

// The packets of a byte stream, each with its bytes. An incomplete last one is omitted.
struct Packet {
  mqtt5::Frame frame;
  std::string bytes;
  mqtt5::PacketType type() const { return frame.type; }
};
inline std::vector<Packet> packets(std::string_view stream) {
  std::vector<Packet> all;
  for (;;) {
    const auto found = mqtt5::read_frame(stream);
    if (found.state != mqtt5::FrameResult::State::frame) return all;
    all.push_back({found.frame, std::string(stream.substr(0, found.frame.total_size))});
    stream.remove_prefix(found.frame.total_size);
  }
}

}  // namespace sheaf::store::server::test
