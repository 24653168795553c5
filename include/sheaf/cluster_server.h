#pragma once

/// @file
/// ClusterServer: one server of a cluster whose servers decide themselves who owns which slots.
///
/// Thread rule: plain values.

#include <cstdint>
#include <string>
#include <vector>

namespace sheaf {
inline namespace v0 {

/// The slots first, first + 1, ..., last.
struct SlotRange {
  std::uint32_t first = 0;  ///< The first slot.
  std::uint32_t last = 0;   ///< Not below `first`.
  /// True if both have the same slots.
  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

/// What a cluster's servers say about one of them; see Client::cluster_servers.
struct ClusterServer {
  std::string node;                ///< Identity, `host:port`.
  bool replica = false;            ///< True if it copies another server, and owns nothing itself.
  std::string primary{};           ///< A replica's primary, by identity; empty if unknown.
  std::uint64_t epoch = 0;         ///< Epoch of its claim to slots; 0 if unknown. The latest wins.
  std::vector<SlotRange> slots{};  ///< The slots it owns, ascending; no two ranges touch.
};

}  // namespace v0
}  // namespace sheaf
