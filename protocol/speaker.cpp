// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/speaker.h"

namespace sheaf::protocol {
namespace {

using namespace std::string_view_literals;

struct Opening {
  std::string_view bytes;
  std::string_view speaker;
};

// TLS: a record with an alert or a handshake message, RFC 8446 §5.1. memcached: protocol.txt, and
// the magic byte of a response in binary. MQTT: CONNACK and DISCONNECT, MQTT 5 §3.2, §3.14; their
// second byte is a length.
constexpr Opening openings[] = {
    {"HTTP/"sv, "an HTTP server"},
    {"\x15\x03"sv, "a server that expects TLS"},
    {"\x16\x03"sv, "a server that expects TLS"},
    {"ERROR\r\n"sv, "memcached, or a proxy for its text protocol"},
    {"CLIENT_ERROR "sv, "memcached, or a proxy for its text protocol"},
    {"SERVER_ERROR "sv, "memcached, or a proxy for its text protocol"},
    {"\x81"sv, "memcached, in its binary protocol"},
    {"-ERR "sv, "a Redis server, or one of its protocol"},
    {"-NOAUTH "sv, "a Redis server, or one of its protocol"},
    {"-DENIED "sv, "a Redis server, or one of its protocol"},
    {"-NOPERM "sv, "a Redis server, or one of its protocol"},
    {"\x20\x02"sv, "an MQTT broker"},
    {"\x20\x03"sv, "an MQTT broker"},
    {"\xe0\x00"sv, "an MQTT broker"},
    {"\xe0\x01"sv, "an MQTT broker"},
    {"\xe0\x02"sv, "an MQTT broker"},
    {"SSH-"sv, "an SSH server"},
    {"220 "sv, "a mail or FTP server"},
    {"220-"sv, "a mail or FTP server"},
};

}  // namespace

std::string_view speaker_of(std::string_view bytes) noexcept {
  for (const Opening& opening : openings) {
    if (bytes.starts_with(opening.bytes)) return opening.speaker;
  }
  return {};
}

}  // namespace sheaf::protocol
