#pragma once

// A session under test; the test plays the server's side of its connection.

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "protocol/memcached/binary_session.h"
#include "protocol/memcached/meta_session.h"
#include "tests/protocol/take_output.h"
#include "tests/support/latency.h"

namespace sheaf::protocol::memcached {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;

// An event with all its texts copied.
struct Seen {
  Event::Kind kind = Event::Kind::closed;
  Ticket ticket{};
  Status status = Status::done;
  Reason reason = Reason::other;
  std::string value{};
  std::string version{};
  std::string text{};
  std::uint32_t flags = 0;
  std::optional<std::uint64_t> number{};
  Lease lease = Lease::none;
  bool stale = false;
  bool unsure = false;
  Sent sent = Sent::no;
  std::uint32_t index = 0;
  std::optional<std::chrono::seconds> ttl_left{};

  friend bool operator==(const Seen&, const Seen&) = default;
};

inline Seen seen(const Event& event) {
  const protocol::Reply& reply = event.reply;
  return {event.kind,
          event.ticket,
          reply.status,
          reply.reason,
          std::string(reply.value),
          std::string(reply.version),
          std::string(reply.text),
          reply.flags,
          reply.number,
          reply.lease,
          reply.stale,
          reply.unsure,
          event.sent,
          event.index,
          reply.ttl_left};
}

// ---- what a binary server says

template <class Packet>
std::string encoded(const Packet& packet) {
  std::string bytes;
  ByteWriter out(bytes);
  if (!packet.encode(out)) bytes = "not encodable";
  return bytes;
}
inline std::string binary_version(std::uint32_t opaque, std::string_view text = "1.6.18") {
  return encoded(TextReply{.opaque = opaque, .text = text});
}
inline std::string binary_no_op(std::uint32_t opaque) {
  return encoded(PlainReply{.opcode = Opcode::no_op, .opaque = opaque});
}
inline std::string binary_hit(Opcode opcode, std::uint32_t opaque, std::string_view value) {
  return encoded(GetReply{.opcode = opcode, .opaque = opaque, .cas = 7, .value = value});
}
inline std::string binary_failure(Opcode opcode, std::uint32_t opaque, StatusCode status,
                                  std::string_view text = {}) {
  Header header;
  header.magic = Magic::reply;
  header.opcode = opcode;
  header.vbucket_or_status = static_cast<std::uint16_t>(status);
  header.total_body_length = static_cast<std::uint32_t>(text.size());
  header.opaque = opaque;
  std::string bytes;
  ByteWriter out(bytes);
  header.encode(out);
  return bytes.append(text);
}

// ---- the client's side

inline SessionOptions test_options() {
  SessionOptions options;
  options.value_limit = 2'000'000;
  return options;
}

template <class SessionType>
class Wire {
 public:
  explicit Wire(SessionOptions options = test_options()) : session(std::move(options)) {}

  Now now() const {
    return {elapsed, 1'700'000'000'000ms + std::chrono::duration_cast<std::chrono::milliseconds>(
                                               elapsed - Deadline(1h))};
  }

  // What the session wants to write; the kernel takes it.
  std::string take(std::size_t most = static_cast<std::size_t>(-1)) {
    std::string bytes = take_output(session, now(), most);
    if (!bytes.empty()) time_.on_request(elapsed);
    return bytes;
  }
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
    while (session.poll_event(event)) events.push_back(seen(event));
  }
  // The next event; a closed event with the text "none" if there is none.
  Seen next() {
    if (events.empty()) return {.text = "none"};
    Seen first = std::move(events.front());
    events.pop_front();
    return first;
  }
  Ticket submit(const Operation& operation) {
    auto ticket = session.submit(operation, now());
    return ticket ? *ticket : Ticket{};
  }
  LocalError refusal(const Operation& operation) {
    auto ticket = session.submit(operation, now());
    return ticket ? LocalError{Outcome::unknown, Reason::other, "accepted"} : ticket.error();
  }
  // Runs one operation alone: takes what it writes, feeds the answer, returns the event.
  Seen ask(const Operation& operation, std::string_view answer) {
    submit(operation);
    written = take();
    feed(answer);
    return next();
  }

  Deadline elapsed = 1h;
  SessionType session;
  std::deque<Seen> events;
  std::string written;  // by the last ask()

 private:
  test::AnswerTime time_;
};

// A binary session that is ready when the clock shows one hour; its next opaque is 3.
struct BinaryWire : Wire<BinarySession> {
  explicit BinaryWire(SessionOptions options = test_options(), std::string_view version = "1.6.18")
      : Wire(std::move(options)) {
    elapsed -= 2 * test::latency;
    session.start(now());
    take();
    feed(binary_version(1, version));
    take();
    feed(binary_no_op(2));
    next();
  }
};

// A meta session that is ready when the clock shows one hour; its next opaque is 2.
struct MetaWire : Wire<MetaSession> {
  explicit MetaWire(SessionOptions options = test_options(), std::string_view version = "1.6.18")
      : Wire(std::move(options)) {
    elapsed -= test::latency;
    session.start(now());
    take();
    feed("VERSION " + std::string(version) + "\r\n");
    next();
  }
};

// ---- operations

inline Operation operation(Verb verb, std::string_view key = {}, std::string_view value = {}) {
  Operation made;
  made.verb = verb;
  made.key = key;
  made.value = value;
  return made;
}
inline Operation get(std::string_view key) { return operation(Verb::get, key); }
// The keys are borrowed until the last event.
inline Operation many(const std::vector<std::string_view>& keys) {
  Operation made;
  made.verb = Verb::get_many;
  made.keys = keys;
  return made;
}
Operation many(std::vector<std::string_view>&&) = delete;
inline Operation set(std::string_view key, std::string_view value) {
  return operation(Verb::set, key, value);
}
inline Operation if_version(Operation made, std::string_view version) {
  made.condition = Condition::if_version;
  made.version = version;
  return made;
}
inline Operation with(Operation made, Condition condition) {
  made.condition = condition;
  return made;
}
inline Operation living(Operation made, std::chrono::milliseconds ttl) {
  made.ttl = ttl;
  return made;
}

}  // namespace sheaf::protocol::memcached
