#include "client/runtime/context.h"

#include <utility>

#include "client/runtime/outcomes.h"
#include "cluster/config/config_check.h"
#include "protocol/address_map.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::runtime {
namespace {

cluster::MapTerms map_terms(const ClusterConfig& config, cluster::LoginFrom from) {
  cluster::MapTerms terms;
  terms.seeds = config.nodes;
  terms.allowed = config.nodes;
  if (const auto map = protocol::AddressMap::parse(config.address_map)) {
    const auto reachable = map->reachable();
    terms.allowed.insert(terms.allowed.end(), reachable.begin(), reachable.end());
  }
  const bool exposed = !config.tls && !config.allow_plain_password;
  terms.loopback_only = exposed && !cluster::secret_of(config, from).empty();
  terms.patience = std::max(config.timeout, config.connect_timeout);
  terms.replicas = config.reads == ReadTarget::replicas;
  return terms;
}

constexpr std::string_view stand_alone =
    "routing=ring is for standalone servers; servers of a cluster need routing=cluster";

}  // namespace

Context::Context(ClusterConfig config, ClientOptions options)
    : config_(std::move(config)),
      login_from_(options.credentials == nullptr ? cluster::LoginFrom::config
                                                 : cluster::LoginFrom::callback),
      source_(std::move(options.credentials)),
      closed_error_(local_error(Outcome::shutdown, Reason::closed, "the client is closing")),
      driver_(options.driver != nullptr ? options.driver->state() : nullptr),
      dispatcher_(executor_of(options), std::move(options.on_exception)),
      events_({std::move(options.log), options.log_level, options.log_rate,
               std::move(options.observer)},
              protocol::traits_of(config_.kind).system, config_.log_keys, dispatcher_),
      key_events_(events_) {}

Dispatcher::Executor Context::executor_of(ClientOptions& options) {
  if (options.executor || options.driver == nullptr) return std::move(options.executor);
  return [driver = options.driver->state()](Dispatcher::Job job) { driver->post(std::move(job)); };
}

Result<void> Context::open(Random& random) {
  if (auto wrong = cluster::check_config(config_, login_from_)) {
    return Failure(local_error(wrong->outcome, Reason::bad_configuration, std::move(wrong->text)));
  }
  hash_seed_ = random.u64();
  return open_paths(random);
}

Result<void> Context::open_paths(Random& random) {
  const protocol::EndpointTraits& traits = protocol::traits_of(config_.kind);
  cluster::MapTerms terms = map_terms(config_, login_from_);
  logins_ = LoginKeeper::make(config_, std::move(source_), dispatcher_, events_);
  login_ = logins_ == nullptr ? protocol::login_of(config_) : nullptr;
  wipe(config_.password);  // the login holds the only copy
  auto sessions = traits.make_sessions(config_, random.fork());
  sessions->set_login(login_);
  auto map = traits.make_map != nullptr ? traits.make_map(config_) : nullptr;
  auto topology = map != nullptr ? cluster::MapFetcher::first_topology(config_.nodes, *map, table_)
                                 : cluster::Topology::make(config_, table_, 1);
  auto path = Path::open(config_, std::move(topology), std::move(sessions), {logins_, true},
                         events_, random.fork());
  if (!path) return Failure(std::move(path.error()));
  path_ = std::move(*path);
  make_extra_connections(random);
  terms.listener = extra_connections_.get();
  if (map != nullptr) {
    path_->follow_map(std::move(map), terms, table_, events_, random.fork());
  } else if (traits.make_map != nullptr) {
    path_->follow_nobody(stand_alone, random.fork());
  }
  if (traits.make_commands != nullptr) {
    path_->pass_commands(traits.make_commands(), terms.patience, events_);
  }
  return {};
}

// Used only if two paths cannot disagree on the node of a key. Not used with a driver, since each
// path would need a thread.
void Context::make_extra_connections(Random& random) {
  const protocol::EndpointTraits& traits = protocol::traits_of(config_.kind);
  const bool useful = traits.takes_extra_connections && config_.reads == ReadTarget::primary &&
                      config_.failover == FailoverMode::owner;
  if (!useful || config_.extra_connections == 0 || driver_ != nullptr) return;
  const auto open_one = [this, &traits, seeds = std::make_shared<Random>(random.fork())] {
    ClusterConfig config = config_;
    config.pool_min = 0;  // a node is connected to when first wanted
    config.pool_max = 1;
    config.spin = false;  // next to other drivers no processor is idle
    auto sessions = traits.make_sessions(config, seeds->fork());
    sessions->set_login(login_);
    auto path = Path::open(config, topology(), std::move(sessions), {logins_}, key_events_,
                           seeds->fork(), ExtraConnections::grace);
    if (!path) return std::unique_ptr<Path>();
    if (path_->follows_map()) {
      (*path)->return_redirects(seeds->fork());
    } else if (traits.make_map != nullptr) {
      (*path)->follow_nobody(stand_alone, seeds->fork());
    }
    (*path)->lane().start();
    return std::move(*path);
  };
  extra_connections_ = std::make_unique<ExtraConnections>(config_.extra_connections,
                                                          topology()->members().size(), open_one);
}

