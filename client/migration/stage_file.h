#pragma once

// The file by which `sheaf migrate` tells programs how far it is.
//
// Thread rule: any thread.

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/migration.h>

namespace sheaf::client::migration {

// The error is one sentence without the file's name. Pure.
std::expected<Migration, std::string> parse_migration(std::string_view text);
std::string migration_text(const Migration& migration);

// The servers of a configuration as the file names them.
std::vector<std::string> server_names(const ClusterConfig& config);
// Whether both name the same servers, in any order.
bool same_servers(std::vector<std::string> left, std::vector<std::string> right);

// Nothing: there is no such file. Errors as read_migration().
Result<std::optional<Migration>> read_if_there(const std::string& file);

// Replaces the file in one step: who reads it meanwhile finds the old text or the new one. It is on
// the disk when this returns. Errors as read_migration().
Result<void> write_migration(const std::string& file, const Migration& migration);

}  // namespace sheaf::client::migration
