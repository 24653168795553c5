// Packets of memcached's binary protocol, replies and requests.

#include "protocol/memcached/replies.h"
#include "protocol/memcached/requests.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::memcached;

template <class Parse>
void check(Parse parse, std::string_view bytes, std::size_t cut) {
  ByteReader reader(bytes);
  const auto packet = parse(reader);
  if (!packet) {
    expect(reader.position() == 0, "a refusal moves nothing");
    return;
  }
  const std::string_view used = bytes.substr(0, reader.position());
  std::string again;
  ByteWriter out(again);
  const bool encodable =
      std::visit([&out](const auto& any) { return any.encode(out).has_value(); }, *packet);
  expect(encodable && again == used, "what parses is encoded to the same bytes");

  ByteReader early(used.substr(0, cut % used.size()));
  const auto part = parse(early);
  expect(!part && part.error() == PacketError::incomplete, "a part of a packet is incomplete");
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const bool reply = input.flag();
  const std::size_t cut = input.u8();
  const std::string packet(input.rest());  // an exact copy: reading past it is detected
  if (reply) {
    check(parse_reply, packet, cut);
  } else {
    check(parse_request, packet, cut);
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{
      encoded(GetRequest{Opcode::get, 3, "key"}),
      encoded(GetRequest{Opcode::get_quiet, 4, "key"}),
      encoded(TouchRequest{Opcode::get_and_touch, 5, 60, "key"}),
      encoded(SetRequest{Opcode::add, 6, 7, 8, 60, "key", "value"}),
      encoded(AppendRequest{Opcode::append, 7, 0, "key", "more"}),
      encoded(RemoveRequest{Opcode::remove, 8, 9, "key"}),
      encoded(ArithmeticRequest{Opcode::increment, 9, 0, 1, 5, 60, "key"}),
      encoded(BareRequest{Opcode::no_op, 10}),
      encoded(FlushRequest{Opcode::flush, 11, 30}),
      encoded(StatRequest{12, "items"}),
      encoded(SaslRequest{Opcode::sasl_auth, 13, "PLAIN", std::string_view("\0ann\0pw", 7)})};
  for (std::string& seed : all) seed.insert(0, std::string("\0\7", 2));
  for (const std::string& reply :
       {encoded(GetReply{.opaque = 3, .cas = 1, .flags = 2, .value = "value"}),
        encoded(GetReply{.opcode = Opcode::get_key, .cas = 1, .key = "key", .value = "v"}),
        encoded(GetReply{.status = StatusCode::key_not_found, .text = "Not found"}),
        encoded(TouchReply{.opaque = 5, .flags = 1}),
        encoded(PlainReply{.opcode = Opcode::set, .opaque = 6, .cas = 4}),
        encoded(PlainReply{.status = StatusCode::value_too_large, .text = "Too large."}),
        encoded(ArithmeticReply{.opaque = 9, .cas = 1, .number = 6}),
        encoded(TextReply{.opaque = 1, .text = "1.6.18"}),
        encoded(TextReply{.opcode = Opcode::sasl_auth, .status = StatusCode::auth_error}),
        encoded(StatReply{.opaque = 12, .name = "pid", .value = "1"}),
        encoded(StatReply{.opaque = 12})}) {
    all.push_back("\1\7" + reply);
  }
  return all;
}

}  // namespace sheaf::fuzz
