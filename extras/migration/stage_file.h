#pragma once

// The file in which `sheaf migrate` reports its stage to programs.
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

// True if both name the same servers, in any order.
inline bool same_servers(std::vector<std::string> left, std::vector<std::string> right) {
  std::ranges::sort(left);
  std::ranges::sort(right);
  return left == right;
}

// The fleet for which the file names other servers than these, "from" or "to"; empty if there is
// none. A file may omit the servers.
inline std::string_view other_servers(const Migration& read, const std::vector<std::string>& from,
                                      const std::vector<std::string>& to) {
  if (!read.from.empty() && !same_servers(read.from, from)) return "from";
  if (!read.to.empty() && !same_servers(read.to, to)) return "to";
  return {};
}

// Why neither fleet may have failover=rehash.
inline constexpr std::string_view no_rehash =
    "a cache cannot move with failover=rehash: a server that comes back has old values";

// A server that is in both fleets; empty: no server is.
inline std::string shared_server(const ClusterConfig& from, const ClusterConfig& to) {
  for (const NodeConfig& node : from.nodes) {
    const auto same = [&](const NodeConfig& other) { return other.identity() == node.identity(); };
    if (std::ranges::any_of(to.nodes, same)) return node.identity();
  }
  return {};
}

// Nothing: the file does not exist. Errors as in read_migration().
Result<std::optional<Migration>> read_if_there(const std::string& file);

}  // namespace sheaf::migration
