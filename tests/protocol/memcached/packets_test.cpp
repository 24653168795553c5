#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "base/text.h"
#include "protocol/memcached/replies.h"
#include "protocol/memcached/requests.h"

namespace sheaf::protocol::memcached {
namespace {

using namespace std::string_literals;

std::string bytes_of(std::string_view hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits.push_back(c);
  }
  return hex_decode(digits).value();
}

template <class Packet>
std::string encoded_well(const Packet& packet) {
  std::string out;
  ByteWriter writer(out);
  EXPECT_TRUE(packet.encode(writer).has_value());
  return out;
}

template <class Packet>
Encoded try_encode(const Packet& packet, std::string& out) {
  ByteWriter writer(out);
  return packet.encode(writer);
}

template <class Packet>
Parsed<Packet> parsed(std::string_view bytes) {
  ByteReader reader(bytes);
  auto packet = Packet::parse(reader);
  EXPECT_EQ(reader.position(), packet ? bytes.size() : 0);
  return packet;
}

template <class Packet>
void expect_bytes(const Packet& packet, std::string_view hex) {
  const std::string bytes = bytes_of(hex);
  EXPECT_EQ(hex_encode(encoded_well(packet)), hex_encode(bytes));
  const auto back = parsed<Packet>(bytes);
  ASSERT_TRUE(back.has_value()) << to_string(back.error());
  EXPECT_EQ(*back, packet);
}

TEST(Golden, Get) {
  expect_bytes(GetRequest{.key = "Hello"},
               "80 00 0005 00 00 0000 00000005 00000000 0000000000000000 48656C6C6F");
  expect_bytes(GetReply{.cas = 1, .flags = 0xdeadbeef, .value = "World"},
               "81 00 0000 04 00 0000 00000009 00000000 0000000000000001 DEADBEEF 576F726C64");
  expect_bytes(GetReply{.status = StatusCode::key_not_found, .text = "Not found"},
               "81 00 0000 00 00 0001 00000009 00000000 0000000000000000 4E6F7420666F756E64");
}

TEST(Golden, SetAndItsKin) {
  const SetRequest add{
      .opcode = Opcode::add, .flags = 0xdeadbeef, .expiry = 3600, .key = "Hello", .value = "World"};
  expect_bytes(add,
               "80 02 0005 08 00 0000 00000012 00000000 0000000000000000 "
               "DEADBEEF 00000E10 48656C6C6F 576F726C64");
  expect_bytes(PlainReply{.opcode = Opcode::add, .cas = 1},
               "81 02 0000 00 00 0000 00000000 00000000 0000000000000001");
  const SetRequest set{.opaque = 0x01020304, .cas = 0x1122334455667788, .key = "k"};
  expect_bytes(set,
               "80 01 0001 08 00 0000 00000009 01020304 1122334455667788 00000000 00000000 6B");
  expect_bytes(
      PlainReply{
          .status = StatusCode::key_exists, .opaque = 0x01020304, .text = "Data exists for key."},
      "81 01 0000 00 00 0002 00000014 01020304 0000000000000000 "
      "446174612065786973747320666F72206B65792E");
  expect_bytes(PlainReply{.opcode = Opcode::replace,
                          .status = StatusCode::value_too_large,
                          .opaque = 7,
                          .text = "Too large."},
               "81 03 0000 00 00 0003 0000000A 00000007 0000000000000000 546F6F206C617267652E");
}

TEST(Golden, DeleteAndNoOp) {
  expect_bytes(RemoveRequest{.opaque = 5, .cas = 9, .key = "Hello"},
               "80 04 0005 00 00 0000 00000005 00000005 0000000000000009 48656C6C6F");
  expect_bytes(PlainReply{.opcode = Opcode::remove, .opaque = 5},
               "81 04 0000 00 00 0000 00000000 00000005 0000000000000000");
  expect_bytes(BareRequest{.opaque = 0xffffffff},
               "80 0A 0000 00 00 0000 00000000 FFFFFFFF 0000000000000000");
  expect_bytes(PlainReply{.opcode = Opcode::no_op, .opaque = 0xffffffff},
               "81 0A 0000 00 00 0000 00000000 FFFFFFFF 0000000000000000");
}

TEST(Header, EveryFieldHasItsPlace) {
  const Header header{.magic = Magic::reply,
                      .opcode = Opcode::replace,
                      .key_length = 0x0102,
                      .extra_length = 0x03,
                      .data_type = 0x04,
                      .vbucket_or_status = 0x0506,
                      .total_body_length = 0x0708090a,
                      .opaque = 0x0b0c0d0e,
                      .cas = 0x0f10111213141516};
  std::string out;
  ByteWriter writer(out);
  header.encode(writer);
  EXPECT_EQ(hex_encode(out),
            "810301020304"
            "0506"
            "0708090A"
            "0B0C0D0E"
            "0F10111213141516");
  EXPECT_EQ(out.size(), Header::wire_size);
  ByteReader reader(out);
  EXPECT_EQ(Header::parse(reader, Magic::reply), header);
  EXPECT_EQ(header.value_length(), 0x0708090au - 0x0102 - 0x03);
}

PacketError header_error(std::string_view hex, Magic magic = Magic::reply) {
  const std::string bytes = bytes_of(hex);
  ByteReader reader(bytes);
  const auto header = Header::parse(reader, magic);
  EXPECT_FALSE(header.has_value());
  EXPECT_EQ(reader.position(), 0u);
  return header ? PacketError::incomplete : header.error();
}

TEST(Header, LengthsAreCheckedBeforeTheBodyIsWaitedFor) {
  EXPECT_EQ(header_error("81 00 0000 00 00 0000 40000001 00000000 0000000000000000"),
            PacketError::body_too_long);
  EXPECT_EQ(header_error("81 00 0000 00 00 0000 FFFFFFFF 00000000 0000000000000000"),
            PacketError::body_too_long);
  EXPECT_EQ(header_error("81 00 0003 04 00 0000 00000006 00000000 0000000000000000"),
            PacketError::bad_lengths);
  EXPECT_EQ(header_error("81 00 FFFF FF 00 0000 00000000 00000000 0000000000000000"),
            PacketError::bad_lengths);
}

TEST(Header, AWrongFirstByteIsKnownAtOnce) {
  EXPECT_EQ(header_error("80"), PacketError::bad_magic);
  EXPECT_EQ(header_error("81", Magic::request), PacketError::bad_magic);
  EXPECT_EQ(header_error("45", Magic::request), PacketError::bad_magic);
  EXPECT_EQ(header_error(""), PacketError::incomplete);
}

TEST(Header, TheTextAboutTooManyConnectionsIsDistinguishedFromCorruption) {
  const std::string text = "ERROR Too many open connections\r\n";
  for (std::size_t size = 1; size < text.size() - 2; ++size) {
    EXPECT_EQ(header_error(hex_encode(text.substr(0, size))), PacketError::incomplete) << size;
  }
  EXPECT_EQ(header_error(hex_encode(text)), PacketError::too_many_connections);
  EXPECT_EQ(header_error(hex_encode("ERROR\r\n"s)), PacketError::bad_magic);
  EXPECT_EQ(header_error(hex_encode("ERROR Too many cooks"s)), PacketError::bad_magic);
  ByteReader reader(text);
  EXPECT_EQ(parse_reply(reader).error(), PacketError::too_many_connections);
}

TEST(Requests, KeysOfOneTo250BytesAreTakenAndNoOthers) {
  std::string out;
  for (const std::size_t size : {1u, 250u}) {
    const std::string key(size, '\0');
    EXPECT_TRUE(parsed<GetRequest>(encoded_well(GetRequest{.opaque = 1, .key = key})).has_value());
    EXPECT_TRUE(parsed<SetRequest>(encoded_well(SetRequest{.key = key})).has_value());
    EXPECT_TRUE(parsed<RemoveRequest>(encoded_well(RemoveRequest{.key = key})).has_value());
  }
  for (const std::size_t size : {0u, 251u, 65'536u}) {
    const std::string key(size, 'k');
    EXPECT_EQ(try_encode(GetRequest{.opaque = 1, .key = key}, out).error(),
              PacketError::bad_key_length);
    EXPECT_EQ(try_encode(SetRequest{.key = key}, out).error(), PacketError::bad_key_length);
    EXPECT_EQ(try_encode(RemoveRequest{.key = key}, out).error(), PacketError::bad_key_length);
  }
  EXPECT_TRUE(out.empty()) << "nothing is written on an error";
  EXPECT_EQ(parsed<GetRequest>(bytes_of("80 00 0000 00 00 0000 00000000 00000000 0000000000000000"))
                .error(),
            PacketError::bad_key_length);
  const std::string long_key =
      bytes_of("80 04 00FB 00 00 0000 000000FB 00000000 0000000000000000") + std::string(251, 'k');
  EXPECT_EQ(parsed<RemoveRequest>(long_key).error(), PacketError::bad_key_length);
}

TEST(Requests, ABodyAboveOneGibibyteIsRefusedWithoutTouchingTheValue) {
  static constexpr char byte = 'v';
  SetRequest request{.key = "k"};
  std::string out;
  ByteWriter writer(out);
  request.value = std::string_view(&byte, max_body_length - 8 - 1);
  EXPECT_TRUE(request.encode_head(writer).has_value());
  EXPECT_EQ(out.size(), Header::wire_size + 8 + 1);
  out.clear();
  request.value = std::string_view(&byte, max_body_length - 8);
  EXPECT_EQ(request.encode_head(writer).error(), PacketError::body_too_long);
  request.value = std::string_view(&byte, std::size_t{1} << 40);
  EXPECT_EQ(request.encode_head(writer).error(), PacketError::body_too_long);
  EXPECT_TRUE(out.empty());
}

TEST(Requests, TheHeadAndTheValueMakeTheWholePacket) {
  const std::string value = "the value\r\n\0"s;
  const SetRequest request{.opaque = 9, .key = "k", .value = value};
  std::string head;
  ByteWriter writer(head);
  ASSERT_TRUE(request.encode_head(writer).has_value());
  EXPECT_EQ(head + value, encoded_well(request));
}

TEST(Requests, AnOpcodeOutsideItsFamilyIsRefused) {
  std::string out;
  EXPECT_EQ(try_encode(SetRequest{.opcode = Opcode::get, .key = "k"}, out).error(),
            PacketError::wrong_opcode);
  EXPECT_EQ(try_encode(PlainReply{.opcode = Opcode::get}, out).error(), PacketError::wrong_opcode);
  EXPECT_TRUE(out.empty());
}

struct BadShape {
  const char* what;
  const char* hex;
};

TEST(Requests, PartsThatDoNotBelongAreRefused) {
  const BadShape cases[] = {
      {"get with extras", "80 00 0001 04 00 0000 00000005 00000000 0000000000000000 00000000 6B"},
      {"get with a value", "80 00 0001 00 00 0000 00000002 00000000 0000000000000000 6B 76"},
      {"get with a version", "80 00 0001 00 00 0000 00000001 00000000 0000000000000001 6B"},
      {"set without extras", "80 01 0001 00 00 0000 00000002 00000000 0000000000000000 6B 76"},
      {"no-op with a key", "80 0A 0001 00 00 0000 00000001 00000000 0000000000000000 6B"},
      {"a data type", "80 00 0001 00 01 0000 00000001 00000000 0000000000000000 6B"},
      {"a vbucket", "80 00 0001 00 00 0001 00000001 00000000 0000000000000000 6B"},
  };
  for (const BadShape& item : cases) {
    const std::string bytes = bytes_of(item.hex);
    ByteReader reader(bytes);
    const auto request = parse_request(reader);
    ASSERT_FALSE(request.has_value()) << item.what;
    EXPECT_EQ(request.error(), PacketError::bad_shape) << item.what;
    EXPECT_EQ(reader.position(), 0u);
  }
}

TEST(Replies, PartsThatDoNotBelongAreRefused) {
  const BadShape cases[] = {
      {"value without flags", "81 00 0000 00 00 0000 00000001 00000000 0000000000000000 76"},
      {"a key", "81 00 0001 04 00 0000 00000005 00000000 0000000000000000 00000000 6B"},
      {"a miss with flags", "81 00 0000 04 00 0001 00000004 00000000 0000000000000000 00000000"},
      {"stored with a text", "81 01 0000 00 00 0000 00000001 00000000 0000000000000000 76"},
      {"removed with extras", "81 04 0000 04 00 0000 00000004 00000000 0000000000000000 00000000"},
      {"no-op with a value", "81 0A 0000 00 00 0000 00000001 00000000 0000000000000000 76"},
      {"a data type", "81 0A 0000 00 07 0000 00000000 00000000 0000000000000000"},
  };
  for (const BadShape& item : cases) {
    const std::string bytes = bytes_of(item.hex);
    ByteReader reader(bytes);
    const auto reply = parse_reply(reader);
    ASSERT_FALSE(reply.has_value()) << item.what;
    EXPECT_EQ(reply.error(), PacketError::bad_shape) << item.what;
    EXPECT_EQ(reader.position(), 0u);
  }
}

TEST(Replies, APacketOfAnotherKindIsNotTaken) {
  const std::string no_op = encoded_well(PlainReply{.opcode = Opcode::no_op, .opaque = 3});
  EXPECT_EQ(parsed<GetReply>(no_op).error(), PacketError::wrong_opcode);
  EXPECT_EQ(parsed<TouchReply>(no_op).error(), PacketError::wrong_opcode);
  EXPECT_EQ(parsed<ArithmeticReply>(no_op).error(), PacketError::wrong_opcode);
  EXPECT_EQ(parsed<TextReply>(no_op).error(), PacketError::wrong_opcode);
  EXPECT_EQ(parsed<StatReply>(no_op).error(), PacketError::wrong_opcode);
  EXPECT_EQ(parsed<PlainReply>(encoded_well(GetReply{})).error(), PacketError::wrong_opcode);
}

TEST(Table, EveryOpcodeLeadsToItsTypes) {
  std::string stream;
  ByteWriter writer(stream);
  const GetReply get{.opaque = 1, .value = "v"};
  const PlainReply add{.opcode = Opcode::add, .opaque = 2};
  const TextReply version{.opaque = 3, .text = "1.6.18"};
  const StatReply stat{.opaque = 4, .name = "pid", .value = "1"};
  const ArithmeticReply number{.opaque = 5, .number = 6};
  const TouchReply touch{.status = StatusCode::key_not_found, .opaque = 7, .text = "Not found"};
  EXPECT_TRUE(get.encode(writer) && add.encode(writer) && version.encode(writer) &&
              stat.encode(writer) && number.encode(writer) && touch.encode(writer));
  ByteReader reader(stream);
  EXPECT_EQ(std::get<GetReply>(parse_reply(reader).value()), get);
  EXPECT_EQ(std::get<PlainReply>(parse_reply(reader).value()), add);
  EXPECT_EQ(std::get<TextReply>(parse_reply(reader).value()), version);
  EXPECT_EQ(std::get<StatReply>(parse_reply(reader).value()), stat);
  EXPECT_EQ(std::get<ArithmeticReply>(parse_reply(reader).value()), number);
  EXPECT_EQ(std::get<TouchReply>(parse_reply(reader).value()), touch);
  EXPECT_TRUE(reader.done());
}

// True for the opcodes of memcached's table except the reserved ones and VERBOSITY (0x1b), which
// memcached does not implement.
bool is_ours(unsigned opcode) {
  return opcode <= 0x1a || (opcode >= 0x1c && opcode <= 0x1e) || (opcode >= 0x20 && opcode <= 0x24);
}

TEST(Table, OpcodesWeDoNotSpeakAreRefusedAtTheHeader) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    for (const Magic magic : {Magic::request, Magic::reply}) {
      Header header;
      header.magic = magic;
      header.opcode = static_cast<Opcode>(opcode);
      header.total_body_length = 1000;  // not there: the parser does not wait for an unknown packet
      std::string bytes;
      ByteWriter writer(bytes);
      header.encode(writer);
      ByteReader reader(bytes);
      const PacketError error =
          magic == Magic::request ? parse_request(reader).error() : parse_reply(reader).error();
      EXPECT_EQ(error, is_ours(opcode) ? PacketError::incomplete : PacketError::unknown_opcode)
          << opcode;
    }
  }
}

