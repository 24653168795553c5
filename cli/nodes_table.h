#pragma once

// What every node answered, as a table for people.
//
// Thread rule: pure functions.

#include <optional>
#include <string>
#include <vector>

#include <sheaf/stats.h>

namespace sheaf::cli {

// Node, health, round trip, pool and clock difference.
std::string nodes_table(const std::vector<NodeReport>& reports);

// One sentence when the node's clock is more than 30 s off: the store refuses writes whose
// timestamp is over a minute ahead, so half of that is the time to say something.
std::optional<std::string> clock_warning(const NodeReport& report);

}  // namespace sheaf::cli
