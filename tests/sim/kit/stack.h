#pragma once

// The real client stack in the simulated network: cluster, nodes, sockets and sessions as in
// production; loop, dialer and clock simulated.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/calls/procedure_host.h"
#include "client/watch/watch_registry.h"
#include "cluster/client_cluster.h"
#include "cluster/map_fetcher.h"
#include "cluster/placement/node_table.h"
#include "protocol/endpoint_kinds.h"
#include "tests/sim/kit/planted_bugs.h"
#include "tests/sim/kit/sim_memcached.h"
#include "tests/sim/kit/sim_network.h"
#include "tests/sim/kit/sim_store.h"
#include "tests/support/event_logs.h"

namespace sheaf::sim {

// One operation and how it ended.
class Op final : private socket::RequestSink {
 public:
  protocol::Verb verb = protocol::Verb::get;
  std::string key;
  std::string value;
  Deadline started{0};
  Deadline deadline{0};
  // Valid once it has ended:
  unsigned ended = 0;  // number of on_done calls: exactly 1
  Deadline ended_at{0};
  bool answered = false;
  protocol::Status status = protocol::Status::done;
  std::string got;
  std::string version;
  Outcome outcome = Outcome::invalid;
  Reason reason = Reason::other;
  std::string text;
  std::string node;
  std::uint64_t connection = 0;

 private:
  friend class StackClient;
  void on_done(socket::Request& request, const socket::Completion& completion) override;
  cluster::Request request_;
};

// The real sessions, with a planted bug if asked for.
class Sessions final : public protocol::SessionFactory {
 public:
  Sessions(const ClusterConfig& config, const Seed& seed, Bug bug)
      : real_(protocol::traits_of(config.kind).make_sessions(config, seed)), bug_(bug) {
    real_->set_login(protocol::login_of(config));
  }
  std::unique_ptr<protocol::Session> make(unsigned node, protocol::SessionUse use,
                                          Now now) override {
    return planted(real_->make(node, use, now));
  }
  void forget(unsigned node) override { real_->forget(node); }
  void set_login(protocol::SharedLogin login) override { real_->set_login(std::move(login)); }

 private:
  std::unique_ptr<protocol::Session> planted(std::unique_ptr<protocol::Session> real) const {
    if (bug_ == Bug::none) return real;
    return std::make_unique<BuggySession>(std::move(real), bug_);
  }

  const std::unique_ptr<protocol::SessionFactory> real_;
  const Bug bug_;
};

class StackClient final : private socket::Deferred {
 public:
  StackClient(SimWorld& world, SimNetwork& network, const ClusterConfig& config, std::uint64_t seed,
              Bug bug = Bug::none, client::watch::WatchRegistryOptions watching = {},
              node::EventLog* events = nullptr, const cluster::ClusterControls& controls = {});
  ~StackClient();
  StackClient(const StackClient&) = delete;
  StackClient& operator=(const StackClient&) = delete;

  // Starts a procedure in this client's next turn.
  void run(std::unique_ptr<client::calls::Procedure> procedure,
           client::calls::ProcedureOwner& owner);
  // Runs work in this client's next turn.
  void later(std::function<void(Now)> work);

  // Sets the servers from this client's next turn on.
  void set_servers(std::vector<NodeConfig> servers);

  // Starts an operation in this client's next turn.
  Op& get(const std::string& key, std::chrono::nanoseconds timeout);
  Op& set(const std::string& key, const std::string& value, std::chrono::nanoseconds timeout);
  Op& remove(const std::string& key, std::chrono::nanoseconds timeout);
  // Cancels an operation in this client's next turn.
  void cancel(Op& op) {
    later([this, &op](Now now) { cluster_->cancel(op.request_, now); });
  }

  SimLoop& loop() { return loop_; }
  cluster::ClientCluster& cluster() { return *cluster_; }
  Sessions& sessions() { return sessions_; }
  client::calls::ProcedureHost& procedures() { return *procedures_; }
  client::watch::WatchRegistry& watches() { return *watches_; }
  const std::deque<Op>& operations() const { return operations_; }
  bool all_ended() const;
  // Drops the operations that have ended. References to them become invalid.
  void forget_operations() { operations_.clear(); }
  void shut_down();

 private:
  Op& begin(protocol::Verb verb, const std::string& key, const std::string& value,
            std::chrono::nanoseconds timeout);
  void run_deferred(Now now) override;
  std::shared_ptr<const cluster::Topology> first_topology(const protocol::ServerMap* map);
  void follow_map(std::unique_ptr<protocol::ServerMap> map, Random random, node::EventLog& events);

  ClusterConfig config_;
  cluster::NodeTable table_;
  std::uint64_t epoch_ = 1;
  SimLoop loop_;
  std::unique_ptr<socket::Dialer> dialer_;
  Sessions sessions_;
  test::NoEvents no_events_;
  std::unique_ptr<cluster::ClientCluster> cluster_;
  std::unique_ptr<cluster::MapFetcher> map_;  // null: the configuration says who owns a key
  std::unique_ptr<client::watch::WatchRegistry> watches_;
  std::unique_ptr<client::calls::ProcedureHost> procedures_;
  std::deque<Op> operations_;
  std::vector<Op*> starting_;
  std::vector<std::function<void(Now)>> later_;
};

// Brokers b0, b1, ... on port 1883, or as many memcached servers, and the configuration of their
// cluster.
class Stack {
 public:
  // `one_store`: the servers are front ends of one store.
  Stack(std::uint64_t seed, unsigned brokers, EndpointKind kind = EndpointKind::state_store,
        bool one_store = false);

  SimServer& broker(unsigned index) { return *brokers_[index]; }
  unsigned size() const { return static_cast<unsigned>(brokers_.size()); }
  StackClient& add_client();
  StackClient& client(unsigned index = 0) { return *clients_[index]; }
  unsigned clients() const { return static_cast<unsigned>(clients_.size()); }
  // A key that this broker owns.
  std::string key_on(unsigned broker, unsigned number = 0);

  SimStore& store(unsigned index) { return *stores_[index]; }
  SimMemcached& memcached(unsigned index) { return *caches_[index]; }
  // From now on log() has what all servers store.
  void keep_log();
  const ServerLog& log() const { return log_; }

  SimWorld world;
  ClusterConfig config;
  Bug bug = Bug::none;                           // of clients added from here on
  client::watch::WatchRegistryOptions watching;  // likewise
  node::EventLog* events = nullptr;              // likewise; outlives them
  cluster::ClusterControls controls{};           // likewise

 private:
  ServerLog log_;
  std::vector<std::unique_ptr<SimStore>> stores_;  // outlive the servers
  std::vector<std::unique_ptr<SimMemcached>> caches_;

 public:
  SimNetwork network{world};

 private:
  std::vector<SimServer*> brokers_;
  std::vector<std::unique_ptr<StackClient>> clients_;
};

}  // namespace sheaf::sim