// ---- properties

std::string random_text(Random& random, std::size_t least, std::size_t most) {
  std::string text(least + random.below(most - least + 1), '\0');
  random.fill(std::as_writable_bytes(std::span(text)));
  return text;
}

template <std::size_t size>
Opcode one_of(Random& random, const Opcode (&opcodes)[size]) {
  return opcodes[random.below(size)];
}

AnyRequest random_request(Random& random, std::string& key, std::string& value) {
  using enum Opcode;
  key = random_text(random, 1, max_key_length);
  value = random_text(random, 0, 300);
  const std::uint32_t opaque = random.u32();
  const std::uint64_t cas = random.below(2) * random.u64();
  switch (random.below(10)) {
    case 0:
      return GetRequest{one_of(random, {get, get_quiet, get_key, get_key_quiet}), opaque, key};
    case 1:
      return RemoveRequest{one_of(random, {remove, remove_quiet}), opaque, cas, key};
    case 2:
      return BareRequest{one_of(random, {no_op, quit, quit_quiet, version, sasl_list}), opaque};
    case 3:
      return TouchRequest{one_of(random, {touch, get_and_touch, get_and_touch_key_quiet}), opaque,
                          random.u32(), key};
    case 4:
      return AppendRequest{one_of(random, {append, prepend, append_quiet, prepend_quiet}), opaque,
                           cas, key, value};
    case 5:
      return ArithmeticRequest{one_of(random, {increment, decrement, decrement_quiet}),
                               opaque,
                               cas,
                               random.u64(),
                               random.u64(),
                               random.u32(),
                               key};
    case 6: {
      FlushRequest request{one_of(random, {flush, flush_quiet}), opaque, {}};
      if (cas != 0) request.expiry = random.u32();
      return request;
    }
    case 7:
      if (cas != 0) key.clear();
      return StatRequest{opaque, key};
    case 8:
      key.resize(std::min<std::size_t>(key.size(), SaslRequest::max_mechanism));
      return SaslRequest{one_of(random, {sasl_auth, sasl_step}), opaque, key, value};
    default:
      break;
  }
  const Opcode opcode = one_of(random, {set, add, replace, set_quiet, add_quiet, replace_quiet});
  return SetRequest{opcode, opaque, random.u64(), random.u32(), random.u32(), key, value};
}

