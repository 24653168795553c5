// Publishes to the engine: any payload and any property, in both spellings. Clients must read the
// same from both, a repeated write must get its answer again, and every change must reach the
// watchers.
//
//   input   records to the end: kind u8, client and key u8, then texts

#include <optional>

#include "protocol/statestore/packets.h"
#include "protocol/statestore/topics.h"
#include "store/engine/engine.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

using namespace store;
namespace wire = protocol::statestore;

// One publish, in its own memory.
struct Publish {
  ClientHandle client = 1;
  std::string client_id;
  std::string payload;
  std::string correlation;
  std::optional<std::string> timestamp;
  std::optional<std::string> token;
  std::string response_topic = "clients/a/answers";
  bool writes = false;

  Request request() const {
    Request request;
    request.client = client;
    request.client_id = client_id;
    request.response_topic = response_topic;
    request.correlation = correlation;
    request.timestamp = timestamp;
    request.fencing_token = token;
    request.payload = payload;
    return request;
  }
};

std::string payload_of(std::uint8_t kind, std::string_view key, std::string_view text) {
  const auto life = std::chrono::milliseconds(kind / 8 % 4 * 500);
  switch (kind % 8) {
    case 0:
      return encoded(wire::GetRequest{key});
    case 1:
      return encoded(wire::SetRequest{key, text, wire::SetCondition::none, life});
    case 2:
      return encoded(wire::SetRequest{key, text, wire::SetCondition::if_absent, life});
    case 3:
      return encoded(wire::SetRequest{key, text, wire::SetCondition::if_absent_or_equal, life});
    case 4:
      return encoded(wire::DelRequest{key});
    case 5:
      return encoded(wire::VdelRequest{key, text});
    case 6:
      return encoded(wire::KeyNotifyRequest{key, kind >= 128});
    default:
      return std::string(text);
  }
}

template <class Reply>
std::string encoded_as_sdk(const Reply& reply) {
  if constexpr (requires(ByteWriter& out) { reply.encode(out); }) {
    return encoded(reply);
  } else {
    return encoded(reply, Spelling::sdk);
  }
}
// An answer as a client reads it, without the spelling.
template <class Reply>
std::string read_as(std::string_view payload) {
  const auto reply = Reply::parse(payload);
  if (!reply) return "refused " + std::to_string(static_cast<unsigned>(reply.error().reason));
  if constexpr (requires { reply->value; }) return std::string(reply->value.value_or("absent"));
  return encoded_as_sdk(*reply);
}
std::string read(const wire::Request& request, std::string_view payload) {
  if (std::holds_alternative<wire::GetRequest>(request)) return read_as<wire::GetReply>(payload);
  if (std::holds_alternative<wire::SetRequest>(request)) return read_as<wire::SetReply>(payload);
  if (std::holds_alternative<wire::DelRequest>(request)) return read_as<wire::DelReply>(payload);
  if (std::holds_alternative<wire::VdelRequest>(request)) return read_as<wire::VdelReply>(payload);
  return read_as<wire::KeyNotifyReply>(payload);
}

EngineOptions options_of(Spelling spelling) {
  EngineOptions options;
  options.spelling = spelling;
  options.max_keys = 3;
  options.max_bytes = 300;
  options.max_watches = 4;
  return options;
}

class EngineDrive {
 public:
  void play(Input input) {
    while (!input.done()) {
      const std::uint8_t kind = input.u8();
      const std::uint8_t who = input.u8();
      if (kind == 255) {
        pass(std::chrono::milliseconds(1 << who % 17));
      } else if (kind == 254) {
        for (Engine* engine : {&sdk_, &page_}) engine->disconnect(1 + who % 3);
      } else {
        execute(publish_of(kind, who, input));
      }
      compare();
    }
  }

