#pragma once

// Reads a JSON configuration: docs/configuration.md, "JSON".
//
// Thread rule: a pure function.

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/cluster_config.h>

#include "cluster/config/config_check.h"

namespace sheaf::cluster {

// The clusters with their names, in the order of the document.
using Clusters = std::vector<std::pair<std::string, ClusterConfig>>;

std::expected<Clusters, Problem> read_json(std::string_view text);

}  // namespace sheaf::cluster
