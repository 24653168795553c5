#pragma once

/// @file
/// Watch: reports changes of keys, and the times in which some may have been missed.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/export.h>
#include <sheaf/move_only_function.h>
#include <sheaf/options.h>
#include <sheaf/result.h>
#include <sheaf/value.h>

namespace sheaf {
inline namespace v0 {

class AsyncWatch;

/// Something that happened to a watched key.
struct WatchEvent {
  /// What.
  enum class Kind : unsigned char {
    current,  ///< What the key holds, reported once when the watch begins; no `value`: absent.
    set,      ///< It was written: `value` and, if the endpoint has one, `version`.
    deleted,  ///< It was removed, or its time to live is over.
    changed,  ///< It changed in a way that the client cannot read; its new content follows.
    /// Between `from` and `until` changes may have been missed: the connection was lost, or the
    /// events of this watch were not taken fast enough. The key's content follows if it differs.
    gap,
    /// The key is not watched now: see `error`. The client continues to try, except after
    /// Outcome::unsupported or Outcome::invalid and Reason::not_authorized.
    failed
  };
  Kind kind = Kind::current;                      ///< See Kind.
  std::string key;                                ///< The key as given.
  std::optional<std::string> value{};             ///< current, set
  Version version{};                              ///< Empty if the endpoint sent none.
  std::chrono::system_clock::time_point from{};   ///< gap: all changes before it were reported.
  std::chrono::system_clock::time_point until{};  ///< gap: all changes after it are reported.
  std::optional<Error> error{};                   ///< failed
};

/// One word: "current", "set", "deleted", "changed", "gap", "failed".
SHEAF_API std::string_view to_string(WatchEvent::Kind kind) noexcept;

/// Options of a watch.
struct WatchOptions {
  /// How many events may wait to be taken: 1 to 1,000,000. Beyond that only the newest state of
  /// each key is kept, and a gap is reported where something was left out: memory is bounded by
  /// this and the number of keys.
  std::size_t queue_limit = 1'024;
};

/// Options of Watch::next.
struct NextOptions {
  Wait wait{};  ///< How long to wait for an event. None: until one comes or the client is closed.
  Stop stop{};  ///< See Stop.
};

/// Receives events, one after another; never under a lock of the client.
using WatchCallback = MoveOnlyFunction<void(const WatchEvent&)>;

/// Keys that are being watched; made by Client::watch. Each watch has a queue of its own: a slow
/// reader of one does not delay the others.
///
/// The events of a key come in order: `current` first, never an older version after a newer one,
/// and no event twice. Only after a gap may an older version come: the store has lost changes. No
/// order is promised between two keys.
///
/// A silent loss of the connection is noticed within about 3 s; a gap then begins when the server
/// last gave a sign of life.
///
/// `mqtt://` and `embedded://` report every change. `redis://` reports the newest state of a key:
/// changes that follow one another quickly are one event, and a write of the present value makes
/// none.
/// - Redis and Valkey, from version 6, report at once that a key was touched (CLIENT TRACKING); the
///   client then reads it. This needs a RESP3 connection and rights for EXISTS, GET and CLIENT
///   TRACKING.
/// - Garnet, older servers and servers that refuse tracking report nothing. There the client reads
///   each key once a second; above 1,000 keys on a server, as often as 1,000 reads a second allow.
///   It reads values above 64 KiB less often (1 MiB: every 17 s), and those of 4 MiB and more once
///   a minute.
/// - When a slot moves to another server, or its server fails over, a gap is reported for its keys.
///   The client may need 15 s to notice if it sends no other request for that slot.
///
/// Thread rule: next, try_next and keys from any thread; moves and the destructor need that no
/// other thread calls the object.
///
/// Lifetime: the destructor ends the watch. With a callback it waits for a callback that runs, and
/// none runs afterwards; it may be called from that callback. A watch may outlive its Client: what
/// is queued can still be taken, then next() reports Outcome::shutdown. A moved-from watch has no
/// keys; its calls end with Outcome::invalid.
class SHEAF_API Watch {
 public:
  class Session;  ///< Internal.

  /// What was moved from has no keys: its calls end with Outcome::invalid.
  Watch(Watch&&) noexcept;
  /// The watch that was here ends as by its destructor.
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  /// The next event. Nothing: none came within the wait. Errors: Outcome::shutdown when the client
  /// was closed and nothing is queued any more; Outcome::invalid after fork, or with a callback.
  Result<std::optional<WatchEvent>> next(const NextOptions& options = {});
  /// The same as next() with a `wait` of 0.
  Result<std::optional<WatchEvent>> try_next();

  /// The asynchronous form of next(): sheaf/async.h.
  AsyncWatch async() const;

  /// The keys, each once, in the order in which they were first given.
  const std::vector<std::string>& keys() const noexcept;

 private:
  friend class Client;
  explicit Watch(std::shared_ptr<Session> session) noexcept;
  std::shared_ptr<Session> session_;
};

}  // namespace v0
}  // namespace sheaf
