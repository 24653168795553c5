#include "client/client_impl.h"

#include <pthread.h>

#include <new>
#include <system_error>
#include <utility>

#include "base/random.h"
#include "client/compute/flights.h"
#include "client/dialer_factory.h"
#include "client/list/board.h"
#include "client/memcached_sessions.h"
#include "client/outcomes.h"
#include "client/store_sessions.h"
#include "client/watch_hub.h"
#include "client/watch_session.h"
#include "cluster/config_check.h"
#include "protocol/statestore/clock.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::local_error;

// Counts forks on the child's side: cheaper than asking for the process number at every call.
std::atomic<unsigned>& fork_count() noexcept {
  static std::atomic<unsigned> count = 0;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++fork_count(); });
  static_cast<void>(registered);
  return count;
}

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
      journal_(std::move(options.log), config_.log_keys, dispatcher_) {}

Result<void> Client::Impl::open() {
  if (auto wrong = cluster::check_config(config_)) {
    return Failure(local_error(wrong->outcome, Reason::bad_configuration, std::move(wrong->text)));
  }
  auto loop = socket::UvLoop::create({config_.spin});
  if (!loop) {
    return Failure(local_error(Outcome::overloaded, Reason::other,
                               "no event loop could be opened: " + loop.error()));
  }
  loop_ = std::move(*loop);
  auto dialer = client::make_dialer(config_, *loop_);
  if (!dialer) return Failure(std::move(dialer.error()));
  dialer_ = std::move(*dialer);
  Random random(entropy());
  hash_seed_ = random.u64();
  if (config_.kind == EndpointKind::memcached) {
    sessions_ = std::make_unique<client::MemcachedSessions>(config_);
  } else {
    sessions_ = std::make_unique<client::StoreSessions>(config_, random.fork());
  }
  config_.password.clear();  // the sessions keep the only copy
  topology_ = cluster::Topology::make(config_);
  loop_->refresh();
  cluster_ = std::make_unique<cluster::ClientCluster>(
      config_, topology_, node::NodeParts{*loop_, *dialer_, *sessions_, journal_}, random.fork());
  client::WatchHubOptions watching;
  watching.key.compare = protocol::statestore::compare_versions;
  watches_ = std::make_unique<client::WatchHub>(*loop_, *cluster_, random.fork(), watching);
  watch_roster_ = std::make_unique<client::WatchRoster>();
  procedures_ = std::make_unique<client::ProcedureHost>(*loop_, *cluster_, watches_.get());
  flights_ = std::make_unique<client::compute::Flights>(random.fork());
  lane_ = std::make_unique<socket::Lane>(*loop_);
  lists_ = std::make_unique<client::list::Board>(*procedures_, *lane_, config_, random.fork());
  dispatcher_.start();
  lane_->start();
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
  if (lane_ != nullptr) {
    if (lists_ != nullptr) CloseLists(*lane_, *lists_).wait();
    run([this](Now now) {
      watch_roster_->shut_down(now);
      procedures_->shut_down(now);
      watches_->shut_down(now);
      cluster_->shut_down(now);
    });
    // Calls of handles end now; what they have posted meanwhile is run before the lane stops.
    while (const unsigned entered = entered_) entered_.wait(entered);
    run([](Now) {});
    lane_->stop();
    // Nobody else drives any more. Whatever the kernel does not take at once is dropped.
    const auto over = [this] { return cluster_->empty() && watches_->empty(); };
    for (int i = 0; i < 100 && !over(); ++i) loop_->turn(Deadline{0});
  }
  dispatcher_.close();
}

// In a forked child only the descriptors may be touched: the threads are gone, and a mutex may be
// held for ever by one of them.
void Client::Impl::abandon() noexcept {
  if (loop_ != nullptr) loop_->close_descriptors();
  static_cast<void>(lane_.release());
  static_cast<void>(lists_.release());
  static_cast<void>(procedures_.release());
  static_cast<void>(watch_roster_.release());
  static_cast<void>(watches_.release());
  static_cast<void>(cluster_.release());
  static_cast<void>(sessions_.release());
  static_cast<void>(dialer_.release());
  static_cast<void>(loop_.release());
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

void Client::Impl::run(const std::function<void(Now)>& task) { RunCall(*lane_, task).wait(); }

}  // namespace v0
}  // namespace sheaf
