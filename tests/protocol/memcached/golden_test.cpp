// Packets of the families that packets_test.cpp does not cover, byte by byte; several as the
// reference server printed them.

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "protocol/memcached/replies.h"
#include "protocol/memcached/requests.h"

namespace sheaf::protocol::memcached {
namespace {

using namespace std::string_view_literals;

template <class Packet>
void expect_golden(const Packet& packet, std::string_view hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits.push_back(c);
  }
  std::string out;
  ByteWriter writer(out);
  ASSERT_TRUE(packet.encode(writer).has_value());
  EXPECT_EQ(hex_encode(out), digits);
  ByteReader reader(out);
  const auto back = Packet::parse(reader);
  ASSERT_TRUE(back.has_value()) << to_string(back.error());
  EXPECT_EQ(*back, packet);
  EXPECT_TRUE(reader.done());
}

TEST(Golden, QuietGetsAndGetsThatReturnTheKey) {
  expect_golden(GetRequest{Opcode::get_quiet, 7, "k"},
                "80 09 0001 00 00 0000 00000001 00000007 0000000000000000 6B");
  expect_golden(GetRequest{Opcode::get_key, 7, "k"},
                "80 0C 0001 00 00 0000 00000001 00000007 0000000000000000 6B");
  expect_golden(GetRequest{Opcode::get_key_quiet, 7, "k"},
                "80 0D 0001 00 00 0000 00000001 00000007 0000000000000000 6B");
  expect_golden(GetReply{.opcode = Opcode::get_quiet, .opaque = 7, .cas = 1, .value = "v"},
                "81 09 0000 04 00 0000 00000005 00000007 0000000000000001 00000000 76");
  expect_golden(
      GetReply{.opcode = Opcode::get_key, .opaque = 7, .cas = 1, .key = "k", .value = "v"},
      "81 0C 0001 04 00 0000 00000006 00000007 0000000000000001 00000000 6B 76");
  // A miss has the key where others have a text.
  expect_golden(
      GetReply{
          .opcode = Opcode::get_key, .status = StatusCode::key_not_found, .opaque = 7, .key = "k"},
      "81 0C 0001 00 00 0001 00000001 00000007 0000000000000000 6B");
}

TEST(Golden, QuietWrites) {
  expect_golden(SetRequest{.opcode = Opcode::set_quiet, .key = "k", .value = "v"},
                "80 11 0001 08 00 0000 0000000A 00000000 0000000000000000 00000000 00000000 6B 76");
  expect_golden(PlainReply{.opcode = Opcode::add_quiet, .status = StatusCode::key_exists},
                "81 12 0000 00 00 0002 00000000 00000000 0000000000000000");
  expect_golden(RemoveRequest{.opcode = Opcode::remove_quiet, .key = "k"},
                "80 14 0001 00 00 0000 00000001 00000000 0000000000000000 6B");
}

TEST(Golden, AppendAndPrependHaveNoExtras) {
  expect_golden(AppendRequest{.opaque = 1, .cas = 2, .key = "Hello", .value = "!"},
                "80 0E 0005 00 00 0000 00000006 00000001 0000000000000002 48656C6C6F 21");
  expect_golden(AppendRequest{.opcode = Opcode::prepend, .key = "k", .value = "v"},
                "80 0F 0001 00 00 0000 00000002 00000000 0000000000000000 6B 76");
  expect_golden(PlainReply{.opcode = Opcode::append,
                           .status = StatusCode::not_stored,
                           .opaque = 1,
                           .text = "Not stored."},
                "81 0E 0000 00 00 0005 0000000B 00000001 0000000000000000 4E6F742073746F7265642E");
}

TEST(Golden, NumbersTravelInTheBodyOfTheReply) {
  expect_golden(ArithmeticRequest{.delta = 1, .initial = 0, .expiry = 3600, .key = "counter"},
                "80 05 0007 14 00 0000 0000001B 00000000 0000000000000000 "
                "0000000000000001 0000000000000000 00000E10 636F756E746572");
  expect_golden(ArithmeticRequest{.opcode = Opcode::decrement, .delta = 2, .key = "k"},
                "80 06 0001 14 00 0000 00000015 00000000 0000000000000000 "
                "0000000000000002 0000000000000000 FFFFFFFF 6B");
  expect_golden(ArithmeticReply{.cas = 5, .number = 0x0102030405060708},
                "81 05 0000 00 00 0000 00000008 00000000 0000000000000005 0102030405060708");
}

TEST(Golden, TouchAndGetAndTouch) {
  expect_golden(TouchRequest{.opaque = 3, .expiry = 30, .key = "k"},
                "80 1C 0001 04 00 0000 00000005 00000003 0000000000000000 0000001E 6B");
  expect_golden(
      TouchRequest{.opcode = Opcode::get_and_touch, .opaque = 3, .expiry = 30, .key = "k"},
      "80 1D 0001 04 00 0000 00000005 00000003 0000000000000000 0000001E 6B");
  // Flags are returned although there is no value.
  expect_golden(TouchReply{.opaque = 3, .cas = 9, .flags = 0xdeadbeef},
                "81 1C 0000 04 00 0000 00000004 00000003 0000000000000009 DEADBEEF");
  expect_golden(
      GetReply{.opcode = Opcode::get_and_touch, .opaque = 3, .cas = 9, .flags = 1, .value = "v"},
      "81 1D 0000 04 00 0000 00000005 00000003 0000000000000009 00000001 76");
}

TEST(Golden, QuitFlushVersionAndStats) {
  expect_golden(BareRequest{.opcode = Opcode::quit},
                "80 07 0000 00 00 0000 00000000 00000000 0000000000000000");
  expect_golden(BareRequest{.opcode = Opcode::quit_quiet},
                "80 17 0000 00 00 0000 00000000 00000000 0000000000000000");
  expect_golden(FlushRequest{.opaque = 1},
                "80 08 0000 00 00 0000 00000000 00000001 0000000000000000");
  expect_golden(FlushRequest{.expiry = 3600},
                "80 08 0000 04 00 0000 00000004 00000000 0000000000000000 00000E10");
  expect_golden(BareRequest{.opcode = Opcode::version, .opaque = 2},
                "80 0B 0000 00 00 0000 00000000 00000002 0000000000000000");
  expect_golden(TextReply{.opaque = 2, .text = "1.6.18"},
                "81 0B 0000 00 00 0000 00000006 00000002 0000000000000000 312E362E3138");
  expect_golden(StatRequest{.opaque = 4, .group = "items"},
                "80 10 0005 00 00 0000 00000005 00000004 0000000000000000 6974656D73");
  expect_golden(StatReply{.opaque = 4, .name = "pid", .value = "3078"},
                "81 10 0003 00 00 0000 00000007 00000004 0000000000000000 706964 33303738");
  expect_golden(StatReply{.opaque = 4}, "81 10 0000 00 00 0000 00000000 00000004 0000000000000000");
}

TEST(Golden, SaslPlain) {
  expect_golden(BareRequest{.opcode = Opcode::sasl_list},
                "80 20 0000 00 00 0000 00000000 00000000 0000000000000000");
  expect_golden(TextReply{.opcode = Opcode::sasl_list, .text = "PLAIN"},
                "81 20 0000 00 00 0000 00000005 00000000 0000000000000000 504C41494E");
  expect_golden(SaslRequest{.opaque = 1, .mechanism = "PLAIN", .data = "\0u\0p"sv},
                "80 21 0005 00 00 0000 00000009 00000001 0000000000000000 504C41494E 00750070");
  expect_golden(TextReply{.opcode = Opcode::sasl_auth, .opaque = 1, .text = "Authenticated"},
                "81 21 0000 00 00 0000 0000000D 00000001 0000000000000000 "
                "41757468656E74696361746564");
  expect_golden(
      TextReply{
          .opcode = Opcode::sasl_auth, .status = StatusCode::auth_error, .text = "Auth failure."},
      "81 21 0000 00 00 0020 0000000D 00000000 0000000000000000 "
      "41757468206661696C7572652E");
}

}  // namespace
}  // namespace sheaf::protocol::memcached
