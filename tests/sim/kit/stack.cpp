#include "tests/sim/kit/stack.h"

#include <algorithm>

#include "protocol/statestore/clock.h"

namespace sheaf::sim {

void Op::on_done(socket::Request&, const socket::Completion& completion) {
  ++ended;
  ended_at = completion.now.mono;
  answered = completion.answered;
  status = completion.reply.status;
  got = completion.reply.value;
  version = completion.reply.version;
  outcome = completion.outcome;
  reason = completion.reason;
  text = completion.text;
  node = completion.node;
  connection = completion.connection;
}

StackClient::StackClient(SimWorld& world, SimNetwork& network, const ClusterConfig& config,
                         std::uint64_t seed, Bug bug, client::watch::WatchRegistryOptions watching,
                         node::EventLog* events, const cluster::ClusterControls& controls)
    : config_(config),
      loop_(world),
      dialer_(network.dialer(loop_)),
      sessions_(config, Random(seed).fork(), bug) {
  auto make_map = protocol::traits_of(config.kind).make_map;
  auto map = make_map != nullptr ? make_map(config) : nullptr;
  node::EventLog& log = events != nullptr ? *events : no_events_;
  cluster_ = std::make_unique<cluster::ClientCluster>(
      config, first_topology(map.get()), node::NodeParts{loop_, *dialer_, sessions_, log},
      Random(seed + 1).fork(), controls);
  if (map != nullptr) follow_map(std::move(map), Random(seed + 3), log);
  watching.key.compare = protocol::statestore::compare_versions;
  watches_ = std::make_unique<client::watch::WatchRegistry>(loop_, *cluster_,
                                                            Random(seed + 2).fork(), watching);
  procedures_ = std::make_unique<client::calls::ProcedureHost>(loop_, *cluster_, watches_.get());
}

std::shared_ptr<const cluster::Topology> StackClient::first_topology(
    const protocol::ServerMap* map) {
  return map != nullptr ? cluster::MapFetcher::first_topology(config_.nodes, *map, table_)
                        : cluster::Topology::make(config_, table_, epoch_);
}

// Does what client/runtime/path.cpp does.
void StackClient::follow_map(std::unique_ptr<protocol::ServerMap> map, Random random,
                             node::EventLog& events) {
  cluster::MapTerms terms;
  terms.seeds = config_.nodes;
  terms.replicas = config_.reads == ReadTarget::replicas;
  map_ = std::make_unique<cluster::MapFetcher>(
      cluster::MapFetcher::Parts{*cluster_, loop_, events, table_}, std::move(map), terms,
      random.fork());
  cluster::RedirectRules rules;
  rules.table = &table_;
  rules.allowed = cluster::AllowedHosts(terms.seeds);
  rules.source = map_.get();
  rules.calm.known = false;
  cluster_->follow_redirects(std::move(rules), random.fork());
}

void StackClient::shut_down() {
  procedures_->shut_down(loop_.now());
  watches_->shut_down(loop_.now());
  cluster_->shut_down(loop_.now());
}

void StackClient::set_servers(std::vector<NodeConfig> servers) {
  config_.nodes = std::move(servers);
  later([this, topology = cluster::Topology::make(config_, table_, ++epoch_)](Now now) {
    cluster_->apply(topology, now);
  });
}

void StackClient::later(std::function<void(Now)> work) {
  later_.push_back(std::move(work));
  loop_.defer(*this);
}

void StackClient::run(std::unique_ptr<client::calls::Procedure> procedure,
                      client::calls::ProcedureOwner& owner) {
  later([this, &owner,
         shared = std::make_shared<std::unique_ptr<client::calls::Procedure>>(
             std::move(procedure))](Now now) { procedures_->run(std::move(*shared), owner, now); });
}

StackClient::~StackClient() {
  shut_down();
  const auto over = [this] { return cluster_->empty() && watches_->empty(); };
  for (int i = 0; i < 100 && !over(); ++i) loop_.turn(loop_.now().mono);
  loop_.forget(*this);
}

Op& StackClient::begin(protocol::Verb verb, const std::string& key, const std::string& value,
                       std::chrono::nanoseconds timeout) {
  Op& op = operations_.emplace_back();
  op.verb = verb;
  op.key = key;
  op.value = value;
  op.started = loop_.world().now().mono;
  op.deadline = op.started + timeout;
  op.request_.operation.verb = verb;
  op.request_.operation.key = op.key;
  op.request_.operation.value = op.value;
  op.request_.operation.deadline = op.deadline;
  op.request_.sink = &op;
  starting_.push_back(&op);
  loop_.defer(*this);
  return op;
}

Op& StackClient::get(const std::string& key, std::chrono::nanoseconds timeout) {
  return begin(protocol::Verb::get, key, {}, timeout);
}
Op& StackClient::set(const std::string& key, const std::string& value,
                     std::chrono::nanoseconds timeout) {
  return begin(protocol::Verb::set, key, value, timeout);
}
Op& StackClient::remove(const std::string& key, std::chrono::nanoseconds timeout) {
  return begin(protocol::Verb::remove, key, {}, timeout);
}

void StackClient::run_deferred(Now now) {
  for (Op* op : std::exchange(starting_, {})) cluster_->start(op->request_, now);
  for (const auto& work : std::exchange(later_, {})) work(now);
}

bool StackClient::all_ended() const {
  return std::ranges::all_of(operations_, [](const Op& op) { return op.ended > 0; });
}

Stack::Stack(std::uint64_t seed, unsigned brokers, EndpointKind kind, bool one_store)
    : world(seed) {
  config.kind = kind;
  config.slots = 1'024;  // makes a topology cheap to build
  if (kind == EndpointKind::memcached) config.protocol = MemcachedProtocol::meta;
  for (unsigned i = 0; i < brokers; ++i) {
    const std::string host = "b" + std::to_string(i);
    SimServer::Start start;
    const bool another = i == 0 || !one_store;
    if (kind == EndpointKind::memcached) {
      if (another) caches_.push_back(std::make_unique<SimMemcached>());
      start = caches_.back()->start();
    } else {
      if (another) stores_.push_back(std::make_unique<SimStore>());
      stores_.back()->keep_data = one_store;
      start = stores_.back()->start();
    }
    brokers_.push_back(&network.add_server(host, 1883, std::move(start)));
    config.nodes.push_back({host, 1883, 1});
  }
}

StackClient& Stack::add_client() {
  clients_.push_back(std::make_unique<StackClient>(
      world, network, config, 1000 * (clients_.size() + 1), bug, watching, events, controls));
  return *clients_.back();
}

void Stack::keep_log() {
  for (const auto& store : stores_) store->log = &log_;
  for (const auto& cache : caches_) cache->log = &log_;
}

std::string Stack::key_on(unsigned broker, unsigned number) {
  const auto topology = cluster::Topology::make(config);
  for (unsigned i = 0;; ++i) {
    const std::string key = "key" + std::to_string(i);
    if (topology->locate(key).node == broker && number-- == 0) return key;
  }
}

}  // namespace sheaf::sim