 private:
  Publish publish_of(std::uint8_t kind, std::uint8_t who, Input& input) const {
    Publish publish;
    publish.client = 1 + who % 3;
    publish.client_id = "c" + std::to_string(publish.client);
    const std::string key = "k" + std::to_string(who / 3 % 4);
    publish.payload = payload_of(kind, key, input.short_text());
    publish.correlation = std::to_string(who / 12);
    const std::uint8_t stamps = input.u8();
    const auto wall = static_cast<std::uint64_t>(now_.wall.count());
    if (stamps % 8 != 7) publish.timestamp = std::to_string(wall + stamps / 64 * 40'000) + ":0:c";
    if (stamps / 8 % 4 == 3) publish.token = std::to_string(wall - stamps) + ":1:t";
    if (stamps % 8 == 6) publish.timestamp = input.short_text();
    if (stamps % 8 == 5) publish.token = input.short_text();
    if (stamps % 8 == 4) publish.response_topic = input.short_text();
    publish.writes = kind % 8 >= 1 && kind % 8 <= 5;
    return publish;
  }

  void execute(const Publish& publish) {
    const Answer answer = sdk_.execute(publish.request(), now_);
    const std::string payload(answer.payload);
    const std::string timestamp(answer.timestamp);
    const Answer other = page_.execute(publish.request(), now_);
    expect(answer.verdict == other.verdict, "the spelling does not matter");
    expect(answer.timestamp.empty() == other.timestamp.empty(), "nor for versions");
    if (answer.verdict != Verdict::answer) return;
    if (const auto request = wire::parse_request(publish.payload)) {
      expect(read(*request, payload) == read(*request, other.payload),
             "clients read the same of both");
    }
    if (!publish.writes) return;
    const std::uint64_t writes = sdk_.counters().executed_writes;
    const Answer again = sdk_.execute(publish.request(), now_);
    static_cast<void>(page_.execute(publish.request(), now_));
    expect(again.payload == payload && again.timestamp == timestamp &&
               sdk_.counters().executed_writes == writes,
           "a repeated write gets its answer again");
  }

  void pass(std::chrono::milliseconds time) {
    now_.mono += time;
    now_.wall += time;
    for (Engine* engine : {&sdk_, &page_}) {
      engine->tick(now_);
      const auto next = engine->next_expiry();
      expect(!next || *next > now_.mono, "what has expired is gone");
    }
  }

  void compare() {
    Notification one;
    Notification two;
    while (sdk_.poll_notification(one)) {
      expect(page_.poll_notification(two), "both notify");
      const auto topic = wire::parse_notification_topic(one.topic);
      expect(topic && topic->client_id == "c" + std::to_string(one.client),
             "a notification goes to its client");
      const auto change = wire::Notification::parse(one.payload);
      expect(change && *change == wire::Notification::parse(two.payload).value(),
             "clients read the same change");
      expect(one.topic == two.topic && !one.timestamp.empty(), "with a version");
    }
    expect(!page_.poll_notification(two), "both notify of the same");
    expect(sdk_.keys() == page_.keys() && sdk_.bytes() == page_.bytes() &&
               sdk_.watches() == page_.watches(),
           "both hold the same");
    expect(sdk_.keys() <= 3 && sdk_.bytes() <= 300 && sdk_.watches() <= 4, "within the limits");
  }

  Now now_{std::chrono::hours(1), std::chrono::milliseconds(1'700'000'000'000)};
  Engine sdk_{options_of(Spelling::sdk)};
  Engine page_{options_of(Spelling::page)};
};

}  // namespace

void run(std::string_view bytes) { EngineDrive().play(Input(bytes)); }

std::vector<std::string> seeds() {
  const auto record = [](int kind, int who, std::string_view text, int stamps = 0) {
    return std::string{static_cast<char>(kind), static_cast<char>(who)} + short_text(text) +
           static_cast<char>(stamps);
  };
  const std::string pass{'\xFF', '\x0A'};
  const std::string leave{'\xFE', '\x00'};
  return {
      record(6, 0, "") + record(1, 1, "value") + record(0, 0, "") + record(4, 2, ""),
      record(3 + 8, 0, "me") + record(2, 13, "you") + pass + record(2, 25, "you"),
      record(1, 0, "v", 24) + record(1, 12, "w") + record(1, 24, "w", 24 + 64) + leave,
      record(7, 0, "*3\r\n$3\r\nset\r\n$2\r\nk0\r\n$1\r\nv\r\n") + record(5, 12, "v"),
      record(1, 0, "v", 6) + short_text("1:2:n") + record(0, 0, "", 4) + short_text("clients/#")};
}

}  // namespace sheaf::fuzz
