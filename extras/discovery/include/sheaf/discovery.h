#pragma once

/// @file
/// Looks up the servers of a cluster where they are listed, in SRV records of the DNS or at the
/// configuration endpoint of an ElastiCache cluster, and follows them while a client works:
///
///     auto source = sheaf::ServerSource::parse_uri("memcached+srv://_cache._tcp.example.org");
///     auto client = sheaf::Client::open(*sheaf::find_servers(*source));
///     auto follower = sheaf::ServerFollower::follow(*client, *source);
///
/// Client::open waits for no server, so it looks nothing up: what it opens is found before.
/// docs/reconfiguration.md has the whole picture.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/move_only_function.h>
#include <sheaf/server_source.h>

namespace sheaf {
inline namespace v0 {

/// Options of one look-up.
struct DiscoveryOptions {
  /// The look-up ends after this, whatever happens: 1 ms .. 24 h.
  std::chrono::milliseconds timeout{5'000};
  /// SRV only: the name servers to ask, at most 3, as numeric addresses: `10.0.0.2`,
  /// `10.0.0.2:5353`, `[fd00::2]:53`. Empty: those of `/etc/resolv.conf`.
  std::vector<std::string> name_servers{};
  Stop stop{};  ///< Ends the look-up; see Stop.
};

/// Looks up SRV records (RFC 2782) and returns the servers of the lowest priority; those of higher
/// ones are not used. The weight of a record becomes NodeConfig::weight, 0 becomes 1. The servers
/// are in the order of their names, in small letters and without a point at the end, so the order
/// of the answer does not matter. `name` is the whole name, `_memcached._tcp.cache.example`: the
/// domains that `/etc/resolv.conf` searches are not tried. Name servers are asked one after the
/// other, over TCP where an answer does not fit into a message of UDP.
///
/// Blocks until it ends, by the deadline. Any thread but one that drives a client's Driver, whose
/// clients would wait as well.
/// Errors, of which the text names the records: Outcome::invalid, Reason::bad_argument for a name
/// or an option that is not allowed. Outcome::refused, Reason::other: the name server has answered,
/// with an error, without a record, with the target ".", which says that the service is not
/// available, or with servers that no configuration may have. Outcome::refused,
/// Reason::protocol_error for an answer that cannot be read. Outcome::not_sent,
/// Reason::connect_failed if no name server can be asked. Outcome::unknown, Reason::timed_out or
/// Reason::cancelled. A look-up changes nothing, so each may be repeated.
SHEAF_API Result<std::vector<NodeConfig>> servers_of_srv(std::string_view name,
                                                         const DiscoveryOptions& options = {});

/// What the configuration endpoint of an ElastiCache cluster lists.
struct ElastiCacheServers {
  std::uint64_t version = 0;        ///< The list's. It grows with every change.
  std::vector<NodeConfig> servers;  ///< By their host names, in the order of these; weight 1.
};

/// Asks the configuration endpoint of an ElastiCache cluster of memcached servers for its servers:
/// `config get cluster`, and where that is not known (before 1.4.14) `get
/// AmazonElastiCache:cluster`. Connects without TLS and without a login; find_servers() connects
/// as its source says. `host` is a name or an address, IPv6 without brackets.
///
/// Blocks as servers_of_srv() does.
/// Errors, of which `node` names the endpoint: Outcome::invalid, Reason::bad_argument for a host, a
/// port or an option that is not allowed. Outcome::refused, Reason::other if the server is no
/// configuration endpoint. Outcome::refused, Reason::protocol_error for an answer that cannot be
/// read, that has more than 64 KiB or 1,000 servers, or no server. Outcome::not_sent,
/// Reason::connect_failed; Reason::authentication if its certificate is refused. Outcome::unknown,
/// Reason::connection_lost, Reason::timed_out or Reason::cancelled. Outcome::overloaded if the
/// process may not open another descriptor.
SHEAF_API Result<ElastiCacheServers> servers_of_elasticache(std::string_view host,
                                                            std::uint16_t port = 11'211,
                                                            const DiscoveryOptions& options = {});

/// Looks up the servers of a source and returns its configuration with them, for Client::open or
/// Client::reconfigure, which check the whole. The configuration endpoint of `memcacheds` is asked
/// over TLS, by the options `tls_*`. Blocks and errors: as the two functions above;
/// Outcome::invalid or Outcome::unsupported, Reason::bad_configuration for files or a build without
/// TLS.
SHEAF_API Result<ClusterConfig> find_servers(const ServerSource& source,
                                             const DiscoveryOptions& options = {});

/// Options of a ServerFollower.
struct FollowOptions {
  /// From the end of a look-up to the next one: 1 s .. 1 h.
  std::chrono::milliseconds interval{60'000};
  std::chrono::milliseconds timeout{5'000};  ///< As DiscoveryOptions::timeout, of each look-up.
  std::vector<std::string> name_servers{};   ///< As DiscoveryOptions::name_servers.
};

/// Looks at a source of servers again and again, on a thread of its own, and reports when they have
/// changed. The first look is at once. An error, and a list without a server, change nothing and
/// are reported each time; so does a list of ElastiCache whose version is lower than one that was
/// seen before.
///
/// Thread rule: any thread may call any member at any time, except that the destructor and moves
/// need that no other thread calls the object, and are not called from its callback. Callbacks run
/// on the follower's thread, one after another; what they throw ends the process.
///
/// Lifetime: it may outlive the client, and tells nothing any more then. After fork() it does
/// nothing in the child.
class SHEAF_API ServerFollower {
 public:
  /// What came of servers that differ from those that were taken last, or why a look-up failed.
  using Report = MoveOnlyFunction<void(const Result<ServersChanged>&)>;
  /// Gives a client the servers of a source, by Client::reconfigure, whenever they differ from
  /// those that it was given last. All else of its configuration stays; of `source` only the place
  /// and the TLS of the look-up count. `report`, if there is one, gets every change and every
  /// error, those of Client::reconfigure included, after which the same servers are given to it
  /// again at the next look. Errors: Outcome::invalid, Reason::bad_argument for an option out of
  /// range or a source that is not allowed; Outcome::overloaded if no thread could start.
  static Result<ServerFollower> follow(Client& client, ServerSource source, Report report = {},
                                       const FollowOptions& options = {});

  /// The servers of now, or why a look-up failed.
  using Take = MoveOnlyFunction<void(const Result<std::vector<NodeConfig>>&)>;
  /// The same for programs that decide themselves what to do: `take`, which is not empty, is called
  /// with the first servers, with those that differ from the last ones, and with every error.
  static Result<ServerFollower> follow(ServerSource source, Take take,
                                       const FollowOptions& options = {});

  /// Looks at once, in addition to the interval. Returns before it has looked.
  void look_now();

  /// What was moved from does nothing.
  ServerFollower(ServerFollower&&) noexcept;
  /// What was followed here ends as by the destructor.
  ServerFollower& operator=(ServerFollower&&) noexcept;
  /// Ends a look-up in progress, waits for a callback that runs, and calls none any more.
  ~ServerFollower();

  class Impl;  ///< Internal.

 private:
  explicit ServerFollower(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace sheaf
