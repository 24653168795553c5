#pragma once

// Context: what calls and features need from their client: its configuration, its paths to the
// servers, its dispatcher, and whether a call may start now. It knows nothing of calls and
// features; Client::Impl puts them together.
//
// Ownership, and so the order of destruction: extra connections before the path, the path before
// the dispatcher.
//
// Thread rule: any thread, except that what lane() guards is touched under its baton.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <sheaf/client_options.h>
#include <sheaf/cluster_config.h>
#include <sheaf/options.h>
#include <sheaf/stats.h>

#include "base/fork_mark.h"
#include "base/mutex.h"
#include "base/parker.h"
#include "base/random.h"
#include "client/runtime/dispatcher.h"
#include "client/runtime/driver_state.h"
#include "client/runtime/event_log.h"
#include "client/runtime/extra_connections.h"
#include "client/runtime/login_keeper.h"
#include "client/runtime/path.h"
#include "cluster/config/config_check.h"
#include "cluster/placement/node_table.h"
#include "cluster/placement/topology.h"
#include "protocol/login.h"

namespace sheaf::client::runtime {

class Context {
 public:
  Context(ClusterConfig config, ClientOptions options);
  ~Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Checks the configuration and makes the paths. May throw std::bad_alloc and std::system_error.
  Result<void> open(Random& random);
  // Replaces the servers; the rest of the configuration stays, and config() keeps its first value.
  // Requests in flight end where they are; waiting ones go to the servers that then own their keys.
  // Only for servers reached over the network. Blocks. Returns the servers before.
  Result<std::vector<NodeConfig>> update(std::vector<NodeConfig> servers);
  // Starts the threads of the dispatcher and the lane, or hands the lane to the driver. May throw
  // std::system_error.
  void start();

  const ClusterConfig& config() const noexcept { return config_; }
  // The present topology. Not for a forked child.
  std::shared_ptr<const cluster::Topology> topology() const {
    return path_->cluster().nodes().snapshot();
  }
  Path& path() noexcept { return *path_; }
  socket::Lane& lane() noexcept { return path_->lane(); }
  cluster::ClientCluster& cluster() noexcept { return path_->cluster(); }
  ExtraConnections* extra_connections() noexcept { return extra_connections_.get(); }  // null: none
  // How many procedures continue on the path although their callers have returned.
  std::atomic<unsigned>& unheard() noexcept { return unheard_; }
  Dispatcher& dispatcher() noexcept { return dispatcher_; }
  // For hash tables whose keys others choose.
  std::uint64_t hash_seed() const noexcept { return hash_seed_; }

  // Why no operation can start now: the process forked, the client is closing, or (for blocking
  // calls) this thread drives a client.
  std::optional<Error> refusal(bool blocking) const;
  // The absolute deadline of an operation that starts at `started`, with a timeout already checked.
  Deadline deadline(Deadline started, const Timeout& timeout) const;
  // The observer's parent for a call that starts on this thread; see Observer.
  std::shared_ptr<void> observed_parent() const noexcept { return events_.parent(); }
  // The counters of all connections. Blocks.
  std::vector<NodeStats> stats();
  // `more` runs under the baton and adds what features have counted.
  Metrics metrics(const std::function<void(Metrics&)>& more);

  // A call through a handle that may outlive the Client. Make it before asking refusal(): closing
  // waits for all calls that were not refused.
  class Entry {
   public:
    explicit Entry(Context& context) noexcept : context_(context) { ++context_.entered_; }
    ~Entry() {
      if (--context_.entered_ == 0 && context_.closing_) context_.all_left_.unpark();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Context& context_;
  };

  // True if the client has no threads of its own: a waiting caller turns the lane.
  bool has_driver() const noexcept { return driver_ != nullptr; }

  // Closing, in this order; Client::Impl ends calls and features in between.
  bool forked() const noexcept;  // in a forked child: call only abandon()
  void set_closed_error(Error why) { closed_error_ = std::move(why); }  // before any call
  void refuse_calls() noexcept;      // from now on refusal() refuses
  void stop_asking() noexcept;       // for logins; those that wait for one get none
  void wait_for_entries() noexcept;  // until every call of a handle has returned
  void abandon() noexcept;           // closes descriptors and leaks the rest

 private:
  Result<void> open_paths(Random& random);
  void make_extra_connections(Random& random);
  static Dispatcher::Executor executor_of(ClientOptions& options);

  ClusterConfig config_;
  const cluster::LoginFrom login_from_;
  CredentialSource source_;      // until it is open
  protocol::SharedLogin login_;  // the one in the configuration
  const ForkMark process_;
  Error closed_error_;  // what refusal() returns once the client closes
  std::atomic<bool> closing_ = false;
  // Not a mutex: in a forked child it could be held forever.
  std::atomic<unsigned> entered_ = 0;
  Parker all_left_;
  std::uint64_t hash_seed_ = 0;
  std::shared_ptr<Driver::State> driver_;  // null: the client has threads
  Dispatcher dispatcher_;
  EventForwarder events_;
  KeyEvents key_events_;
  std::shared_ptr<LoginKeeper> logins_;  // null: the login never changes
  cluster::NodeTable table_;
  std::atomic<unsigned> unheard_ = 0;
  sync::Mutex update_mutex_;  // one update at a time
  std::unique_ptr<Path> path_;
  std::unique_ptr<ExtraConnections> extra_connections_;
};

}  // namespace sheaf::client::runtime
