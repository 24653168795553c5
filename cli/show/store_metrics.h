#pragma once

// The numbers of sheaf's state stores as text for Prometheus. docs/metrics.md lists the names.
//
// Thread rule: a pure function.

#include <string>
#include <vector>

#include <sheaf/stats.h>

namespace sheaf::cli {

// Nodes without an answer are left out. Numbers without a metric, too: a newer store has more.
std::string store_metrics(const std::vector<NodeText>& nodes);

}  // namespace sheaf::cli
