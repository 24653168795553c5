#pragma once

// The file by which `sheaf migrate` tells programs how far it is.
//
// Thread rule: any thread.

#include <algorithm>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/migration.h>

namespace sheaf::migration {

// The error is one sentence without the file's name.
std::expected<Migration, std::string> parse_migration(std::string_view text);
std::string migration_text(const Migration& migration);

// Whether both name the same servers, in any order.
inline bool same_servers(std::vector<std::string> left, std::vector<std::string> right) {
  std::ranges::sort(left);
  std::ranges::sort(right);
  return left == right;
}

// Of which fleet the file names others than these, "from" or "to"; empty: of none. A file may name
// none at all.
inline std::string_view other_servers(const Migration& read, const std::vector<std::string>& from,
                                      const std::vector<std::string>& to) {
  if (!read.from.empty() && !same_servers(read.from, from)) return "from";
  if (!read.to.empty() && !same_servers(read.to, to)) return "to";
  return {};
}

// Why neither fleet may have it.
inline constexpr std::string_view no_rehash =
    "a cache cannot move with failover=rehash: what a server that is away keeps is old";

// One that is in both fleets; empty: none is.
inline std::string shared_server(const ClusterConfig& from, const ClusterConfig& to) {
  for (const NodeConfig& node : from.nodes) {
    const auto same = [&](const NodeConfig& other) { return other.identity() == node.identity(); };
    if (std::ranges::any_of(to.nodes, same)) return node.identity();
  }
  return {};
}

// Nothing: there is no such file. Errors as read_migration().
Result<std::optional<Migration>> read_if_there(const std::string& file);

}  // namespace sheaf::migration
