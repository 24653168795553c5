#pragma once

// Reads the rights file (plugin_opt_rights) from the disk.
//
// Thread rule: free function.

#include <expected>
#include <string>

#include "store/rights/rights.h"

namespace sheaf::store::plugin {

// The error is one sentence that names the file.
std::expected<rights::Rights, std::string> read_rights_file(const std::string& path);

}  // namespace sheaf::store::plugin
