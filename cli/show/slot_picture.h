#pragma once

// The slots of a cluster whose servers decide who owns a key, as text for people.
//
// Thread rule: pure functions.

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/stats.h>

#include "cli/show/ring_picture.h"

namespace sheaf::cli {

inline constexpr std::uint32_t slots_of_a_cluster = 16'384;

std::uint32_t count_slots(const std::vector<SlotRange>& ranges);
// "0-5460, 7000"; if that is longer than 18 columns, "12 ranges".
std::string ranges_text(const std::vector<SlotRange>& ranges);

// One row for each owner, with a letter, the number of its slots, its share and its simulated keys;
// then all slots in order, with one letter for each 64 slots: that of the owner of most of them.
// `owners` and `shares` have the same order.
std::string slot_picture(const std::vector<ClusterServer>& owners,
                         const std::vector<NodeShare>& shares);

}  // namespace sheaf::cli
