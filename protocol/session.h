#pragma once

// The contract of every protocol: one Session per connection, pure. See ARCHITECTURE.md,
// "Sessions".
//
// The caller repeats: inputs, then poll_event until false, then poll_output (write, on_output), and
// sets its timer to poll_deadline. Commands may come at any time in between. No member calls back.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>

#include <sheaf/stats.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/refusal.h"
#include "protocol/operation.h"

namespace sheaf::protocol {

// Names a submitted request; a slot is reused with another generation.
struct Ticket {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const Ticket&, const Ticket&) = default;
};

// Why a submit was refused locally: nothing was queued.
using sheaf::LocalError;

// Why a session ended.
struct CloseReason {
  Reason reason = Reason::connection_lost;  // closed = we ended it ourselves
  std::string text;                         // one sentence; the peer's text is escaped
  bool permanent = false;                   // trying again soon is useless (wrong password, ...)
  bool renegotiates = false;    // the next connection negotiates differently: not the node's fault
  bool not_understood = false;  // the peer was reached, but speaks another protocol, or no TLS
  bool other_kind = false;      // and what it sent shows that it is a server of another kind
  bool taken_over = false;      // the server has given our name to another connection
  bool cut = false;             // the peer ended the stream without a word
};

// What the server said of itself while it greeted us. Empty: nothing.
struct Peer {
  std::string software{};  // "Redis 7.0.15"
  std::string id{};        // by which its cluster knows it
  ServerRole role = ServerRole::unknown;
};

// A change of a watched key, sent by the server unasked. It may come late, twice or out of order:
// only its version says whether it is new.
struct Notification {
  enum class Kind : std::uint8_t {
    set,      // written
    deleted,  // removed or expired
    touched,  // set or deleted: read the key, or some servers report no more changes
    changed   // the server's message cannot be read, or is of a new kind
  };
  Kind kind = Kind::changed;
  std::string_view key;  // empty: every watched key
  std::optional<std::string_view> value{};
  std::string_view version{};  // raw text, empty if none or unusable
};

// How one version text compares with another. Unknown: one is empty, or they cannot be compared.
enum class VersionOrder : std::uint8_t { older, same, newer, unknown };
using CompareVersions = VersionOrder (*)(std::string_view, std::string_view) noexcept;

// How much of a request had left when it ended without an answer.
enum class Sent : std::uint8_t { no, maybe };

struct Event {
  enum class Kind : std::uint8_t {
    ready,   // the handshake is done; once
    item,    // get_many, set_many: what is known of the key at `index`, which ascends
    reply,   // `ticket` is answered; get_many: keys without an item are absent; set_many: each
             // key had an item
    failed,  // `ticket` will never be answered: the session closed; `sent` is what is known
    closed,  // after every failed; the last event; close_reason() says why
    notification,  // a watched key changed
    outdated       // the server is no longer what it was when it greeted us: another connection
                   // should take the place of this one, which works on until then
  };
  Kind kind = Kind::ready;
  Ticket ticket;
  Reply reply;                  // views live until the next poll_event, input or command
  Sent sent = Sent::no;         // failed only: what is known
  Notification notification{};  // as above
  std::uint32_t index = 0;      // item only
};

struct Counters {
  std::uint64_t late_replies = 0;       // no caller waited for them (any more); dropped
  std::uint64_t bad_timestamps = 0;     // result kept, version reported as absent
  std::uint64_t bad_notifications = 0;  // foreign: dropped; unreadable: an event `changed`
};

class SharedInput;

class Session {
 public:
  virtual ~Session() = default;

  // Once, before the first input: the session may read through `input`, which outlives it. Then
  // on_input() must be followed by poll_event until false, before another session reads.
  virtual void share_input(SharedInput& /*input*/) {}
  // Inputs. The caller writes at most input_space().size() bytes there, then passes their number.
  virtual std::span<std::byte> input_space() = 0;
  virtual void on_input(std::size_t size, Now now) = 0;
  virtual void on_output(std::size_t size, Now now) = 0;  // the kernel took these
  virtual void on_eof(Now now) = 0;                       // the stream ended or failed
  virtual void on_deadline(Now now) = 0;                  // poll_deadline() has come

  // Commands. After submit() an event with the ticket follows, unless cancel() comes first.
  virtual void start(Now now) = 0;  // once, when the stream is there
  virtual std::expected<Ticket, LocalError> submit(const Operation& operation, Now now) = 0;
  // Forgets the request: no event follows. Returns whether a complete frame of it may reach the
  // server. A half-written borrowed value closes the session.
  virtual Sent cancel(Ticket ticket, Now now) = 0;
  // The factory has another login. Returns true if this connection continues with it, at once or as
  // soon as it can, or has not logged in yet. Returns false if it cannot change its login and must
  // be replaced; until then it works as before.
  virtual bool renew_login(Now) { return false; }
  virtual void close(Now now) = 0;  // orderly; everything submitted fails with events

  // Outputs.
  virtual std::span<const Bytes>
  poll_output() = 0;  // the same bytes again until on_output takes them
  virtual bool poll_event(Event& event) = 0;
  virtual std::optional<Deadline> poll_deadline() const = 0;

  // Queries.
  virtual std::size_t room() const = 0;  // submits accepted now; 0 before ready and after close
  virtual std::size_t in_flight() const = 0;
  virtual bool ready() const = 0;
  // True if no owed reply could be mistaken for that of a later request: the connection is as good
  // as new. Protocols that pair by order must wait for the replies of cancelled requests; those
  // with tokens need not.
  virtual bool clean() const { return ready() && in_flight() == 0; }
  virtual bool closed() const = 0;  // no more input or output; the stream may go
  virtual const CloseReason& close_reason() const = 0;
  virtual const Counters& counters() const = 0;
  // Complete once the session is ready.
  virtual Peer peer() const { return {}; }
  // The name by which the server knows this connection, if it lets only one connection have it and
  // another process may claim it. Empty: there is none.
  virtual std::string_view own_name() const { return {}; }
};

}  // namespace sheaf::protocol
