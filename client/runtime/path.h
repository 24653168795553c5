#pragma once

// Path: carries requests from calls to servers and back. It consists of a loop, the lane that
// drives it, and a cluster's connections, with the dialer and the sessions they are made of. A
// client has one for everything, and some more for threads that wait at the same time
// (extra_connections.h).
//
// Thread rule: the accessors from any thread; what they return under the baton of lane().

#include <functional>
#include <memory>

#include <sheaf/cluster_config.h>

#include "base/random.h"
#include "client/runtime/login_dialer.h"
#include "client/runtime/transport.h"
#include "cluster/client_cluster.h"
#include "cluster/command_router.h"
#include "cluster/map_fetcher.h"
#include "node/event_log.h"
#include "protocol/session_factory.h"
#include "socket/lane/lane.h"
#include "socket/seam.h"

namespace sheaf::client::runtime {

class Path {
 public:
  // What belongs to the client: the keeper of its logins (null: the sessions know the login), and
  // whether this path tracks time for it.
  struct Logins {
    std::shared_ptr<LoginKeeper> keeper;
    bool keeps_time = false;
  };
  // The event log outlives it. The caller starts its lane; `grace` is the lane's.
  static Result<std::unique_ptr<Path>> open(
      const ClusterConfig& config, std::shared_ptr<const cluster::Topology> topology,
      std::unique_ptr<protocol::SessionFactory> sessions, Logins logins, node::EventLog& events,
      const Seed& seed, std::chrono::milliseconds grace = socket::Lane::usual_grace);
  ~Path();
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  socket::DrivenLoop& loop() noexcept { return *loop_; }
  socket::Lane& lane() noexcept { return lane_; }
  cluster::ClientCluster& cluster() noexcept { return *cluster_; }
  // Under the baton.
  protocol::SessionFactory& sessions() noexcept { return *sessions_; }

  // From now on the servers decide who owns which key (map_fetcher.h). Call before start() of the
  // lane; the topology is the first one of MapFetcher. `table` and `events` outlive the path.
  void follow_map(std::unique_ptr<protocol::ServerMap> map, const cluster::MapTerms& terms,
                  cluster::NodeEntries& table, node::EventLog& events, const Seed& seed);
  // From now on requests wait for a server that asks for patience, and are never sent to another
  // server: `why` is one clause that outlives the path.
  void follow_nobody(std::string_view why, const Seed& seed);
  // From now on a request that a server redirects ends as not_sent, and its submitter sends it over
  // another path. Call this or one of the two above, not several.
  void return_redirects(const Seed& seed);
  bool follows_map() const noexcept { return map_ != nullptr; }
  // The servers' map; null: the configuration decides who owns which key. Under the baton.
  const cluster::MapFetcher* map() const noexcept { return map_.get(); }
  // False until the servers have said which of them belong to the cluster. Under the baton.
  bool knows_members() const noexcept { return map_ == nullptr || map_->known(); }

  // Allows raw commands of the user. Call after follow_map(), before start() of the lane. `events`
  // outlives the path.
  void pass_commands(std::unique_ptr<protocol::ServerCommands> commands,
                     std::chrono::nanoseconds patience, node::EventLog& events);
  // Only after pass_commands(). Under the baton.
  cluster::CommandRouter& commands() noexcept { return *commands_; }

  // Runs `task` under the baton and returns when it has run.
  void run(const std::function<void(Now)>& task);
  // Stops the lane, then drives the loop in its place until `over`, as long as the kernel takes
  // something at once. No call may be in progress and none may follow.
  void stop(const std::function<bool()>& over) noexcept;
  // For a forked child, which may touch only the descriptors: the threads are gone, and one of them
  // may hold a mutex forever.
  static void abandon(std::unique_ptr<Path> path) noexcept;

 private:
  Path(Transport transport, std::chrono::milliseconds grace)
      : loop_(std::move(transport.loop)),
        dialer_(std::move(transport.dialer)),
        lane_(*loop_, grace, transport.controls) {}

  std::unique_ptr<socket::DrivenLoop> loop_;
  std::unique_ptr<socket::Dialer> dialer_;
  LoginDialer* logins_ = nullptr;  // the dialer, if it asks for logins
  std::unique_ptr<protocol::SessionFactory> sessions_;
  std::unique_ptr<cluster::ClientCluster> cluster_;
  std::unique_ptr<cluster::MapFetcher> map_;  // null: the configuration decides the owners
  std::unique_ptr<cluster::CommandRouter> commands_;
  socket::Lane lane_;
};

}  // namespace sheaf::client::runtime
