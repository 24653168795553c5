// MQTT packets: the fixed header, then every packet. A packet that parses is encoded to bytes that
// parse to the same packet.

#include "protocol/mqtt5/packets.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::mqtt5;

template <class Packet>
std::string check(const Frame& frame, std::string_view bytes) {
  const auto packet = Packet::parse(frame, bytes);
  if (!packet) {
    expect(!packet.error().text.empty(), "a refusal says why");
    return {};
  }
  const std::string again = encoded(*packet);
  const FrameResult found = read_frame(again);
  expect(found.state == FrameResult::State::frame && found.frame.total_size == again.size(),
         "an encoded packet is one frame");
  const auto back = Packet::parse(found.frame, again);
  expect(back.has_value() && encoded(*back) == again, "an encoded packet parses to itself");
  return again;
}

void check_publish(const Frame& frame, std::string_view bytes, std::size_t cut) {
  const auto whole = Publish::parse(frame, bytes);
  const auto head = Publish::parse_head(frame, bytes.substr(0, cut));
  if (!head || !*head) return;
  if (whole) {
    expect((*head)->topic == whole->topic, "the head has the topic of the packet");
    expect(whole->payload.starts_with((*head)->payload), "the head has a part of the payload");
  }
}

void check_entries(const Frame& frame, std::string_view bytes) {
  if (const auto packet = Subscribe::parse(frame, bytes)) {
    std::string raw;
    ByteWriter out(raw);
    for (const Subscription& entry : packet->entries) entry.encode(out);
    expect(raw == packet->entries.raw(), "the entries of SUBSCRIBE are all of its payload");
  }
}

void check_packet(const Frame& frame, std::string_view bytes, std::size_t cut) {
  switch (frame.type) {
    case PacketType::connect:
      check<Connect>(frame, bytes);
      break;
    case PacketType::connack:
      check<Connack>(frame, bytes);
      break;
    case PacketType::publish:
      check<Publish>(frame, bytes);
      check_publish(frame, bytes, cut);
      break;
    case PacketType::puback:
      check<Puback>(frame, bytes);
      break;
    case PacketType::subscribe:
      check<Subscribe>(frame, bytes);
      check_entries(frame, bytes);
      break;
    case PacketType::suback:
      check<Suback>(frame, bytes);
      break;
    case PacketType::unsubscribe:
      check<Unsubscribe>(frame, bytes);
      break;
    case PacketType::unsuback:
      check<Unsuback>(frame, bytes);
      break;
    case PacketType::pingreq:
      check<Pingreq>(frame, bytes);
      break;
    case PacketType::pingresp:
      check<Pingresp>(frame, bytes);
      break;
    case PacketType::disconnect:
      check<Disconnect>(frame, bytes);
      break;
    case PacketType::auth:
      check<Auth>(frame, bytes);
      break;
    default:
      break;
  }
}

std::string with(std::string_view properties, auto packet) {
  packet.properties.raw = properties;
  return encoded(packet);
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const std::size_t cut = input.u8();
  const std::string_view stream = input.rest();
  const FrameResult found = read_frame(stream);
  for (std::size_t size = 0; size < 6 && size < stream.size(); ++size) {
    const FrameResult early = read_frame(stream.substr(0, size));
    expect(early.state != FrameResult::State::frame || early.frame.total_size <= size,
           "a frame is whole");
  }
  if (found.state != FrameResult::State::frame) return;
  expect(found.frame.total_size <= stream.size(), "a frame lies within the input");
  check_packet(found.frame, stream.substr(0, found.frame.total_size), cut);
}

std::vector<std::string> seeds() {
  std::string properties;
  ByteWriter out(properties);
  PropertyWriter(out).user("__ts", "001696374425000:00001:StateStore");
  PropertyWriter(out).text(PropertyId::reason_string, "why");
  std::string entries;
  ByteWriter entry_bytes(entries);
  Subscription{"a/+/#", 1, true, false, 2}.encode(entry_bytes);
  std::string filters;
  ByteWriter filter_bytes(filters);
  Unsubscribe::encode_filter(filter_bytes, "a/b");
  Connect connect;
  connect.client_id = "client-id1";
  connect.will = Connect::Will{1, false, {}, "gone", "bye"};
  connect.user = "ann";
  connect.password = "secret";
  std::vector<std::string> all{encoded(connect),
                               encoded(Connack{false, ReasonCode::success, {}}),
                               encoded(Pingreq{}),
                               encoded(Pingresp{}),
                               encoded(Subscribe{1, {}, EntryList<Subscription>(entries)}),
                               encoded(Suback{1, {}, "\x01"}),
                               encoded(Unsubscribe{2, {}, EntryList<std::string_view>(filters)}),
                               encoded(Unsuback{2, {}, "\x11"}),
                               with(properties, Puback{7, ReasonCode::not_authorized, {}}),
                               with(properties, Disconnect{ReasonCode::server_busy, {}}),
                               with({}, Auth{ReasonCode::reauthenticate, {}})};
  properties.resize(PropertyWriter::user_size("__ts", "001696374425000:00001:StateStore"));
  Publish publish;
  publish.qos = 1;
  publish.packet_id = 9;
  publish.topic = "clients/a/answers";
  publish.payload = "$5\r\nvalue\r\n";
  all.push_back(with(properties, publish));
  for (std::string& seed : all) seed.insert(0, 1, '\x20');
  return all;
}

}  // namespace sheaf::fuzz
