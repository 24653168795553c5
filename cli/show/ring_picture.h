#pragma once

// How the keys are distributed among the nodes, as text for people.
//
// Thread rule: pure functions and plain values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sheaf::cli {

struct NodeShare {
  std::string node;                   // Identity, `host:port`.
  std::uint32_t weight = 1;           // As configured.
  double share = 0;                   // 0 .. 1
  std::optional<std::uint64_t> keys;  // Simulated keys placed there.
};

// One row for each node: identity, weight, share and a bar. The longest bar has `width` marks, or
// fewer if the lines would be longer than 80 columns.
std::string ring_picture(const std::vector<NodeShare>& shares, std::size_t width = 40);

}  // namespace sheaf::cli
