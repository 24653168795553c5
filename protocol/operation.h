#pragma once

// A protocol-neutral operation and its reply. A session encodes the operations that its protocol
// has, and refuses the others as `unsupported` before a byte is written.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf::protocol {

enum class Verb : std::uint8_t {
  get,
  get_many,  // gets of all `keys` in one request; unsupported if the protocol has none
  set,
  set_many,  // sets of all `keys` to their `values` in one request, for a caller that waits;
             // unsupported if the protocol has none
  remove,
  probe,  // the protocol's own no-op, which proves that the store answers; needs no key
  clock,  // asks the node's clock; needs no key; unsupported where the endpoint has none
  // After the answer, changes of the key come as notifications on this connection, as long as it is
  // open and the server owns the key; but see Reply::polls. Unsupported if the endpoint has no
  // watches.
  watch,
  unwatch,         // ends a watch; absent: the key was not watched
  append,          // `value` after the current one; not_stored: the key is absent
  prepend,         // the same, before it
  increment,       // adds `delta` to a decimal number; absent, unless `initial` creates it
  decrement,       // subtracts `delta`, down to 0
  touch,           // gives the key the time to live `ttl`
  get_and_touch,   // both at once
  get_and_set,     // set; `value` is the one that was there before, or the key was absent
  lease,           // get; the first caller that finds the key absent may compute it, for `ttl`
  server_version,  // `value` is the server's version; needs no key
  stats,           // group named by `key` (empty: general); `value` has lines "NAME VALUE\n"
  command          // `words` as they are; `value` is the bytes of the whole reply. Or `commands`
};
constexpr std::string_view to_string(Verb verb) noexcept {
  switch (verb) {
    case Verb::get:
      return "get";
    case Verb::get_many:
      return "get many";
    case Verb::set:
      return "set";
    case Verb::set_many:
      return "set many";
    case Verb::remove:
      return "remove";
    case Verb::probe:
      return "probe";
    case Verb::clock:
      return "clock";
    case Verb::watch:
      return "watch";
    case Verb::unwatch:
      return "unwatch";
    case Verb::append:
      return "append";
    case Verb::prepend:
      return "prepend";
    case Verb::increment:
      return "increment";
    case Verb::decrement:
      return "decrement";
    case Verb::touch:
      return "touch";
    case Verb::get_and_touch:
      return "get and touch";
    case Verb::get_and_set:
      return "get and set";
    case Verb::lease:
      return "lease";
    case Verb::server_version:
      return "version";
    case Verb::stats:
      return "stats";
    case Verb::command:
      return "command";
  }
  return {};
}
inline constexpr std::size_t verb_count = static_cast<std::size_t>(Verb::command) + 1;
static_assert(to_string(static_cast<Verb>(verb_count)).empty(), "command must be the last verb");

enum class Condition : std::uint8_t {
  none,
  if_absent,           // set
  if_absent_or_equal,  // set
  if_value,            // remove: the key must hold `value`
  if_present,          // set
  if_version           // set, remove: the key must still be at `version`
};

// The parts of an operation that are not texts.
struct OperationTerms {
  Verb verb = Verb::get;
  Condition condition = Condition::none;
  std::chrono::milliseconds ttl{0};  // 0 = never expires
  // Monotonic; message expiry and similar times are derived from it.
  std::chrono::nanoseconds deadline{0};
  bool ttl_left = false;                 // get: also asks for the rest of the value's life
  std::uint32_t flags = 0;               // set: stored with the value
  bool persist = false;                  // set: the store keeps it on its disk
  std::uint64_t delta = 1;               // increment, decrement
  std::optional<std::uint64_t> initial;  // increment, decrement: the value if the key is absent
  // The request, for one key, follows a Redirect of kind `ask`: the node does not own the key yet.
  // Protocols without redirects ignore it.
  bool asking = false;
  // get_many: the session may leave keys `unsure` if that makes the request cheaper. Only for a
  // caller that waits: a later request of its own cannot overtake the second one for such a key.
  bool may_be_unsure = false;
};

// Views are borrowed: submit() copies `key` and `version`; `value`, `keys`, `values`, `words` and
// `commands` must live until the ticket's last event or cancel(). OwnedOperation owns its texts.
struct Operation : OperationTerms {
  std::string_view key;
  std::span<const std::string_view> keys{};    // get_many, set_many, command with `commands`
  std::span<const std::string_view> values{};  // set_many: one for each key
  std::span<const std::string_view> words{};   // command: its name and its arguments
  // command: the words of several instead, each with one key, which is the one in `keys`.
  std::span<const std::span<const std::string_view>> commands{};
  std::string_view value;    // set: the value; remove with if_value: the expected value
  std::string_view fence;    // empty = none
  std::string_view version;  // if_version: as in a Reply
};

// Which caller may compute the value of a key that is absent or stale.
enum class Lease : std::uint8_t {
  none,  // no lease was asked for
  won,   // this caller, for the time of the lease; it stores with if_version and Reply::version
  taken  // another caller; wait, or do without
};

enum class Status : std::uint8_t {
  done,        // get: value is there; set: stored; remove: removed; all others: answered
  absent,      // get, remove: the server said that there is no such key
  not_stored,  // the condition did not hold
  refused      // the server answered with an error: see reason and text
};

// The answer of a node that has not executed a request: where it belongs, or that it must be sent
// again. Repeating it is safe for every request.
struct Redirect {
  enum class Kind : std::uint8_t {
    moved,  // its slot is served there from now on
    ask,    // this request only, now, marked `asking`
    later   // no server serves it at the moment: try again after a delay
  };
  Kind kind = Kind::later;
  // The node has no name or address for the other: a map may know one. Else the host that answered.
  bool host_unknown = false;
  std::uint16_t slot = 0;   // moved, ask
  std::uint16_t port = 0;   // moved, ask; never 0
  std::string_view host{};  // moved, ask; without brackets. Empty: the host that answered
  friend bool operator==(const Redirect&, const Redirect&) = default;
};

// Views into the session's input; they live until the next input to the session.
struct Reply {
  Status status = Status::done;
  Reason reason = Reason::other;                         // refused only
  std::string_view value;                                // get, command
  std::string_view version;                              // raw text, empty if none or unusable
  std::string_view text;                                 // refused: the server's text
  std::uint32_t flags = 0;                               // memcached
  std::optional<std::chrono::seconds> ttl_left;          // if asked for; none: it never expires
  std::optional<std::chrono::milliseconds> server_wall;  // clock
  std::optional<std::uint64_t> number;                   // increment, decrement: the new value
  Lease lease = Lease::none;                             // get, lease
  bool stale = false;  // get, lease: the value is there but was marked out of date
  // For a key of get_many or set_many. Refused: it must be requested alone. Absent: only a request
  // that may not leave it unsure shows if it exists. Done: its value is empty, or there is none.
  bool unsure = false;
  bool polls = false;  // watch: no notifications will come; the key must be read now and then
  std::optional<Redirect> redirect{};  // refused only; if there is one, nothing was executed
  bool executed = false;  // refused only: the server did it, but its reply exceeds a limit of ours
};

}  // namespace sheaf::protocol
