#include "protocol/speaker.h"

#include <gtest/gtest.h>

namespace sheaf::protocol {
namespace {

using namespace std::string_view_literals;

TEST(Speaker, IsKnownByTheFirstBytesOfItsAnswer) {
  EXPECT_EQ(speaker_of("HTTP/1.1 400 Bad Request\r\n"), "an HTTP server");
  EXPECT_EQ(speaker_of("\x15\x03\x01\x00\x02\x02\x16"sv), "a server that expects TLS");
  EXPECT_EQ(speaker_of("ERROR\r\n"), "memcached, or a proxy for its text protocol");
  EXPECT_EQ(speaker_of("\x81\x0b"sv), "memcached, in its binary protocol");
  EXPECT_EQ(speaker_of("-ERR unknown command 'version'\r\n"),
            "a Redis server, or one of its protocol");
  EXPECT_EQ(speaker_of("\x20\x02\x00\x01"sv), "an MQTT broker");
}

TEST(Speaker, OfOtherBytesIsUnknown) {
  for (const std::string_view bytes : {""sv, "H"sv, "+OK\r\n"sv, "\x00\x00"sv, "\x15"sv}) {
    EXPECT_EQ(speaker_of(bytes), "") << bytes;
  }
}

}  // namespace
}  // namespace sheaf::protocol
