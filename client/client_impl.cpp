#include "client/client_impl.h"

#include <pthread.h>

#include <new>
#include <system_error>
#include <utility>

#include "base/random.h"
#include "client/compute/single_flight.h"
#include "client/list/board.h"
#include "client/runtime/memcached_sessions.h"
#include "client/runtime/outcomes.h"
#include "client/runtime/store_sessions.h"
#include "client/watch/watch_hub.h"
#include "client/watch/watch_session.h"
#include "cluster/config_check.h"
#include "protocol/statestore/clock.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::runtime::local_error;

// Counts forks on the child's side: cheaper than asking for the process number at every call.
std::atomic<unsigned>& fork_count() noexcept {
  static std::atomic<unsigned> count = 0;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++fork_count(); });
  static_cast<void>(registered);
  return count;
}

// Lists that this client is changing are given free for others.
class CloseLists final : private socket::Lane::Task {
 public:
  CloseLists(socket::Lane& lane, client::list::Board& lists) : lane_(lane), lists_(lists) {}
  void wait() { lane_.call(*this, waiter_); }

 private:
  void run(Now now) override { lists_.close(waiter_, now); }
  socket::Lane& lane_;
  client::list::Board& lists_;
  socket::Lane::Waiter waiter_;
};

}  // namespace

Result<std::unique_ptr<Client::Impl>> Client::Impl::make(ClusterConfig config,
                                                         ClientOptions options) {
  try {
    std::unique_ptr<Impl> impl(new Impl(std::move(config), std::move(options)));
    if (auto opened = impl->open(); !opened) return Failure(std::move(opened.error()));
    return impl;
  } catch (const std::bad_alloc&) {
    return Failure(local_error(Outcome::overloaded, Reason::out_of_memory, "out of memory"));
  } catch (const std::system_error& error) {
    return Failure(local_error(Outcome::overloaded, Reason::other,
                               std::string("no thread could be started: ") + error.what()));
  }
}

Client::Impl::Impl(ClusterConfig config, ClientOptions options)
    : config_(std::move(config)),
      fork_generation_(fork_count()),
      dispatcher_(std::move(options.executor)),
      journal_(std::move(options.log), config_.log_keys, dispatcher_),
      side_journal_(journal_) {}

Result<void> Client::Impl::open() {
  if (auto wrong = cluster::check_config(config_)) {
    return Failure(local_error(wrong->outcome, Reason::bad_configuration, std::move(wrong->text)));
  }
  Random random(entropy());
  hash_seed_ = random.u64();
  topology_ = cluster::Topology::make(config_);
  if (auto opened = open_paths(random); !opened) return opened;
  socket::Loop& loop = path_->loop();
  client::watch::WatchHubOptions watching;
  watching.key.compare = protocol::statestore::compare_versions;
  watches_ = std::make_unique<client::watch::WatchHub>(loop, cluster(), random.fork(), watching);
  watch_roster_ = std::make_unique<client::watch::WatchRoster>();
  procedures_ = std::make_unique<client::calls::ProcedureHost>(loop, cluster(), watches_.get());
  flights_ = std::make_unique<client::compute::SingleFlight>(random.fork());
  lists_ = std::make_unique<client::list::Board>(*procedures_, lane(), config_, random.fork());
  dispatcher_.start();
  lane().start();
  return {};
}

Result<void> Client::Impl::open_paths(Random& random) {
  std::unique_ptr<node::SessionFactory> sessions;
  if (config_.kind == EndpointKind::memcached) {
    sessions = std::make_unique<client::runtime::MemcachedSessions>(config_);
  } else {
    sessions = std::make_unique<client::runtime::StoreSessions>(config_, random.fork());
  }
  config_.password.clear();  // the sessions keep the only copy
  auto path =
      client::runtime::Path::open(config_, topology_, std::move(sessions), journal_, random.fork());
  if (!path) return Failure(std::move(path.error()));
  path_ = std::move(*path);
  const bool may_have_sides =
      path_->sessions().another() != nullptr && config_.failover == FailoverMode::owner;
  if (!may_have_sides || config_.batch_connections == 0) return {};
  const auto open_side = [this, seeds = std::make_shared<Random>(random.fork())] {
    ClusterConfig config = config_;
    config.pool_min = 0;  // a node is connected to when it is first wanted
    config.pool_max = 1;
    config.spin = false;  // beside other drivers no processor is idle
    auto side =
        client::runtime::Path::open(config, topology_, path_->sessions().another(), side_journal_,
                                    seeds->fork(), client::runtime::BulkConnections::grace);
    if (!side) return std::unique_ptr<client::runtime::Path>();
    (*side)->lane().start();
    return std::move(*side);
  };
  bulk_ = std::make_unique<client::runtime::BulkConnections>(
      config_.batch_connections, static_cast<unsigned>(config_.nodes.size()), open_side);
  return {};
}

Client::Impl::~Impl() { close(); }

void Client::Impl::close() noexcept {
  if (std::exchange(closed_, true)) return;
  if (fork_generation_ != fork_count()) {
    abandon();
  } else {
    shut_down();
  }
}

void Client::Impl::shut_down() noexcept {
  closing_ = true;
  if (bulk_ != nullptr) bulk_->close();
  if (lists_ != nullptr) {
    CloseLists(lane(), *lists_).wait();
    path_->run([this](Now now) {
      watch_roster_->shut_down(now);
      procedures_->shut_down(now);
      watches_->shut_down(now);
      cluster().shut_down(now);
    });
    // Calls of handles end now; what they have posted meanwhile is run before the lane stops.
    while (const unsigned entered = entered_) entered_.wait(entered);
    path_->run([](Now) {});
    path_->stop([this] { return cluster().empty() && watches_->empty(); });
  }
  dispatcher_.close();
}

void Client::Impl::abandon() noexcept {
  if (bulk_ != nullptr) bulk_->abandon();
  client::runtime::Path::abandon(std::move(path_));
  static_cast<void>(bulk_.release());
  static_cast<void>(lists_.release());
  static_cast<void>(procedures_.release());
  static_cast<void>(watch_roster_.release());
  static_cast<void>(watches_.release());
  dispatcher_.abandon();
}

std::optional<Error> Client::Impl::refusal(bool blocking) const {
  if (fork_generation_ != fork_count()) {
    return local_error(Outcome::invalid, Reason::forked,
                       "the process forked after the client was opened; open a new one");
  }
  if (closing_) return local_error(Outcome::shutdown, Reason::closed, "the client is closing");
  if (blocking && socket::Lane::drives_here()) {
    return local_error(Outcome::invalid, Reason::wrong_thread,
                       "a blocking call from a thread that drives a client");
  }
  return std::nullopt;
}

Deadline Client::Impl::deadline(Deadline started, const Timeout& timeout) const {
  return started + timeout.value_or(config_.timeout);
}

std::vector<NodeStats> Client::Impl::stats() {
  std::vector<NodeStats> stats;
  path_->run([&](Now) { stats = cluster().stats(); });
  if (bulk_ != nullptr) bulk_->add_to(stats);
  return stats;
}

}  // namespace v0
}  // namespace sheaf
