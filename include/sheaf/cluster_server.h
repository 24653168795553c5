#pragma once

/// @file
/// ClusterServer: one server of a cluster whose servers decide themselves who owns what.
///
/// Thread rule: plain values.

#include <cstdint>
#include <string>
#include <vector>

namespace sheaf {
inline namespace v0 {

/// The slots first, first + 1, ..., last.
struct SlotRange {
  std::uint32_t first = 0;  ///< See SlotRange.
  std::uint32_t last = 0;   ///< Not below `first`.
  /// Whether both have the same slots.
  friend bool operator==(const SlotRange&, const SlotRange&) = default;
};

/// What the servers of a cluster say of one of them; see Client::cluster_servers.
struct ClusterServer {
  std::string node;                ///< Identity, `host:port`.
  bool replica = false;            ///< It copies another, and owns nothing itself.
  std::string primary{};           ///< Replica: the identity of that one; empty if nobody knows it.
  std::uint64_t epoch = 0;         ///< Of its claim to its slots; 0 if unknown. Later ones win.
  std::vector<SlotRange> slots{};  ///< Those that it owns, ascending; no two touch.
};

}  // namespace v0
}  // namespace sheaf