AnyReply random_reply(Random& random, std::string& key, std::string& body) {
  using enum Opcode;
  key = random_text(random, 1, max_key_length);
  body = random_text(random, 0, 300);
  const bool good = random.below(2) == 0;
  const auto status = good ? StatusCode::success : static_cast<StatusCode>(1 + random.below(0x90));
  const std::string_view text = good ? std::string_view() : body;
  const std::uint32_t opaque = random.u32();
  const std::uint64_t cas = random.u64();
  switch (random.below(6)) {
    case 0: {
      const Opcode opcode = one_of(random, {get, get_key, get_and_touch, get_and_touch_key_quiet});
      if (!returns_key(opcode)) key.clear();
      if (good) return GetReply{opcode, status, opaque, cas, random.u32(), key, body, {}};
      if (!key.empty()) return GetReply{opcode, status, opaque, cas, 0, key, {}, {}};
      return GetReply{opcode, status, opaque, cas, 0, {}, {}, body};
    }
    case 1:
      return TouchReply{status, opaque, cas, good ? random.u32() : 0, text};
    case 2:
      return ArithmeticReply{decrement, status, opaque, cas, good ? random.u64() : 0, text};
    case 3:
      return TextReply{one_of(random, {version, sasl_list, sasl_auth, sasl_step}), status, opaque,
                       cas, body};
    case 4:
      if (!good) return StatReply{status, opaque, cas, {}, {}, body};
      return StatReply{status, opaque, cas, key, body, {}};
    default:
      break;
  }
  const Opcode opcode = one_of(random, {set, add_quiet, append, remove, no_op, quit, flush});
  return PlainReply{opcode, status, opaque, cas, text};
}

