#pragma once

// A session of the Redis protocol under test; the test plays the server's side of its connection.

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/resp/session.h"
#include "protocol/resp/wire/hash_slot.h"
#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/live_replies.h"
#include "tests/protocol/take_output.h"
#include "tests/support/latency.h"

namespace sheaf::protocol::resp {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;

// A redirect with its host copied.
struct Whereto {
  protocol::Redirect::Kind kind = protocol::Redirect::Kind::later;
  std::string host{};
  std::uint16_t port = 0;
  std::uint16_t slot = 0;
  bool host_unknown = false;
  friend bool operator==(const Whereto&, const Whereto&) = default;
};

// An event with all its texts copied.
struct Seen {
  Event::Kind kind = Event::Kind::closed;
  Ticket ticket{};
  Status status = Status::done;
  Reason reason = Reason::other;
  std::string value{};
  std::string text{};
  bool unsure = false;
  bool executed = false;
  Sent sent = Sent::no;
  std::uint32_t index = 0;
  std::optional<Whereto> redirect{};
  friend bool operator==(const Seen&, const Seen&) = default;
};

inline Seen seen(const Event& event) {
  Seen copy{.kind = event.kind, .ticket = event.ticket, .sent = event.sent};
  if (event.kind == Event::Kind::item) copy.index = event.index;
  if (event.kind != Event::Kind::item && event.kind != Event::Kind::reply) return copy;
  const protocol::Reply& reply = event.reply;
  copy.status = reply.status;
  copy.reason = reply.reason;
  copy.value = reply.value;
  copy.text = reply.text;
  copy.unsure = reply.unsure;
  copy.executed = reply.executed;
  if (reply.redirect) {
    const protocol::Redirect& to = *reply.redirect;
    copy.redirect = Whereto{to.kind, std::string(to.host), to.port, to.slot, to.host_unknown};
  }
  return copy;
}

// Commands as text: "SET k v; PING".
inline std::string commands_of(std::string_view bytes) {
  std::string out;
  ReplyReader reader;
  while (!bytes.empty() && reader.read(bytes) == ReplyReader::Progress::complete) {
    if (!out.empty()) out += "; ";
    std::string command;
    for (const Value word : reader.root()) {
      command.append(command.empty() ? "" : " ").append(word.text());
    }
    out += command;
    bytes.remove_prefix(reader.size());
  }
  return bytes.empty() ? out : out + " and a part";
}

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
inline std::string verbatim(std::string_view text) {
  return "=" + std::to_string(text.size() + 4) + "\r\ntxt:" + std::string(text) + "\r\n";
}

// "-MOVED 7629 10.0.0.1:7000\r\n", for the slot of a key.
inline std::string redirect(std::string_view key, std::string_view word = "MOVED",
                            std::string_view to = "10.0.0.1:7000") {
  return "-" + std::string(word) + " " + std::to_string(hash_slot(key)) + " " + std::string(to) +
         "\r\n";
}

inline SessionOptions test_options() {
  SessionOptions options;
  options.value_limit = 2'000'000;
  options.identity_interval = 24h;  // only tests of identity ask for it
  return options;
}

class Wire {
 public:
  explicit Wire(SessionOptions options = test_options()) : session(std::move(options)) {}

  Now now() const { return {elapsed, 1'700'000'000'000ms}; }

  // What the session wants to write; the kernel takes it.
  std::string take(std::size_t most = static_cast<std::size_t>(-1)) {
    std::string bytes = take_output(session, now(), most);
    if (!bytes.empty()) time_.on_request(elapsed);
    return bytes;
  }
  std::string sent() { return commands_of(take()); }
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
    written = sent();
    feed(answer);
    return next();
  }
  // Expects that only the end is left. Returns its reason.
  const CloseReason& end() {
    poll();
    while (!events.empty() && events.front().kind == Event::Kind::failed) events.pop_front();
    if (events.size() != 1 || events.front().kind != Event::Kind::closed) return no_end_;
    return session.close_reason();
  }
  // Lets time pass up to the next deadline.
  void pass() {
    elapsed = session.poll_deadline().value_or(elapsed);
    session.on_deadline(now());
    poll();
  }

