#pragma once

/// @file
/// Where the servers of a cluster are listed: in the DNS, or at a configuration endpoint.
///
/// Thread rule: plain values. sheaf/discovery.h looks there.

#include <cstdint>
#include <string>
#include <string_view>

#include <sheaf/cluster_config.h>

namespace sheaf {
inline namespace v0 {

/// What lists the servers of a cluster.
enum class SourceKind : std::uint8_t {
  srv,         ///< SRV records of the DNS (RFC 2782).
  elasticache  ///< The configuration endpoint of an ElastiCache cluster of memcached servers.
};
/// "srv", "elasticache".
SHEAF_API std::string_view to_string(SourceKind kind) noexcept;

/// A source of servers, and the rest of their cluster's configuration.
struct ServerSource {
  SourceKind kind = SourceKind::srv;  ///< What lists them.
  /// The name of the SRV records, such as `_memcached._tcp.cache.example`; or the host of the
  /// configuration endpoint, IPv6 without brackets.
  std::string host;
  std::uint16_t port = 0;  ///< Port of the configuration endpoint; 0 for SRV records.
  /// The kind of endpoint and all options. Its `nodes` are not read.
  ClusterConfig config;

  /// Parses `SCHEME+srv://[user[:password]@]NAME[?option=value&...]` or
  /// `memcached+elasticache://HOST[:PORT][?option=value&...]`. The scheme before the `+` is one of
  /// ClusterConfig::parse_uri, which also defines the options. Does no lookup. Errors:
  /// Outcome::invalid with Reason::bad_configuration; the text names the part and the limit, never
  /// a password.
  SHEAF_API static Result<ServerSource> parse_uri(std::string_view uri);

  /// True if a URI names a source of servers rather than the servers: its scheme has a `+`.
  SHEAF_API static bool is_source(std::string_view uri) noexcept;
};

}  // namespace v0
}  // namespace sheaf