template <class Any>
std::string encoded_any(const Any& packet) {
  return std::visit([](const auto& one) { return encoded_well(one); }, packet);
}

TEST(Property, ParsingWhatWasEncodedGivesItBack) {
  Random random(1);
  std::string key, value;
  for (int i = 0; i < 20'000; ++i) {
    const AnyRequest request = random_request(random, key, value);
    const std::string request_bytes = encoded_any(request);
    ByteReader in(request_bytes);
    ASSERT_EQ(parse_request(in).value(), request);
    ASSERT_TRUE(in.done());
    const AnyReply reply = random_reply(random, key, value);
    const std::string reply_bytes = encoded_any(reply);
    ByteReader back(reply_bytes);
    ASSERT_EQ(parse_reply(back).value(), reply);
    ASSERT_TRUE(back.done());
  }
}

TEST(Property, EveryProperPrefixIsIncomplete) {
  Random random(2);
  std::string key, value;
  for (int i = 0; i < 50; ++i) {
    const std::string request = encoded_any(random_request(random, key, value));
    const std::string reply = encoded_any(random_reply(random, key, value));
    for (std::size_t size = 0; size < request.size(); ++size) {
      ByteReader in(std::string_view(request).substr(0, size));
      ASSERT_EQ(parse_request(in).error(), PacketError::incomplete);
    }
    for (std::size_t size = 0; size < reply.size(); ++size) {
      ByteReader in(std::string_view(reply).substr(0, size));
      ASSERT_EQ(parse_reply(in).error(), PacketError::incomplete);
    }
  }
}