  Deadline elapsed = 1h;
  RespSession session;
  std::deque<Seen> events;
  std::string written;  // by the last ask()

 private:
  test::AnswerTime time_;
  const CloseReason no_end_{Reason::other, "no end, or more than that"};
};

// The server at the other end. Its first reply decides if it speaks RESP3, or knows no HELLO.
enum class Server : std::uint8_t { redis, garnet, valkey, redis_resp2, old_redis, unknown };
inline constexpr Server every_server[] = {Server::redis,       Server::garnet,    Server::valkey,
                                          Server::redis_resp2, Server::old_redis, Server::unknown};

inline std::string hello_of_valkey(const std::string& version) {
  return "%3\r\n+server\r\n+valkey\r\n+version\r\n+" + version + "\r\n+proto\r\n:3\r\n";
}
inline std::string hello_of(Server server) {
  switch (server) {
    case Server::redis:
      return std::string(live::redis_hello_resp3);
    case Server::garnet:
      return std::string(live::garnet_hello_resp3);
    case Server::valkey:
      return hello_of_valkey("9.1.2");
    default:
      return "-ERR unknown command\r\n";
  }
}
inline std::string info_of(Server server) {
  if (server == Server::redis_resp2) return bulk("# Server\r\nredis_version:7.0.15\r\n");
  if (server == Server::old_redis) return bulk("# Server\r\nredis_version:5.0.7\r\n");
  return "-NOPERM no\r\n";
}
constexpr std::string_view server_id = "6f1b0ea9f5b0ad1ea2a5a2fd7c7b9ac0d4bdf1ce";
// The answers to the last commands of the greeting.
inline std::string last_of(Server server) {
  const std::string id = server == Server::garnet ? bulk(server_id) : std::string();
  return "+OK\r\n+OK\r\n" + id + "+PONG\r\n";
}
inline bool speaks_resp3(Server server) { return server <= Server::valkey; }
inline std::string null_of(Server server) { return speaks_resp3(server) ? "_\r\n" : "$-1\r\n"; }

// A ready session.
struct ReadyWire : Wire {
  // `hello` is the server's first reply, if it is not the usual one.
  explicit ReadyWire(Server server = Server::redis, SessionOptions options = test_options(),
                     const std::string& hello = {})
      : Wire(std::move(options)) {
    session.start(now());
    take();
    feed(hello.empty() ? hello_of(server) : hello);
    take();
    if (!speaks_resp3(server)) {
      feed(info_of(server) + "-NOPERM no\r\n");
      take();
    }
    feed(last_of(server));
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
inline Operation set(std::string_view key, std::string_view value) {
  return operation(Verb::set, key, value);
}
// The keys are borrowed until the last event.
inline Operation many(const std::vector<std::string_view>& keys) {
  Operation made;
  made.verb = Verb::get_many;
  made.keys = keys;
  return made;
}
Operation many(std::vector<std::string_view>&&) = delete;
inline Operation set_many(const std::vector<std::string_view>& keys,
                          const std::vector<std::string_view>& values) {
  Operation made = many(keys);
  made.verb = Verb::set_many;
  made.values = values;
  return made;
}
inline Operation command(const std::vector<std::string_view>& words) {
  Operation made;
  made.verb = Verb::command;
  made.words = words;
  return made;
}
Operation command(std::vector<std::string_view>&&) = delete;
inline Operation with(Operation made, Condition condition) {
  made.condition = condition;
  return made;
}
inline Operation living(Operation made, std::chrono::milliseconds ttl) {
  made.ttl = ttl;
  return made;
}
inline Operation asking(Operation made) {
  made.asking = true;
  return made;
}

}  // namespace sheaf::protocol::resp
