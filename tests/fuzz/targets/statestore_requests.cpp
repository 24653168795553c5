// Requests that the store reads from a client: their payloads.

#include "protocol/statestore/packets.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {

using namespace protocol::statestore;

void run(std::string_view bytes) {
  const std::string payload(bytes);  // an exact copy: reading past it is detected
  const auto request = parse_request(payload);
  if (!request) {
    expect(!text_of(request.error().error).empty(), "a refusal has a text");
    return;
  }
  const std::string again =
      std::visit([](const auto& packet) { return encoded(packet); }, *request);
  const auto back = parse_request(again);
  expect(back.has_value() && *back == *request, "an encoded request parses to itself");
  expect(!std::visit([](const auto& packet) { return packet.key; }, *request).empty(),
         "a request has a key");
}

std::vector<std::string> seeds() {
  using std::chrono::milliseconds;
  return {
      encoded(SetRequest{"key", "value", SetCondition::none, milliseconds(0)}),
      encoded(SetRequest{"key", "", SetCondition::if_absent, milliseconds(1)}),
      encoded(SetRequest{"lock", "me", SetCondition::if_absent_or_equal, milliseconds(10'000)}),
      encoded(GetRequest{"key"}),
      encoded(DelRequest{"key"}),
      encoded(VdelRequest{"key", "value"}),
      encoded(KeyNotifyRequest{"SOMEKEY", false}),
      encoded(KeyNotifyRequest{"SOMEKEY", true}),
      "*6\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\npx\r\n$15\r\n922337203685477\r\n$2\r\nnx\r\n",
      "*3\r\n$4\r\nSCAN\r\n$4\r\nkey*\r\n$1\r\n1\r\n"};
}

}  // namespace sheaf::fuzz
