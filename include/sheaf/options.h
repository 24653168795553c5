#pragma once

/// @file
/// Options of single operations, and what operations return.
///
/// Thread rule: plain values. Views in options are read until the operation ends (blocking forms)
/// or copied before the call returns (callback and future forms).

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/result.h>
#include <sheaf/value.h>

namespace sheaf {
inline namespace v0 {

/// How long an operation may take, from the call to its end: 1 ms to 24 h. Without one the
/// cluster's `timeout` holds (1 s unless configured).
using Timeout = std::optional<std::chrono::nanoseconds>;

/// Options of get.
struct GetOptions {
  Timeout timeout{};  ///< See Timeout.
};

/// When a set is carried out.
enum class SetCondition : unsigned char {
  always,              ///< Unconditionally.
  if_absent,           ///< Only if the key is absent. Not safe to repeat after `unknown`.
  if_absent_or_equal,  ///< If the key is absent or already holds exactly this value. Safe to
                       ///< repeat.
};

/// Options of set.
struct SetOptions {
  /// None: the cluster's `default_ttl`, which by default is "never expires".
  std::optional<Ttl> ttl{};
  SetCondition condition = SetCondition::always;  ///< See SetCondition.
  FencingToken fence{};                           ///< Empty: none is sent.
  Timeout timeout{};                              ///< See Timeout.
};

/// What a set did.
struct SetResult {
  bool stored = false;  ///< False: the condition did not hold, nothing changed.
  Version version;  ///< Stored: the new version. Not stored: the version that is there, if told.
};

/// Options of remove.
struct RemoveOptions {
  std::optional<std::string_view> if_value{};  ///< Remove only if the key holds exactly this value.
  FencingToken fence{};                        ///< Empty: none is sent.
  Timeout timeout{};                           ///< See Timeout.
};

/// What a remove found.
enum class RemoveResult : unsigned char {
  removed,       ///< The key was there and is gone.
  absent,        ///< The key was not there.
  value_differs  ///< `if_value` did not hold; nothing changed.
};

/// What a get returns: the value, or nothing when the server said that the key is absent.
using GetResult = std::optional<Value>;

/// One key of a batch and how it ended.
template <class T>
struct KeyResult {
  std::string key;   ///< The key as given.
  Result<T> result;  ///< Its own outcome; a dead node fails its own keys only.
};

/// One entry of a batch set. The views must live until the call returns (blocking form) or are
/// copied (callback and future forms).
struct SetItem {
  std::string_view key;    ///< The key.
  std::string_view value;  ///< The value.
};

/// Options of set_many, the same for every entry.
struct BatchSetOptions {
  std::optional<Ttl> ttl{};  ///< See SetOptions::ttl.
  Timeout timeout{};         ///< For the whole batch.
};

/// Options of get_many and remove_many.
struct BatchOptions {
  Timeout timeout{};  ///< For the whole batch.
};

}  // namespace v0
}  // namespace sheaf
