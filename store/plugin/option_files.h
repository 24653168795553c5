#pragma once

// Reads the files that plugin_opt_rights and plugin_opt_tokens name. An error is one sentence that
// names the file.
//
// Thread rule: free functions.

#include <expected>
#include <string>

#include "store/rights/rights.h"

namespace sheaf::store::plugin {

std::expected<rights::Rights, std::string> read_rights_file(const std::string& path);
// The text of a list of tokens, which other users of the machine must not be able to read.
std::expected<std::string, std::string> read_tokens_file(const std::string& path);

}  // namespace sheaf::store::plugin
