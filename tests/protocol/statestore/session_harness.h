#pragma once

// A session under test; the test plays the server's side of its connection.

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/mqtt5/packets.h"
#include "protocol/statestore/session.h"
#include "protocol/statestore/topics.h"
#include "tests/protocol/take_output.h"
#include "tests/support/latency.h"

namespace sheaf::protocol::statestore {

using namespace std::chrono_literals;

// An event with all its texts copied.
struct Seen {
  Event::Kind kind = Event::Kind::ready;
  Ticket ticket;
  Status status = Status::done;
  Reason reason = Reason::other;
  std::string value;
  std::string version;
  std::string text;
  std::optional<std::chrono::milliseconds> server_wall;
  Sent sent = Sent::no;
  protocol::Notification::Kind change{};
  std::string key{};
  std::optional<std::string> changed_to{};

  friend bool operator==(const Seen&, const Seen&) = default;
};

// A request as the server reads it.
struct SeenRequest {
  std::uint16_t packet_id = 0;
  std::string correlation;
  std::string payload{};
  std::string response_topic;
  std::string timestamp;
  std::optional<std::string> fence;
  std::uint32_t expiry = 0;
  std::string bytes;
};

// ---- what the server says

using Fill = std::function<void(mqtt5::PropertyWriter&)>;

inline std::string properties_of(const Fill& fill) {
  std::string raw;
  ByteWriter out(raw);
  mqtt5::PropertyWriter writer(out);
  if (fill) fill(writer);
  return raw;
}
template <class Packet>
std::string encoded(const Packet& packet) {
  std::string bytes;
  ByteWriter out(bytes);
  packet.encode(out);
  return bytes;
}

inline std::string connack(mqtt5::ReasonCode code = mqtt5::ReasonCode::success,
                           const Fill& fill = {}) {
  const std::string raw = properties_of(fill);
  mqtt5::Connack connack{false, code, {}};
  connack.properties.raw = raw;
  return encoded(connack);
}
inline std::string suback(mqtt5::ReasonCode code = mqtt5::ReasonCode::granted_qos_1,
                          mqtt5::ReasonCode notifications = mqtt5::ReasonCode::granted_qos_1) {
  const std::string codes{static_cast<char>(code), static_cast<char>(notifications)};
  return encoded(mqtt5::Suback{65'535, {}, codes});
}
inline std::string puback(std::uint16_t id, mqtt5::ReasonCode code = mqtt5::ReasonCode::success) {
  return encoded(mqtt5::Puback{id, code, {}});
}
inline std::string disconnect(mqtt5::ReasonCode code) {
  return encoded(mqtt5::Disconnect{code, {}});
}

struct ReplyScript {
  std::string payload{};
  std::string timestamp = "001696374425000:00001:StateStore";
  std::string status = "200";
  std::string message{};
  std::uint8_t qos = 1;
  std::uint16_t packet_id = 1;
  std::string topic = response_topic(ResponseTopicForm::rust, "sheaf-1");
};
inline std::string reply_bytes(std::string_view correlation, const ReplyScript& script) {
  const std::string raw = properties_of([&](mqtt5::PropertyWriter& writer) {
    writer.text(mqtt5::PropertyId::correlation_data, correlation);
    if (!script.status.empty()) writer.user("__stat", script.status);
    if (!script.message.empty()) writer.user("__stMsg", script.message);
    if (!script.timestamp.empty()) writer.user("__ts", script.timestamp);
  });
  mqtt5::Publish publish;
  publish.qos = script.qos;
  publish.topic = script.topic;
  publish.packet_id = script.packet_id;
  publish.properties.raw = raw;
  publish.payload = script.payload;
  return encoded(publish);
}

// ---- the client's side

inline StoreSessionOptions test_options() {
  StoreSessionOptions options;
  options.client_id = "sheaf-1";
  options.seed = {1, 2, 3, 4, 5, 6, 7, 8};
  options.value_limit = 100'000;
  options.asks_store = false;  // only tests of that have a store that answers
  return options;
}

class Wire {
 public:
  explicit Wire(StoreSessionOptions options = test_options())
      : session(std::move(options), clock) {}

  Now now() const { return {elapsed, 1'696'374'425'000ms + elapsed_ms()}; }

  // Everything that the session wants to write; the kernel takes it.
  std::string take(std::size_t most = static_cast<std::size_t>(-1)) {
    std::string bytes = take_output(session, now(), most);
    if (!bytes.empty()) time_.on_request(elapsed);
    return bytes;
  }
  // The same as requests; other packets are skipped.
  std::vector<SeenRequest> take_requests() { return requests_in(take()); }

  // Gives bytes in reads of at most `step`; events are polled after each. They arrive test::latency
  // after the last write, unless the test itself has let time pass.
  void feed(std::string_view bytes, std::size_t step = static_cast<std::size_t>(-1)) {
    elapsed = time_.of_answer(elapsed);
    while (!bytes.empty() && !session.closed()) {
      const std::span<std::byte> space = session.input_space();
      const std::size_t size = std::min({bytes.size(), space.size(), step});
      if (size == 0) break;
      std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), size, space.begin());
      bytes.remove_prefix(size);
      session.on_input(size, now());
      poll();
    }
    poll();
  }
  void poll() {
    Event event;
    while (session.poll_event(event)) {
      events.push_back({event.kind, event.ticket, event.reply.status, event.reply.reason,
                        std::string(event.reply.value), std::string(event.reply.version),
                        std::string(event.reply.text), event.reply.server_wall, event.sent});
      if (event.kind != Event::Kind::notification) continue;
      const protocol::Notification& notification = event.notification;
      Seen& seen = events.back();
      seen.change = notification.kind;
      seen.key = notification.key;
      seen.version = notification.version;
      if (notification.value) seen.changed_to = std::string(*notification.value);
    }
  }
  // The next event; a closed event with the text "none" if there is none.
  Seen next() {
    if (events.empty()) return {Event::Kind::closed, {}, {}, {}, "none", {}, {}, {}, {}};
    Seen seen = std::move(events.front());
    events.pop_front();
    return seen;
  }

  // The clock shows the same time after the handshake as before it.
  void handshake(const Fill& limits = {}) {
    elapsed -= 2 * test::latency;  // latency of CONNACK and SUBACK
    session.start(now());
    take();
    feed(connack(mqtt5::ReasonCode::success, limits));
    take();
    feed(suback());
    next();
  }
  Ticket submit(const Operation& operation) {
    auto ticket = session.submit(operation, now());
    return ticket ? *ticket : Ticket{};
  }
  LocalError refusal(const Operation& operation) {
    auto ticket = session.submit(operation, now());
    return ticket ? LocalError{Outcome::unknown, Reason::other, "accepted"} : ticket.error();
  }

  static std::vector<SeenRequest> requests_in(std::string_view bytes) {
    std::vector<SeenRequest> requests;
    while (true) {
      const auto result = mqtt5::read_frame(bytes);
      if (result.state != mqtt5::FrameResult::State::frame) return requests;
      const std::string_view packet = bytes.substr(0, result.frame.total_size);
      bytes.remove_prefix(packet.size());
      if (result.frame.type != mqtt5::PacketType::publish) continue;
      const auto publish = mqtt5::Publish::parse(result.frame, packet);
      if (publish) requests.push_back(read(*publish, packet));
    }
  }

  HybridClock clock{"client-node"};
  Deadline elapsed = 1h;
  StoreSession session;
  std::deque<Seen> events;

 private:
  test::AnswerTime time_;
  std::chrono::milliseconds elapsed_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(elapsed - 1h);
  }
  static SeenRequest read(const mqtt5::Publish& publish, std::string_view packet) {
    const auto text = [](std::optional<std::string_view> view) {
      return std::string(view.value_or("(none)"));
    };
    SeenRequest request;
    request.packet_id = publish.packet_id;
    request.correlation = text(publish.properties.correlation_data);
    request.payload = publish.payload;
    request.response_topic = text(publish.properties.response_topic);
    request.timestamp = text(publish.properties.user().find("__ts"));
    request.fence = publish.properties.user().find("__ft");
    request.expiry = publish.properties.message_expiry.value_or(0);
    request.bytes = packet;
    return request;
  }
};

inline Operation get(std::string_view key) {
  Operation operation;
  operation.key = key;
  return operation;
}
inline Operation set(std::string_view key, std::string_view value) {
  Operation operation;
  operation.verb = Verb::set;
  operation.key = key;
  operation.value = value;
  return operation;
}

}  // namespace sheaf::protocol::statestore