Result<std::vector<NodeConfig>> Context::update(std::vector<NodeConfig> servers) {
  const Entry entering(*this);  // the client may close meanwhile
  if (auto refused = refusal(true)) return Failure(std::move(*refused));
  const protocol::EndpointTraits& traits = protocol::traits_of(config_.kind);
  if (traits.transport != protocol::Transport::tcp || path_->follows_map()) {
    return Failure(local_error(Outcome::unsupported, Reason::bad_configuration,
                               "the configuration does not determine the servers of this client"));
  }
  ClusterConfig config = config_;
  config.nodes = std::move(servers);
  // The password was wiped, but must still count where a password may not cross a network.
  if (login_ != nullptr && !login_->password.empty()) config.password.assign(1, '*');
  if (auto wrong = cluster::check_config(config, login_from_)) {
    return Failure(local_error(wrong->outcome, Reason::bad_configuration, std::move(wrong->text)));
  }
  const sync::MutexLock lock(update_mutex_);
  const auto present = this->topology();
  auto locator = cluster::make_locator(config, &present->locator());
  std::shared_ptr<const cluster::Topology> topology;
  path_->run([&](Now now) {  // redirects make topologies too, under the baton
    const std::uint64_t epoch = cluster().topology().epoch() + 1;
    topology = cluster::Topology::make({config.nodes}, std::move(locator), table_, epoch);
    cluster().apply(topology, now);
  });
  if (extra_connections_ != nullptr) extra_connections_->on_map(std::move(topology), nullptr);
  std::vector<NodeConfig> before;
  for (const cluster::Member& member : present->members()) {
    before.push_back({member.host, member.port, member.weight});
  }
  return before;
}

void Context::start() {
  dispatcher_.start();
  driver_ != nullptr ? lane().start(*driver_) : lane().start();
}

std::optional<Error> Context::refusal(bool blocking) const {
  if (forked()) {
    return local_error(Outcome::invalid, Reason::forked,
                       "the process forked after the client was opened; open a new one");
  }
  if (closing_) return closed_error_;
  if (blocking && socket::Lane::drives_here()) {
    return local_error(Outcome::invalid, Reason::wrong_thread,
                       "a blocking call from a thread that drives a client");
  }
  return std::nullopt;
}

Deadline Context::deadline(Deadline started, const Timeout& timeout) const {
  return started + timeout.value_or(config_.timeout);
}

std::vector<NodeStats> Context::stats() {
  std::vector<NodeStats> stats;
  path_->run([&](Now) { stats = cluster().nodes().stats(); });
  if (extra_connections_ != nullptr) extra_connections_->add_to(stats);
  return stats;
}

Metrics Context::metrics(const std::function<void(Metrics&)>& more) {
  Metrics metrics;
  path_->run([&](Now) {
    metrics.nodes = cluster().nodes().metrics();
    more(metrics);
  });
  if (extra_connections_ != nullptr) extra_connections_->add_to(metrics.nodes);
  return metrics;
}

bool Context::forked() const noexcept { return process_.forked(); }

void Context::refuse_calls() noexcept {
  closing_ = true;
  if (extra_connections_ != nullptr) extra_connections_->close();
}

void Context::stop_asking() noexcept {
  if (logins_ != nullptr) logins_->close();
}

void Context::wait_for_entries() noexcept {
  while (entered_ > 0) all_left_.park();
}

// The objects are leaked: a thread of the parent may hold their mutexes forever.
void Context::abandon() noexcept {
  if (extra_connections_ != nullptr) extra_connections_->abandon();
  Path::abandon(std::move(path_));
  static_cast<void>(extra_connections_.release());
  static_cast<void>(new std::shared_ptr<LoginKeeper>(std::move(logins_)));
  dispatcher_.abandon();
}

}  // namespace sheaf::client::runtime
