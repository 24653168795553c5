#pragma once

/// @file
/// Watch: hears of changes to keys, and of the times in which it could not.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/export.h>
#include <sheaf/result.h>
#include <sheaf/value.h>

namespace sheaf {
inline namespace v0 {

/// Something that happened to a watched key.
struct WatchEvent {
  /// What.
  enum class Kind : unsigned char {
    current,  ///< What the key holds, told once when it is watched; no `value`: it is absent.
    set,      ///< It was written: `value` and, if the endpoint tells, `version`.
    deleted,  ///< It was removed, or its time to live is over.
    changed,  ///< It changed in a way that the client cannot read; what it holds now follows.
    /// Between `from` and `until` changes may have been missed: the connection was lost, or this
    /// watch was not drained fast enough. What the key holds now follows if it is another.
    gap,
    /// It is not watched now: see `error`. The client goes on trying, except after
    /// Outcome::unsupported or Outcome::invalid and Reason::not_authorized.
    failed
  };
  Kind kind = Kind::current;                      ///< See Kind.
  std::string key;                                ///< The key as given.
  std::optional<std::string> value{};             ///< current, set
  Version version{};                              ///< Empty if none was told.
  std::chrono::system_clock::time_point from{};   ///< gap: all that happened before was told.
  std::chrono::system_clock::time_point until{};  ///< gap: all that happens later is told.
  std::optional<Error> error{};                   ///< failed
};

/// One word: "current", "set", "deleted", "changed", "gap", "failed".
SHEAF_API std::string_view to_string(WatchEvent::Kind kind) noexcept;

/// Options of a watch.
struct WatchOptions {
  /// So many events may wait to be taken: 1 to 1,000,000. Beyond that one newest state is kept for
  /// each key, and a gap is told where something was left out: memory is bounded by this and the
  /// number of keys.
  std::size_t queue_limit = 1'024;
};

/// Receives events, one after another; never under a lock of the client.
using WatchCallback = std::function<void(const WatchEvent&)>;

/// Keys that are being watched; made by Client::watch. Each watch has a queue of its own: one that
/// is not drained costs the others nothing.
///
/// Of each key the events come in order: `current` first, never an older version after a newer one,
/// duplicates left out. Of two keys no order is promised.
///
/// A silent loss of the connection is noticed within about 3 s; a gap then begins where the server
/// was last known to be heard.
///
/// Thread rule: next, try_next and keys from any thread; moves and the destructor need that no
/// other thread calls the object.
///
/// Lifetime: the destructor ends the watch. With a callback it waits for a callback that runs, and
/// none runs afterwards; it may be called from that callback. A watch may outlive its Client: then
/// what is queued can still be taken, and the end is told.
class SHEAF_API Watch {
 public:
  class Session;  ///< Internal.

  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  /// The next event; waits for one at most `timeout` (0 and less: not at all; more than 24 h counts
  /// as 24 h). Nothing: none came in time. Errors: Outcome::shutdown when the client was closed and
  /// nothing is queued any more; Outcome::invalid after fork, and when the watch has a callback.
  Result<std::optional<WatchEvent>> next(std::chrono::nanoseconds timeout);
  /// next() without waiting.
  Result<std::optional<WatchEvent>> try_next();

  /// The keys, each once, in the order in which they were first given.
  const std::vector<std::string>& keys() const noexcept;

 private:
  friend class Client;
  explicit Watch(std::shared_ptr<Session> session) noexcept;
  std::shared_ptr<Session> session_;
};

}  // namespace v0
}  // namespace sheaf
