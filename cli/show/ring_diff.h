#pragma once

// What share of the keys moves where when servers change, as numbers and as pictures.
//
// Thread rule: pure functions and plain values.

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

namespace sheaf::cli {

struct KeyFlow {
  std::string from;  // identities; never the same
  std::string to;
  double share = 0;  // of all keys
};

struct RingDiff {
  struct Node {
    std::string node;
    double before = 0;  // its share of the keys, 0 .. 1
    double after = 0;
  };
  std::vector<Node> nodes;     // those of `before` in their order, then the new ones
  std::vector<KeyFlow> flows;  // the largest first
  double moved = 0;
  std::uint64_t keys = 0;  // simulated; 0: the shares are exact
};

// Exact if both have the same number of slots; else from that many simulated keys.
RingDiff diff_rings(const ClusterConfig& before, const ClusterConfig& after, std::uint64_t keys);

// Rows of nodes with their shares, and of flows with bars.
std::string diff_picture(const RingDiff& diff);
// The same as a drawing: the shares before on the left, those after on the right, and bands between
// them for the keys that move.
std::string diff_svg(const RingDiff& diff);

}  // namespace sheaf::cli
