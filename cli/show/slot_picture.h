#pragma once

// The slots of a cluster whose servers decide who owns what, as text for people.
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
// then all slots from the first to the last, a letter for each 64: of whoever owns most of them.
// `owners` and `shares` belong together.
std::string slot_picture(const std::vector<ClusterServer>& owners,
                         const std::vector<NodeShare>& shares);

}  // namespace sheaf::cli
