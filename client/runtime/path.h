#pragma once

// Path: the way of requests from calls to servers and back: a loop, the lane that drives it, and a
// cluster's connections, with the dialer and the sessions that they are made of. A client has one
// for everything, and some more for large reads (bulk_connections.h).
//
// Thread rule: the accessors from any thread; what they give under the baton of lane().

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
  // What is not of a path: who says as whom to log in (null: nobody, the sessions know), and
  // whether this path tells it the time.
  struct Logins {
    std::shared_ptr<LoginKeeper> keeper;
    bool keeps_time = false;
  };
  // The event log outlives it. start() of its lane is left to the caller; `grace` is the lane's.
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
  const protocol::SessionFactory& sessions() const noexcept { return *sessions_; }

  // From now on the servers say who owns what (map_fetcher.h). Before start() of the lane; the
  // topology is MapFetcher's first one. `table` and `events` outlive the path.
  void follow_map(std::unique_ptr<protocol::ServerMap> map, const cluster::MapTerms& terms,
                  cluster::NodeEntries& table, node::EventLog& events, const Seed& seed);
  // From now on requests wait for a server that asks for patience. None is sent to another: `why`,
  // in one clause that outlives the path. Instead of follow_map().
  void follow_nobody(std::string_view why, const Seed& seed);
  bool follows_map() const noexcept { return map_ != nullptr; }
  // What the servers say; null: the configuration says who owns what. Under the baton.
  const cluster::MapFetcher* map() const noexcept { return map_.get(); }
  // False until the servers have said which of them belong to the cluster. Under the baton.
  bool knows_members() const noexcept { return map_ == nullptr || map_->known(); }

  // From now on commands of the user's own may be sent. After follow_map(), before start() of the
  // lane. `events` outlives the path.
  void pass_commands(std::unique_ptr<protocol::ServerCommands> commands,
                     std::chrono::nanoseconds patience, node::EventLog& events);
  // Only after that. Under the baton.
  cluster::CommandRouter& commands() noexcept { return *commands_; }

  // Runs `task` under the baton and returns when it has run.
  void run(const std::function<void(Now)>& task);
  // Stops the lane, and drives until `over` in its stead, as long as there is something that the
  // kernel takes at once. No call may be in progress and none may follow.
  void stop(const std::function<bool()>& over) noexcept;
  // In a forked child only the descriptors may be touched: the threads are gone, and a mutex may
  // be held for ever by one of them.
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
  std::unique_ptr<cluster::MapFetcher> map_;  // null: the configuration says who owns what
  std::unique_ptr<cluster::CommandRouter> commands_;
  socket::Lane lane_;
};

}  // namespace sheaf::client::runtime
