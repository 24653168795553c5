#pragma once

/// @file
/// Options of single operations, and what operations return.
///
/// Thread rule: plain values. Views in options are read until the operation ends (blocking forms)
/// or copied before the call returns (asynchronous forms).

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <sheaf/result.h>
#include <sheaf/value.h>

namespace sheaf {
inline namespace v0 {

/// How long an operation may take, from the call to its end: 1 ms to 24 h. Without one the
/// cluster's `timeout` holds (1 s unless configured).
using Timeout = std::optional<std::chrono::nanoseconds>;

/// Ends a call before its deadline: `{.stop = &token}`; null: only the deadline does. When the
/// token is asked to stop, the call ends at once with Reason::cancelled. The Outcome is that of a
/// deadline at the same moment: `not_sent` if no request had been handed to the kernel, else
/// `unknown`. A token that was stopped before the call: `not_sent`. What had ended before keeps its
/// result, in a batch key by key. The token is read until the call ends (blocking forms) or copied
/// before the call returns (all others).
using Stop = const std::stop_token*;

/// How long to wait for something that may never come, such as a lock or a change. 0 and less: not
/// at all; more than a year counts as a year (longest_wait). None: as long as it takes.
using Wait = std::optional<std::chrono::nanoseconds>;

/// The longest time that a Wait can name: a year.
inline constexpr std::chrono::hours longest_wait{24 * 365};

/// Options of get.
struct GetOptions {
  Timeout timeout{};  ///< See Timeout.
  Stop stop{};        ///< See Stop.
  /// Asks for Value::ttl_left, too. memcached where the meta protocol is spoken; elsewhere
  /// Outcome::unsupported.
  bool ttl_left = false;
};

/// When a set is carried out.
enum class SetCondition : unsigned char {
  always,              ///< Unconditionally.
  if_absent,           ///< Only if the key is absent. Not safe to repeat after `unknown`.
  if_absent_or_equal,  ///< If the key is absent or already holds exactly this value. Safe to
                       ///< repeat. State store, Redis protocol.
  if_present,          ///< Only if the key is there. memcached, Redis protocol.
  if_version           ///< Only if the key is still at `SetOptions::version`. memcached, Redis
                       ///< protocol.
};

/// Options of set.
struct SetOptions {
  /// None: the cluster's `default_ttl`, which by default is "never expires".
  std::optional<Ttl> ttl{};
  SetCondition condition = SetCondition::always;  ///< See SetCondition.
  FencingToken fence{};                           ///< Empty: none is sent.
  Version version{};                              ///< For if_version: as a get or set returned it.
  std::uint32_t flags = 0;  ///< Kept with the value and returned with it. memcached.
  bool persist = false;     ///< Asks the store to keep the key on its disk: docs/durability.md.
  Timeout timeout{};        ///< See Timeout.
  Stop stop{};              ///< See Stop.
};

/// What a set did.
struct SetResult {
  bool stored = false;  ///< False: the condition did not hold, nothing changed.
  Version version;  ///< Stored: the new version. Not stored: the version that is there, if known.
};

/// Options of remove.
struct RemoveOptions {
  std::optional<std::string_view> if_value{};  ///< Remove only if the key holds exactly this value.
  FencingToken fence{};                        ///< Empty: none is sent.
  /// Remove only if the key is at this version; not with `if_value`. memcached, Redis protocol.
  std::optional<Version> if_version{};
  Timeout timeout{};  ///< See Timeout.
  Stop stop{};        ///< See Stop.
};

/// What a remove did: `if (*done == RemoveResult::removed) …`, or a switch over `done->found`.
struct RemoveResult {
  /// What the server found.
  enum Found : unsigned char {
    removed,       ///< The key was there and is gone.
    absent,        ///< The key was not there.
    value_differs  ///< `if_value` or `if_version` did not hold; nothing changed.
  };
  Found found = absent;  ///< See Found.
  /// Removed: the version of the value that is gone. Not removed: the version that is there, if the
  /// endpoint returned one. The state store does.
  Version version{};

  /// True if `found` is this: `if (*removed == RemoveResult::absent)`.
  friend bool operator==(const RemoveResult& result, Found expected) noexcept {
    return result.found == expected;
  }
};

/// What a get returns: the value, or nothing when the server said that the key is absent.
using GetResult = std::optional<Value>;

/// Options of append and prepend.
struct EditOptions {
  Timeout timeout{};  ///< See Timeout.
  Stop stop{};        ///< See Stop.
};

/// Options of increment and decrement.
struct CountOptions {
  std::optional<std::uint64_t> initial{};  ///< What an absent key is set to; none: it stays absent.
  /// Time to live of a key that is created; none: as for set. One that is there keeps its own.
  std::optional<Ttl> ttl{};
  Timeout timeout{};  ///< See Timeout.
  Stop stop{};        ///< See Stop.
};

/// What a count found: the new number, or nothing when the key is absent.
using CountResult = std::optional<std::uint64_t>;

/// Options of touch and get_and_touch.
struct TouchOptions {
  std::optional<Ttl> ttl{};  ///< From now on; none: as for set.
  Timeout timeout{};         ///< See Timeout.
  Stop stop{};               ///< See Stop.
};

/// Options of get_and_set.
struct GetAndSetOptions {
  /// None: the cluster's `default_ttl`, which by default is "never expires".
  std::optional<Ttl> ttl{};
  /// `always`, `if_present`, or `if_absent`, which needs Redis 7. The result shows if the condition
  /// held.
  SetCondition condition = SetCondition::always;
  Timeout timeout{};  ///< See Timeout.
  Stop stop{};        ///< See Stop.
};

/// Options of get_or_compute.
struct ComputeOptions {
  /// Time to live of a value that was computed; none: as for set.
  std::optional<Ttl> ttl{};
  /// How long others, in this process and elsewhere, leave the computing to the caller that began
  /// it: 1 ms to 24 h, in memcached rounded up to whole seconds. A computation that takes longer
  /// may be done twice; the value that was stored first stays.
  Ttl lease = std::chrono::seconds(10);
  /// Holds the lease as a key of its own, `KEY:sheaf-lease`, also where memcached has leases. While
  /// one of memcached's is held, clients that do not speak the meta protocol read the key as an
  /// empty value: set this if such clients read it. All clients that compute the key must agree.
  bool lease_beside = false;
  /// Bounds reading and waiting; storing a computed value gets as much again. The time that
  /// computing itself takes does not count.
  Timeout timeout{};
  /// See Stop. The function is not interrupted; what it has made is returned all the same, and
  /// stored without waiting for it.
  Stop stop{};
};

/// One key of a batch and how it ended.
template <class T>
struct KeyResult {
  std::string key;   ///< The key as given.
  Result<T> result;  ///< Its own outcome; a dead node fails its own keys only.
};

/// One entry of a batch set. The views must live until the call returns (blocking form) or are
/// copied (asynchronous form).
struct SetItem {
  std::string_view key;    ///< The key.
  std::string_view value;  ///< The value.
};

/// Options of set_many, the same for every entry.
struct BatchSetOptions {
  std::optional<Ttl> ttl{};  ///< See SetOptions::ttl.
  bool persist = false;      ///< See SetOptions::persist.
  Timeout timeout{};         ///< For the whole batch.
  Stop stop{};               ///< For the whole batch; see Stop.
};

/// Options of get_many and remove_many.
struct BatchOptions {
  Timeout timeout{};  ///< For the whole batch.
  Stop stop{};        ///< For the whole batch; see Stop.
};

/// Options of check_nodes, server_stats and server_versions.
struct NodesOptions {
  Timeout timeout{};  ///< For all nodes, which are asked at the same time.
  Stop stop{};        ///< See Stop.
};

}  // namespace v0
}  // namespace sheaf