// For any bytes: no crash, no read past the end, and an accepted packet is exactly what encoding it
// again gives.
TEST(Property, MutatedPacketsAreRefusedOrUnderstoodExactly) {
  Random random(3);
  std::string key, value;
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 200'000; ++i) {
    const bool is_request = random.below(2) == 0;
    std::string bytes = is_request ? encoded_any(random_request(random, key, value))
                                   : encoded_any(random_reply(random, key, value));
    for (std::uint64_t change = 1 + random.below(3); change > 0; --change) {
      // Mostly in the header, because that decides about a packet.
      const std::size_t limit = random.below(4) == 0 ? bytes.size() : Header::wire_size;
      bytes[random.below(limit)] = static_cast<char>(random.below(256));
    }
    if (random.below(8) == 0) bytes.resize(random.below(bytes.size() + 1));
    ByteReader in(bytes);
    std::string again;
    if (is_request) {
      if (const auto request = parse_request(in)) again = encoded_any(*request);
    } else {
      if (const auto reply = parse_reply(in)) again = encoded_any(*reply);
    }
    ASSERT_EQ(again, bytes.substr(0, in.position()));
    ++(again.empty() ? refused : accepted);
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(refused, 10'000);
}

}  // namespace
}  // namespace sheaf::protocol::memcached
