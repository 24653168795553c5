#pragma once

// The state store engine: pure. Keys, values, versions, expiry, fences, watches, quota, duplicates.
// Rules and their sources: docs/wire/statestore.md. `now` is an argument; nothing here reads a clock.
//
// Thread rule: one thread at a time.

#include "base/bytes.h"
#include "base/clock.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sheaf::store {

// How replies and notifications are spelled; docs/wire/statestore.md §"Spellings".
enum class Spelling : std::uint8_t { sdk, page };
enum class NotifyMode : std::uint8_t { push, subscribed };
enum class ReplyTopics : std::uint8_t { any, own };

// The same names in mosquitto.conf (plugin_opt_NAME) and at embedded:// (?NAME=).
struct EngineOptions {
  Spelling spelling = Spelling::sdk;          // spelling=sdk|page
  std::uint64_t max_keys = 1'000'000;         // max_keys
  std::uint64_t max_bytes = 1ull << 30;       // max_bytes: keys + values
  std::uint64_t max_watches = 100'000;        // max_watches: (client, key) pairs
  std::uint64_t max_duplicates = 100'000;     // max_duplicates: remembered answers of writes
  std::chrono::milliseconds fence_retention{0};  // fence_retention: 0 = the fence goes with the key
  NotifyMode notify = NotifyMode::push;       // notify=push|subscribed (read by the host)
  ReplyTopics reply_topics = ReplyTopics::any;  // reply_topics=any|own

  // Sets one option by name. The error is one sentence naming the option and what is allowed.
  std::expected<void, std::string> set(std::string_view name, std::string_view value);
};

// A connected client as its host names it: unique among connected clients of one engine.
using ClientHandle = std::uint64_t;

// One PUBLISH to the request topic, as far as the store cares. Views live during execute().
struct Request {
  ClientHandle client = 0;
  std::string_view client_id;
  std::uint8_t qos = 1;
  std::optional<std::string_view> response_topic;
  std::optional<std::string_view> correlation;
  std::optional<std::string_view> timestamp;      // user property __ts, first one
  std::optional<std::string_view> fencing_token;  // user property __ft, first one
  std::string_view payload;
};

// What the host does with a request.
enum class Verdict : std::uint8_t {
  answer,     // publish `payload` to the response topic, to this client alone, QoS 1
  drop,       // nothing (no response topic); counted
  disconnect  // forbidden response topic: end the connection with 0x82; nothing was executed
};

struct Answer {
  Verdict verdict = Verdict::answer;
  std::string_view payload;    // lives until the next call on the engine
  std::string_view timestamp;  // __ts, empty = none
};

// A change of a watched key for one client; the host publishes it, QoS 1, to that client alone.
struct Notification {
  ClientHandle client = 0;
  std::string topic;
  std::string payload;
  std::string timestamp;
};

struct EngineCounters {
  std::uint64_t requests = 0;
  std::uint64_t executed_writes = 0;   // SET, DEL, VDEL really carried out (not filtered as duplicates)
  std::uint64_t duplicates = 0;        // writes answered from memory
  std::uint64_t dropped = 0;           // no response topic
  std::uint64_t forbidden = 0;         // response topic that ends the connection
  std::uint64_t errors = 0;            // answered with -ERR
  std::uint64_t expired = 0;
  std::uint64_t notifications = 0;
};

class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // Executes one request. Expired keys are gone before it looks.
  Answer execute(const Request& request, Now now);
  // Forgets every watch of a client.
  void disconnect(ClientHandle client);
  // Removes what has expired and queues the notifications; call at next_expiry() or every 100 ms.
  void tick(Now now);
  // The next moment (monotonic) at which tick() has work.
  std::optional<Deadline> next_expiry() const;
  // Takes the oldest queued notification.
  bool poll_notification(Notification& out);

  std::size_t keys() const;
  std::uint64_t bytes() const;
  const EngineCounters& counters() const;
  const EngineOptions& options() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sheaf::store
