#pragma once

// Collects a ClusterConfig from its parts, in whatever notation they come. It checks each part
// where its place is known, then the whole. No error text contains a part of a mistyped password.
//
// Thread rule: one thread at a time.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <unordered_set>

#include <sheaf/cluster_config.h>

#include "cluster/config/config_check.h"
#include "cluster/config/config_options.h"

namespace sheaf::cluster {

using Checked = std::expected<void, Problem>;

// The parts of a server's description. All but the host may be absent.
struct ServerParts {
  std::string_view host;   // without brackets; or the path of a Unix socket
  bool bracketed = false;  // as in [::1]
  std::uint16_t port = 0;  // 0 = the default of the kind
  std::uint32_t weight = 1;
};

class ConfigBuilder {
 public:
  // "mqtt", "embedded", ...; upper case is accepted. Must be called first.
  Checked set_scheme(std::string_view scheme);
  // The table row of the scheme.
  const protocol::EndpointTraits& traits() const noexcept { return *traits_; }

  // `where` names the server in error texts: "server 2", "servers[1]".
  Checked add_server(const ServerParts& server, const std::string& where);
  // The N of embedded://N.
  Checked set_engines(std::string_view count);
  // The error texts of these lack their subject, the place: "is given twice".
  Checked set_user(std::string_view user);
  Checked set_password(std::string_view password);
  Checked set_option(std::string_view name, std::string_view value, Written written);

  // Checks the configuration as a whole, then returns it.
  std::expected<ClusterConfig, Problem> finish();

 private:
  ClusterConfig config_;
  const protocol::EndpointTraits* traits_ = &protocol::traits_of(config_.kind);
  std::unordered_set<std::string> identities_;  // lower case
  std::unordered_set<std::string> given_;       // options, user, password
};

inline constexpr std::size_t max_config_bytes = 1u << 20;
// Why no other database of a Redis server can be selected.
inline constexpr std::string_view only_database =
    "a cluster has only database 0, and sheaf uses no other";

}  // namespace sheaf::cluster
