#include "tests/live/plugin/mqtt_client.h"

#include <algorithm>
#include <stdexcept>

#include "base/byte_reader.h"
#include "base/byte_writer.h"

// Written from the MQTT 5 text, not with protocol/mqtt5: a mistake shared by both ends of a test
// would go unnoticed.

namespace sheaf::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(20);

void put_varint(ByteWriter& out, std::size_t value) {
  do {
    const auto low = static_cast<std::uint8_t>(value & 0x7F);
    value >>= 7;
    out.u8(value > 0 ? static_cast<std::uint8_t>(low | 0x80) : low);
  } while (value > 0);
}

void put_text(ByteWriter& out, std::string_view text) {
  out.u16(static_cast<std::uint16_t>(text.size()));
  out.bytes(text);
}

std::string packet(std::uint8_t first, std::string_view body) {
  std::string out;
  ByteWriter writer(out);
  writer.u8(first);
  put_varint(writer, body.size());
  writer.bytes(body);
  return out;
}

std::size_t get_varint(ByteReader& in) {
  std::size_t value = 0;
  for (unsigned shift = 0; shift < 28; shift += 7) {
    const std::uint8_t byte = in.u8();
    value |= static_cast<std::size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("the broker sent a length of more than four bytes");
}

std::string get_text(ByteReader& in) { return std::string(in.view(in.u16())); }

// Reads the properties that the store's messages have.
void get_properties(ByteReader& in, Message& message) {
  const std::size_t size = get_varint(in);
  ByteReader properties(in.view(size));
  while (properties.left() > 0) {
    switch (const std::uint8_t id = properties.u8(); id) {
      case 0x01:
        properties.u8();
        break;
      case 0x02:
        properties.u32();
        break;
      case 0x03:
        message.content_type = get_text(properties);
        break;
      case 0x08:
        get_text(properties);
        break;
      case 0x09:
        message.correlation = get_text(properties);
        break;
      case 0x26: {
        std::string name = get_text(properties);
        message.user.emplace_back(std::move(name), get_text(properties));
        break;
      }
      default:
        throw std::runtime_error("unexpected property " + std::to_string(id));
    }
  }
  if (properties.failed()) throw std::runtime_error("the broker sent cut properties");
}

std::string connect_packet(const ConnectOptions& options) {
  std::string body;
  ByteWriter out(body);
  put_text(out, "MQTT");
  out.u8(5);
  unsigned flags = options.clean_start ? 0x02u : 0u;
  if (options.will) flags |= 0x0C;  // QoS 1
  if (!options.user.empty()) flags |= 0xC0;
  out.u8(static_cast<std::uint8_t>(flags));
  out.u16(60);
  out.u8(options.session_expiry > 0 ? 5 : 0);
  if (options.session_expiry > 0) {
    out.u8(0x11);
    out.u32(options.session_expiry);
  }
  put_text(out, options.client_id);
  if (options.will) {
    out.u8(0);
    put_text(out, options.will->topic);
    put_text(out, options.will->payload);
  }
  if (!options.user.empty()) {
    put_text(out, options.user);
    put_text(out, options.password);
  }
  return packet(0x10, body);
}

std::string publish_packet(const Outgoing& message, std::uint16_t id) {
  std::string properties;
  ByteWriter props(properties);
  if (message.response_topic) {
    props.u8(0x08);
    put_text(props, *message.response_topic);
  }
  if (message.correlation) {
    props.u8(0x09);
    put_text(props, *message.correlation);
  }
  for (const auto& [name, value] : message.user) {
    props.u8(0x26);
    put_text(props, name);
    put_text(props, value);
  }
  std::string body;
  ByteWriter out(body);
  put_text(out, message.topic);
  if (message.qos > 0) out.u16(id);
  put_varint(out, properties.size());
  out.bytes(properties);
  out.bytes(message.payload);
  const unsigned first = 0x30u | (message.dup ? 8u : 0u) | static_cast<unsigned>(message.qos << 1) |
                         (message.retain ? 1u : 0u);
  return packet(static_cast<std::uint8_t>(first), body);
}

}  // namespace

