#pragma once

// Reads a URI into a ConfigBuilder: docs/configuration.md, "URI".
//
// Thread rule: a pure function.

#include <string_view>

#include "cluster/config/config_builder.h"

namespace sheaf::cluster {

Checked read_uri(std::string_view uri, ConfigBuilder& builder);

}  // namespace sheaf::cluster
