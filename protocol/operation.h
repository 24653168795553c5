#pragma once

// A protocol-neutral operation and its reply. Sessions encode what their protocol has and refuse
// the rest as `unsupported` before a byte is written.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf::protocol {

enum class Verb : std::uint8_t {
  get,
  set,
  remove,
  probe,  // the protocol's own no-op that proves that the store answers; needs no key
  clock   // asks the node's clock; needs no key; unsupported where the endpoint does not tell
};
std::string_view to_string(Verb verb) noexcept;

enum class Condition : std::uint8_t {
  none,
  if_absent,           // set
  if_absent_or_equal,  // set
  if_value             // remove: the key must hold `value`
};

// Views are borrowed: `key` is copied by submit(), `value` is borrowed until the ticket's event or
// cancel().
struct Operation {
  Verb verb = Verb::get;
  Condition condition = Condition::none;
  std::string_view key;
  std::string_view value;            // set: the value; remove with if_value: the expected value
  std::chrono::milliseconds ttl{0};  // 0 = never expires
  std::string_view fence;            // empty = none
  std::chrono::nanoseconds deadline{
      0};  // monotonic; message expiry and the like are derived from it
};

enum class Status : std::uint8_t {
  done,        // get: value is there; set: stored; remove: removed; probe, clock: answered
  absent,      // get, remove: the server said that there is no such key
  not_stored,  // the condition did not hold
  refused      // the server answered with an error: see reason and text
};

// Views into the session's input; they live until the next input to the session.
struct Reply {
  Status status = Status::done;
  Reason reason = Reason::other;                         // refused only
  std::string_view value;                                // get
  std::string_view version;                              // raw text, empty if none or unusable
  std::string_view text;                                 // refused: the server's words
  std::uint32_t flags = 0;                               // memcached
  std::optional<std::chrono::milliseconds> server_wall;  // clock
};

}  // namespace sheaf::protocol
