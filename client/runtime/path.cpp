#include "client/runtime/path.h"

namespace sheaf::client::runtime {
namespace {

// Runs a function under the baton for a caller that waits.
class RunCall final : private socket::Lane::Task {
 public:
  RunCall(socket::Lane& lane, const std::function<void(Now)>& task) : lane_(lane), task_(task) {}
  void wait() { lane_.call(*this, waiter_); }

 private:
  void run(Now now) override {
    task_(now);
    lane_.finish(waiter_);
  }
  socket::Lane& lane_;
  const std::function<void(Now)>& task_;
  socket::Lane::Waiter waiter_;
};

}  // namespace

Result<std::unique_ptr<Path>> Path::open(const ClusterConfig& config,
                                         std::shared_ptr<const cluster::Topology> topology,
                                         std::unique_ptr<protocol::SessionFactory> sessions,
                                         Logins logins, node::EventLog& events, const Seed& seed,
                                         std::chrono::milliseconds grace) {
  auto transport = open_transport(config);
  if (!transport) return Failure(std::move(transport.error()));
  const cluster::ClusterControls controls = transport->cluster;
  std::unique_ptr<Path> path(new Path(std::move(*transport), grace));
  path->sessions_ = std::move(sessions);
  path->loop_->refresh();
  if (logins.keeper != nullptr) {
    auto dialer = std::make_unique<LoginDialer>(
        LoginDialer::Parts{*path->loop_, path->lane_, *path->sessions_}, std::move(path->dialer_),
        std::move(logins.keeper), logins.keeps_time);
    path->logins_ = dialer.get();
    path->dialer_ = std::move(dialer);
  }
  const node::NodeParts parts{*path->loop_, *path->dialer_, *path->sessions_, events};
  path->cluster_ =
      std::make_unique<cluster::ClientCluster>(config, std::move(topology), parts, seed, controls);
  if (path->logins_ != nullptr) path->logins_->set_cluster(*path->cluster_);
  return path;
}

void Path::follow_map(std::unique_ptr<protocol::ServerMap> map, const cluster::MapTerms& terms,
                      cluster::NodeEntries& table, node::EventLog& events, const Seed& seed) {
  sessions_->judge_by(map->known_servers());
  Random random(seed);
  map_ = std::make_unique<cluster::MapFetcher>(
      cluster::MapFetcher::Parts{*cluster_, *loop_, events, table}, std::move(map), terms,
      random.fork());
  cluster::RedirectRules rules;
  rules.table = &table;
  rules.allowed = cluster::AllowedHosts(terms.allowed);
  rules.source = map_.get();
  rules.calm.known = false;
  cluster_->follow_redirects(std::move(rules), random.fork());
}

void Path::follow_nobody(std::string_view why, const Seed& seed) {
  cluster::RedirectRules rules;
  rules.stays = why;
  cluster_->follow_redirects(std::move(rules), seed);
}

void Path::return_redirects(const Seed& seed) {
  cluster::RedirectRules rules;
  rules.returns = true;
  cluster_->follow_redirects(std::move(rules), seed);
}

void Path::pass_commands(std::unique_ptr<protocol::ServerCommands> commands,
                         std::chrono::nanoseconds patience, node::EventLog& events) {
  commands_ = std::make_unique<cluster::CommandRouter>(
      cluster::CommandRouter::Parts{*cluster_, *loop_, events, map_.get()}, std::move(commands),
      patience);
}

void Path::run(const std::function<void(Now)>& task) { RunCall(lane_, task).wait(); }

Path::~Path() {
  if (logins_ == nullptr) return;
  logins_->leave();
  logins_->forget_task();
}

void Path::stop(const std::function<bool()>& over) noexcept {
  if (logins_ != nullptr) logins_->leave();
  lane_.stop();
  for (int i = 0; i < 100 && !over(); ++i) loop_->turn(Deadline{0});
}

void Path::abandon(std::unique_ptr<Path> path) noexcept {
  if (path == nullptr) return;
  path->loop_->close_descriptors();
  static_cast<void>(path.release());
}

}  // namespace sheaf::client::runtime
