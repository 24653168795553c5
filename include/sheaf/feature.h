#pragma once

/// @file
/// What an endpoint can do beyond get, set, remove and their batches.
///
/// Thread rule: plain values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sheaf/export.h>

namespace sheaf {
inline namespace v0 {

/// Something that only some kinds of endpoint support. Client::supports says which. On other
/// endpoints calls that need it end with Outcome::unsupported before anything is sent.
enum class Feature : std::uint8_t {
  fencing,             ///< SetOptions::fence and RemoveOptions::fence are checked by the store.
  ordered_versions,    ///< The store knows which of two versions of a key is newer.
  if_absent_or_equal,  ///< SetCondition::if_absent_or_equal.
  if_value,            ///< RemoveOptions::if_value.
  if_present,          ///< SetCondition::if_present.
  if_version,          ///< SetCondition::if_version and RemoveOptions::if_version.
  edits,               ///< append, prepend.
  counters,            ///< increment, decrement.
  touch,               ///< touch, get_and_touch.
  get_and_set,         ///< get_and_set.
  flags,               ///< SetOptions::flags: 32 bits stored with the value.
  persist,             ///< SetOptions::persist: what the store keeps on its disk.
  millisecond_ttl,     ///< Times to live count in milliseconds; elsewhere in seconds, rounded up.
  ttl_left,            ///< GetOptions::ttl_left; for memcached only with the meta protocol.
  rehash,              ///< FailoverMode::rehash.
  clock,               ///< NodeReport::clock_difference.
  server_stats,        ///< server_stats and server_versions.
  watch,               ///< Client::watch.
  lists,               ///< List.
  locks,               ///< Locker and Mutex.
  commands             ///< Client::execute. The last one: see all_features.
};

/// Every Feature, in order.
inline constexpr auto all_features = [] {
  std::array<Feature, static_cast<std::size_t>(Feature::commands) + 1> features{};
  for (std::size_t i = 0; i < features.size(); ++i) features[i] = static_cast<Feature>(i);
  return features;
}();

/// A few words, as the table in README.md has them: "fencing tokens", "watches", ...
SHEAF_API std::string_view to_string(Feature feature) noexcept;

}  // namespace v0
}  // namespace sheaf
