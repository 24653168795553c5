#pragma once

// What every node answered, as a table for people.
//
// Thread rule: pure functions.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_server.h>
#include <sheaf/stats.h>

namespace sheaf::cli {

// Node, health, round trip, pool and clock difference.
std::string nodes_table(const std::vector<NodeReport>& reports, bool colours = false);
// The same for a cluster whose servers decide, with role, epoch and slots in the place of the
// clock. Replicas are not asked.
std::string nodes_table(const std::vector<NodeReport>& reports,
                        const std::vector<ClusterServer>& servers, bool colours = false);
// Of a server among the reports; null: it was not asked.
const NodeReport* report_of(const std::vector<NodeReport>& reports, std::string_view node);

// Sentences about certificates that end within 14 days: those of servers, and our own once.
std::vector<std::string> certificate_warnings(const std::vector<NodeReport>& reports,
                                              std::chrono::system_clock::time_point now);

// One sentence when the node's clock is more than 30 s off: the store refuses writes whose
// timestamp is over a minute ahead, so half of that is the time to say something.
std::optional<std::string> clock_warning(const NodeReport& report);

}  // namespace sheaf::cli
