// The property block of every packet. Its values must be those that a second parser finds in the
// raw bytes.

#include "protocol/mqtt5/properties.h"
#include "protocol/mqtt5/wire.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {

using namespace protocol::mqtt5;

void run(std::string_view bytes) {
  Input input(bytes);
  const unsigned packet = input.u8() % 16;  // every value of a fixed header; 0: the will
  const std::string_view block = input.rest();
  const auto parse = [packet](Cursor& in) {
    return packet == 0 ? Properties::parse_will(in)
                       : Properties::parse(in, static_cast<PacketType>(packet));
  };
  Cursor in(block);
  const Properties properties = parse(in);
  if (in.failed()) {
    expect(!in.error().text.empty(), "a refusal says why");
    return;
  }
  expect(properties.raw.size() <= block.size(), "the block lies within the input");
  std::size_t user_bytes = 0;
  for (const UserProperty& user : properties.user()) {
    user_bytes += PropertyWriter::user_size(user.name, user.value);
    expect(properties.user().find(user.name).has_value(), "a user property is found by its name");
  }
  expect(user_bytes <= properties.raw.size(), "user properties lie within the block");

  const std::string again = encoded(properties);
  expect(again.size() == properties.encoded_size(), "encoded_size() is the size");
  Cursor second(again);
  const Properties back = parse(second);
  expect(!second.failed() && second.left() == 0 && back.raw == properties.raw,
         "an encoded block parses to itself");
  expect(back.response_topic == properties.response_topic &&
             back.correlation_data == properties.correlation_data &&
             back.message_expiry == properties.message_expiry,
         "its values too");
}

std::vector<std::string> seeds() {
  const auto block = [](PacketType packet, const auto& fill) {
    std::string raw;
    ByteWriter out(raw);
    PropertyWriter writer(out);
    fill(writer);
    Properties properties;
    properties.raw = raw;
    return static_cast<char>(packet) + encoded(properties);
  };
  return {block(PacketType::publish,
                [](PropertyWriter& w) {
                  w.byte(PropertyId::payload_format, 0);
                  w.text(PropertyId::content_type, "application/octet-stream");
                  w.text(PropertyId::correlation_data, "0123456789abcdef");
                  w.u32(PropertyId::message_expiry, 10);
                  w.text(PropertyId::response_topic, "clients/a/answers");
                  w.user("__ts", "001795224775781:00000:a");
                  w.user("$high_priority", "");
                }),
          block(PacketType::connect,
                [](PropertyWriter& w) {
                  w.u32(PropertyId::session_expiry, 3600);
                  w.u16(PropertyId::receive_maximum, 65'535);
                  w.u32(PropertyId::maximum_packet_size, 1 << 20);
                  w.u16(PropertyId::topic_alias_maximum, 0);
                  w.byte(PropertyId::request_problem_information, 1);
                  w.user("metriccategory", "aiosdk-dotnet");
                }),
          block(PacketType::connack,
                [](PropertyWriter& w) {
                  w.text(PropertyId::assigned_client_id, "auto-1");
                  w.u16(PropertyId::server_keep_alive, 60);
                  w.byte(PropertyId::maximum_qos, 1);
                  w.byte(PropertyId::retain_available, 0);
                  w.byte(PropertyId::shared_subscription_available, 0);
                  w.text(PropertyId::reason_string, "why");
                }),
          block(PacketType::subscribe,
                [](PropertyWriter& w) { w.varint(PropertyId::subscription_identifier, 300); }),
          std::string("\0\x05\x18\0\0\0\x05", 7)};
}

}  // namespace sheaf::fuzz
