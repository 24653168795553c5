#pragma once

// The state store engine, which is pure: keys, values, versions, expiry, fences, watches, quota,
// duplicates. docs/wire/statestore.md has the rules and their sources. `now` is an argument;
// nothing here reads a clock.
//
// Decisions where the protocol says nothing:
// - A repeated SET, DEL or VDEL (same client ID, correlation data, timestamp, fencing token and
//   payload within a minute) gets the first answer again, byte for byte, even if it was an error.
//   It is not executed. Without a timestamp (DEL, VDEL) this holds only while the key has not been
//   written since.
// - GET and KEYNOTIFY ignore a fencing token. A token that is not applied raises no fence.
// - Accepted fencing tokens advance the store's clock as timestamps do, so a later version is
//   greater than every token accepted before it.
// - The wall clock may step back so far that the next version would be over a minute ahead of it.
//   Until the wall clock has caught up, every SET is refused with the time error. GET, DEL and VDEL
//   still work, and leave out a stored version that is over a minute ahead. A DELETE notification
//   then carries the latest legal timestamp, exactly a minute ahead, instead of a new version:
//   clients lose notifications without a timestamp, and must never see one further ahead.
// - A watch whose notification topic does not fit into a topic name is a syntax error; too many
//   watches are a quota error.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "protocol/statestore/packets.h"
#include "store/engine/numbers.h"
#include "store/engine/usage.h"

namespace sheaf::store {

using protocol::statestore::Spelling;
enum class NotifyMode : std::uint8_t { push, subscribed };
enum class ReplyTopics : std::uint8_t { any, own };
// Which keys are in the file of a store that has one.
enum class Persist : std::uint8_t { all, asked };

// The same names are used in mosquitto.conf (plugin_opt_NAME) and for embedded:// (?NAME=).
struct EngineOptions {
  Spelling spelling = Spelling::sdk;       // spelling=sdk|page
  std::uint64_t max_keys = 1'000'000;      // max_keys
  std::uint64_t max_bytes = 1ull << 30;    // max_bytes: keys + values
  std::uint64_t max_watches = 100'000;     // max_watches: (client, key) pairs
  std::uint64_t max_duplicates = 100'000;  // max_duplicates: remembered answers of writes
  // fence_retention: with 0s a fence is removed with its key. Otherwise a removed key's fence is
  // remembered for this time, and only requests with a lower token are refused. This extends the
  // protocol.
  std::chrono::milliseconds fence_retention{0};
  std::string data;  // data=FILE: keeps the store over restarts; empty: in memory only
  // durability=acknowledged (0 here): an answer is sent once the file has what it says. Otherwise
  // the file is written within this time after a change.
  std::chrono::milliseconds durability{0};
  // persist=asked: the file has only keys whose last SET asked for it.
  Persist persist = Persist::all;               // persist=all|asked
  NotifyMode notify = NotifyMode::push;         // notify=push|subscribed (read by the host)
  ReplyTopics reply_topics = ReplyTopics::any;  // reply_topics=any|own

  // Sets one option by name. Sizes may end in KiB, MiB or GiB; durations end in ms, s, m or h. The
  // error is one sentence that names the option and what is allowed.
  std::expected<void, std::string> set(std::string_view name, std::string_view value);
  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

inline constexpr std::size_t max_expiries_per_tick = 10'000;
inline constexpr std::chrono::seconds duplicate_lifetime{60};
inline constexpr std::uint64_t max_duplicate_bytes = 64ull << 20;  // for remembered answers

// Identifies a connected client. The host chooses it, unique among the clients of one engine.
using ClientHandle = std::uint64_t;

// What the host knows about a request in advance. It counts after the checks of the envelope and
// the grammar.
enum class Gate : std::uint8_t {
  open,
  not_authorized,  // no right to this key
  too_fast         // more requests per second than the quota allows
};

// What the store needs from a PUBLISH to the topic of requests or of inspections. Views live during
// the call.
struct Request {
  ClientHandle client = 0;
  std::string_view client_id;
  std::uint8_t qos = 1;
  std::optional<std::string_view> response_topic;
  std::optional<std::string_view> correlation;
  std::optional<std::string_view> timestamp;      // user property __ts, first one
  std::optional<std::string_view> fencing_token;  // user property __ft, first one
  bool persist = false;                           // user property aio-persistence; counts for SET
  std::string_view payload;
  Gate gate = Gate::open;
  Account account = nobody;
  Quota quota{};  // the account's
};

// What the host must do with a request.
enum class Verdict : std::uint8_t {
  answer,     // publish `payload` to the response topic, to this client only, QoS 1
  drop,       // nothing (no response topic); counted
  disconnect  // forbidden response topic: end the connection with 0x82; nothing was executed
};

struct Answer {
  Verdict verdict = Verdict::answer;
  std::string_view payload;    // valid until the next call on the engine
  std::string_view timestamp;  // __ts, empty = none
};

// A change of a watched key, for one client. The host publishes it with QoS 1, to that client only.
struct Notification {
  ClientHandle client = 0;
  std::string topic;
  std::string payload;
  std::string timestamp;
};

class Journal;

class Engine {
 public:
  // `seed` is for the hash tables, so that clients cannot choose colliding keys: random in a
  // server, fixed in tests.
  explicit Engine(const EngineOptions& options, std::uint64_t seed = 0);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // Executes one request; it never sees an expired key. Poll the notifications afterwards: they
  // wait in memory until then.
  Answer execute(const Request& request, Now now);
  // Answers a question about the store itself (protocol/statestore/inspection.h), and changes
  // nothing.
  Answer inspect(const Request& request, const HostNumbers& host, Now now);
  // Forgets every watch of a client, and the notifications queued for it.
  void disconnect(ClientHandle client);
  // Removes expired keys and queues their notifications, at most max_expiries_per_tick per call so
  // that a call stays short. Call it at next_expiry() or every 100 ms.
  void tick(Now now);
  // When tick() next has work, on the monotonic clock; in the past if it has work now.
  std::optional<Deadline> next_expiry() const;
  // Takes the oldest queued notification. The strings in `out` are reused.
  bool poll_notification(Notification& out);

  // Used by a store with a file (journal.h).
  Journal& journal();

  // Includes keys that have expired but are not removed yet.
  std::size_t keys() const;
  std::uint64_t bytes() const;
  std::size_t watches() const;
  Usage usage(Account account) const;
  // The keys that a client watches.
  std::vector<std::string> watched_by(ClientHandle client) const;
  std::size_t remembered_answers() const;
  std::size_t remembered_fences() const;
  const EngineCounters& counters() const;
  std::vector<Number> numbers(const HostNumbers& host) const;
  const EngineOptions& options() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sheaf::store
