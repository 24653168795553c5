// Messages that a client reads from the store: payloads of replies and notifications, and
// properties.

#include "protocol/statestore/packets.h"
#include "protocol/statestore/properties.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::statestore;

template <class Reply, class... Form>
void check(std::string_view payload, Form... form) {
  const auto reply = Reply::parse(payload);
  if (!reply) return expect(reply.error().text.size() <= payload.size() + 64, "a fault is short");
  const std::string again = encoded(*reply, form...);
  const auto back = Reply::parse(again);
  expect(back.has_value() && *back == *reply, "an encoded reply parses to itself");
}

void check_notification(std::string_view payload, Spelling spelling) {
  const auto change = Notification::parse(payload);
  if (!change) return;
  expect(!change->value || change->operation == Notification::Operation::set,
         "only SET has a value");
  if (change->operation == Notification::Operation::unknown) return;
  if (change->operation == Notification::Operation::set && !change->value) return;
  const std::string again = encoded(*change, spelling);
  const auto back = Notification::parse(again);
  expect(back.has_value() && *back == *change, "an encoded notification parses to itself");
}

void check_properties(Input input) {
  ReplyProperties properties;
  while (!input.done()) {
    const std::string_view name = input.short_text();
    properties.take(name, input.short_text());
  }
  const auto checked = properties.check();
  expect(
      checked.has_value() || !checked.error().text.empty() || properties.status_message.has_value(),
      "a refusal says why");
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const std::uint8_t kind = input.u8();
  const Spelling spelling = (kind & 0x80) != 0 ? Spelling::page : Spelling::sdk;
  const std::string payload(input.rest());  // an exact copy: reading past it is detected
  switch (kind & 0x7F) {
    case 0:
      return check<SetReply>(payload, spelling);
    case 1:
      return check<GetReply>(payload);
    case 2:
      return check<DelReply>(payload);
    case 3:
      return check<VdelReply>(payload, spelling);
    case 4:
      return check<KeyNotifyReply>(payload);
    case 5:
      return check_notification(payload, spelling);
    default:
      return check_properties(Input(payload));
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const auto add = [&all](char kind, std::string_view payload) {
    all.push_back(kind + std::string(payload));
  };
  for (const char* payload : {"+OK\r\n", ":-1\r\n", "-1\r\n", "$-1\r\n", "_\r\n"}) add(0, payload);
  for (const char* payload : {"$5\r\nvalue\r\n", "$5\r\nvalue", "$0\r\n\r\n", "$-1\r\n", ":-1\r\n"})
    add(1, payload);
  for (const char* payload : {":1\r\n", ":0\r\n", ":12\r\n"}) add(2, payload);
  for (const char* payload : {":1\r\n", ":-1\r\n", "-1\r\n"}) add(3, payload);
  for (const char* payload : {"+OK\r\n", ":0\r\n"}) add(4, payload);
  add(1, "-ERR the quota has been exceeded\r\n");
  add(4, "-ERR: syntax error\r\n");
  for (const Spelling spelling : {Spelling::sdk, Spelling::page}) {
    using Operation = Notification::Operation;
    add(5, encoded(Notification{Operation::set, "abc"}, spelling));
    add(5, encoded(Notification{Operation::removed, {}}, spelling));
  }
  add(6, short_text("__stat") + short_text("200") + short_text("__protVer") + short_text("1.0"));
  add(6, short_text("__stat") + short_text("408") + short_text("__stMsg") + short_text("late"));
  return all;
}

}  // namespace sheaf::fuzz
