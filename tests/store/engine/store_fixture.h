#pragma once

// A store with a clock that the test controls, and requests in one line.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine/engine.h"

namespace sheaf::store {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

inline constexpr milliseconds golden_wall{1696374425000};

// The answer, copied out of the engine.
struct Got {
  Verdict verdict = Verdict::answer;
  std::string payload;
  std::string timestamp;

  friend bool operator==(const Got&, const Got&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Got& got) {
  return out << int{static_cast<std::uint8_t>(got.verdict)} << " "
             << testing::PrintToString(got.payload) << " " << got.timestamp;
}

// An array of bulk strings.
std::string payload_of(const std::vector<std::string>& items);

// A request with everything that the store requires; a test changes what it is about. Optional
// texts are owned here, so that views of them remain valid.
struct Ask {
  std::string payload;
  std::string client_id = "client-id1";
  ClientHandle client = 1;
  std::uint8_t qos = 1;
  std::optional<std::string> response_topic = "clients/client-id1/answers";
  std::optional<std::string> correlation = std::nullopt;  // a new one for each request
  bool without_correlation = false;
  std::optional<std::string> timestamp = std::nullopt;  // the client's own clock
  bool without_timestamp = false;
  std::optional<std::string> fence = std::nullopt;
  bool persist = false;
  Gate gate = Gate::open;
  Account account = nobody;
  Quota quota = {};
};

class Store {
 public:
  explicit Store(EngineOptions options = {}) : engine(options) {}

  Got send(const Ask& ask);
  // The same, to the topic of inspections.
  Got inspect(const Ask& ask);
  // Sent by client 1, with a fresh correlation and the wall clock as timestamp.
  Got ask(const std::vector<std::string>& items) { return send(Ask{.payload = payload_of(items)}); }
  Got ask(const std::vector<std::string>& items, const std::string& fence) {
    return send(Ask{.payload = payload_of(items), .fence = fence});
  }
  // Sent by another client.
  Got ask_as(ClientHandle client, const std::vector<std::string>& items);

  // Lets time pass on both clocks.
  void pass(milliseconds time);
  // All queued notifications, split into "client topic-key payload timestamp".
  std::vector<Notification> notifications();

  Engine engine;
  Now now{std::chrono::hours(5), golden_wall};

 private:
  template <class Execute>
  Got send(const Ask& ask, Execute execute);

  std::uint64_t requests_ = 0;
};

// The timestamp at `wall`, as text.
std::string stamp(milliseconds wall, std::uint64_t counter, std::string_view node);
std::string error_line(std::string_view text);

}  // namespace sheaf::store
