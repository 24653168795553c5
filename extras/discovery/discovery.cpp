// Servers from the DNS or a configuration endpoint, and a client that follows them.

#include <system_error>
#include <utility>

#include <sheaf/discovery.h>

#include "base/local_error.h"
#include "extras/discovery/follower.h"
#include "extras/discovery/lookup.h"

namespace sheaf {
inline namespace v0 {

Result<std::vector<NodeConfig>> servers_of_srv(std::string_view name,
                                               const DiscoveryOptions& options) {
  const ServerSource source{SourceKind::srv, std::string(name), 0, {}};
  auto found = discovery::look_up(source, options);
  if (!found) return Failure(std::move(found.error()));
  return std::move(found->servers);
}

Result<ElastiCacheServers> servers_of_elasticache(std::string_view host, std::uint16_t port,
                                                  const DiscoveryOptions& options) {
  ServerSource source{SourceKind::elasticache, std::string(host), port, {}};
  source.config.kind = EndpointKind::memcached;
  auto found = discovery::look_up(source, options);
  if (!found) return Failure(std::move(found.error()));
  return ElastiCacheServers{found->version, std::move(found->servers)};
}

Result<ClusterConfig> find_servers(const ServerSource& source, const DiscoveryOptions& options) {
  auto found = discovery::look_up(source, options);
  if (!found) return Failure(std::move(found.error()));
  ClusterConfig config = source.config;
  config.nodes = std::move(found->servers);
  return config;
}

class ServerFollower::Impl {
 public:
  Impl(ServerSource source, const FollowOptions& options, discovery::Follower::Hand hand)
      : follower_(std::move(source), options, std::move(hand)) {}
  discovery::Follower& follower() noexcept { return follower_; }

  static Result<ServerFollower> start(ServerSource source, const FollowOptions& options,
                                      discovery::Follower::Hand hand) {
    if (auto wrong = discovery::check_follow(source, options)) return Failure(std::move(*wrong));
    try {
      return ServerFollower(std::make_unique<Impl>(std::move(source), options, std::move(hand)));
    } catch (const std::system_error& error) {
      return Failure(no_thread(error));
    }
  }

 private:
  discovery::Follower follower_;
};

Result<ServerFollower> ServerFollower::follow(Client& client, ServerSource source, Report report,
                                              const FollowOptions& options) {
  auto hand = [followed = ClientServers(client),
               report = std::move(report)](Result<std::vector<NodeConfig>> servers) {
    if (followed.closed()) return false;
    if (!servers) {
      if (report) report(Failure(std::move(servers.error())));
      return false;
    }
    const auto changed = followed.replace(std::move(*servers));
    // A closed client has nothing to report.
    const bool closed = !changed && changed.error().outcome == Outcome::shutdown;
    if (report && !closed && (!changed || changed->any())) report(changed);
    return changed.has_value();
  };
  source.config.ring = client.config().ring;  // the client's placement is the one that counts
  return Impl::start(std::move(source), options, std::move(hand));
}

Result<ServerFollower> ServerFollower::follow(ServerSource source, Take take,
                                              const FollowOptions& options) {
  if (!take) {
    return Failure(local_error(Outcome::invalid, Reason::bad_argument,
                               "a follower without a client needs a function to call"));
  }
  auto hand = [take = std::move(take)](const Result<std::vector<NodeConfig>>& servers) {
    take(servers);
    return servers.has_value();
  };
  return Impl::start(std::move(source), options, std::move(hand));
}

void ServerFollower::look_now() {
  if (impl_ != nullptr) impl_->follower().look_now();
}

ServerFollower::ServerFollower(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ServerFollower::ServerFollower(ServerFollower&&) noexcept = default;
ServerFollower& ServerFollower::operator=(ServerFollower&&) noexcept = default;
ServerFollower::~ServerFollower() = default;

}  // namespace v0
}  // namespace sheaf