std::optional<std::string> Message::user_value(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : user) {
    if (key != name) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

MqttClient::MqttClient(std::uint16_t port, ConnectOptions options)
    : options_(std::move(options)), wire_(options_.connect(port)) {
  send_raw(connect_packet(options_));
  const auto end = Clock::now() + patience;
  while (!connected_ && pump(end)) {
  }
  if (!connected_) throw std::runtime_error("no CONNACK");
}

MqttClient::~MqttClient() { drop(); }

std::uint8_t MqttClient::subscribe(std::string_view filter, std::uint8_t qos) {
  std::string body;
  ByteWriter out(body);
  out.u16(take_id());
  out.u8(0);
  put_text(out, filter);
  out.u8(qos);
  send_raw(packet(0x82, body));
  const auto end = Clock::now() + patience;
  while (subacks_.empty()) {
    if (!pump(end)) throw std::runtime_error("no SUBACK");
  }
  const std::uint8_t granted = subacks_.front();
  subacks_.pop_front();
  return granted;
}

// 0 is not a packet identifier (MQTT 5 section 2.2.1).
std::uint16_t MqttClient::take_id() {
  if (next_id_ == 0) next_id_ = 1;
  return next_id_++;
}

std::uint16_t MqttClient::send(const Outgoing& message) {
  std::uint16_t id = 0;
  if (message.qos > 0) id = message.packet_id ? *message.packet_id : take_id();
  send_raw(publish_packet(message, id));
  return id;
}

std::optional<std::uint8_t> MqttClient::wait_puback(std::uint16_t packet_id) {
  const auto end = Clock::now() + patience;
  for (;;) {
    const auto found = std::find_if(pubacks_.begin(), pubacks_.end(),
                                    [&](const auto& ack) { return ack.first == packet_id; });
    if (found != pubacks_.end()) {
      const std::uint8_t reason = found->second;
      pubacks_.erase(found);
      return reason;
    }
    if (!pump(end)) return std::nullopt;
  }
}

std::optional<Message> MqttClient::receive(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  while (messages_.empty()) {
    if (!pump(end)) return std::nullopt;
  }
  Message first = std::move(messages_.front());
  messages_.pop_front();
  return first;
}

bool MqttClient::ping() {
  // Twice, because the broker publishes what a plugin hands it one turn of its loop later.
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned before = pongs_;
    send_raw(packet(0xC0, {}));
    const auto end = Clock::now() + patience;
    while (pongs_ == before) {
      if (!pump(end)) return false;
    }
  }
  return true;
}

bool MqttClient::nothing_arrives() { return messages_.empty() && ping() && messages_.empty(); }

std::optional<std::uint8_t> MqttClient::wait_end() {
  const auto end = Clock::now() + patience;
  while (!end_reason_ && pump(end)) {
  }
  return end_reason_;
}

void MqttClient::send_raw(std::string_view bytes) {
  if (wire_) wire_->send(bytes);
}

void MqttClient::disconnect() {
  send_raw(packet(0xE0, {}));
  wait_end();
  drop();
}

void MqttClient::drop() { wire_.reset(); }

bool MqttClient::fill(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  if (left.count() <= 0 || !wire_) return false;
  const std::optional<std::string> got = wire_->receive(left);
  if (!got && !end_reason_) end_reason_ = 0;
  if (!got || got->empty()) return false;
  input_ += *got;
  return true;
}

bool MqttClient::pump(Clock::time_point end) {
  for (;;) {
    ByteReader in(input_);
    if (in.left() >= 2) {
      in.u8();
      // The reader fails if the length is incomplete: wait for more.
      const std::size_t size = get_varint(in);
      if (!in.failed() && in.left() >= size) {
        const std::string whole = input_.substr(0, in.position() + size);
        input_.erase(0, whole.size());
        handle(whole);
        return true;
      }
    }
    if (!fill(end)) return false;
  }
}

void MqttClient::handle(std::string_view whole) {
  ByteReader in(whole);
  const std::uint8_t first = in.u8();
  get_varint(in);
  switch (first >> 4) {
    case 2:
      session_present_ = (in.u8() & 1) != 0;
      connack_reason_ = in.u8();
      connected_ = true;
      break;
    case 3:
      handle_publish(whole);
      break;
    case 4: {
      const std::uint16_t id = in.u16();
      pubacks_.emplace_back(id, in.left() > 0 ? in.u8() : std::uint8_t{0});
      break;
    }
    case 5:  // PUBREC: the tests check only the answer
      break;
    case 9:
      in.u16();
      in.view(get_varint(in));
      subacks_.push_back(in.u8());
      break;
    case 13:
      ++pongs_;
      break;
    case 14:
      end_reason_ = in.left() > 0 ? in.u8() : std::uint8_t{0};
      break;
    default:
      throw std::runtime_error("unexpected packet " + std::to_string(first));
  }
}

void MqttClient::handle_publish(std::string_view whole) {
  ByteReader in(whole);
  const std::uint8_t first = in.u8();
  get_varint(in);
  Message message;
  message.retain = (first & 1) != 0;
  message.qos = (first >> 1) & 3;
  message.topic = get_text(in);
  std::string ack;
  ByteWriter(ack).u16(message.qos > 0 ? in.u16() : std::uint16_t{0});
  get_properties(in, message);
  message.payload = in.rest();
  if (message.qos > 0) send_raw(packet(0x40, ack));
  messages_.push_back(std::move(message));
}

}  // namespace sheaf::test
