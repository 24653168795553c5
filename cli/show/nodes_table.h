#pragma once

// The answers of all nodes, as a table for people.
//
// Thread rule: pure functions.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/stats.h>

namespace sheaf::cli {

// The look of a table. A wider one continues below.
struct TableLook {
  bool colours = false;
  std::size_t width = 80;
};

// Node, health, round trip, pool and clock difference.
std::string nodes_table(const std::vector<NodeReport>& reports, TableLook look = {});
// The same for a cluster whose servers decide, with role, epoch and slots instead of the clock.
// Each primary is followed by its replicas, which are indented and not asked.
std::string nodes_table(const std::vector<NodeReport>& reports,
                        const std::vector<ClusterServer>& servers, TableLook look = {});
// The report of one server; null: it was not asked.
const NodeReport* report_of(const std::vector<NodeReport>& reports, std::string_view node);

// Sentences about certificates that end within 14 days: the servers', and once our own.
std::vector<std::string> certificate_warnings(const std::vector<NodeReport>& reports,
                                              std::chrono::system_clock::time_point now);

// One sentence if the node's clock is more than 30 s off. The store refuses writes whose timestamp
// is over a minute ahead, so the warning comes at half of that.
std::optional<std::string> clock_warning(const NodeReport& report);

}  // namespace sheaf::cli
