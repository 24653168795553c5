#pragma once

// Context: what calls and features need of their client: its configuration, its ways to the
// servers, its dispatcher, and whether a call may start now. It knows nothing of calls and
// features; Client::Impl puts it together with them.
//
// Ownership, and so the order of destruction: bulk connections before the path, the path before the
// dispatcher.
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

#include "base/mutex.h"
#include "base/parker.h"
#include "base/random.h"
#include "client/runtime/bulk_connections.h"
#include "client/runtime/dispatcher.h"
#include "client/runtime/driver_state.h"
#include "client/runtime/event_log.h"
#include "client/runtime/fork_mark.h"
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
  // From now on the servers are these, and the rest of the configuration is as before; config()
  // stays what it was. What is in flight ends where it is, and what waits goes where it belongs by
  // then. Only where servers are connected to over the network. Blocks. Returns those before.
  Result<std::vector<NodeConfig>> update(std::vector<NodeConfig> servers);
  // Starts the threads of the dispatcher and the lane, or lets the driver turn the lane. May throw
  // std::system_error.
  void start();

  const ClusterConfig& config() const noexcept { return config_; }
  // The one that holds now. Not in a forked child.
  std::shared_ptr<const cluster::Topology> topology() const {
    return path_->cluster().nodes().snapshot();
  }
  Path& path() noexcept { return *path_; }
  socket::Lane& lane() noexcept { return path_->lane(); }
  cluster::ClientCluster& cluster() noexcept { return path_->cluster(); }
  BulkConnections* bulk() noexcept { return bulk_.get(); }  // null: has none
  Dispatcher& dispatcher() noexcept { return dispatcher_; }
  // For hash tables that hold keys of others' choosing.
  std::uint64_t hash_seed() const noexcept { return hash_seed_; }

  // Why no operation can start now: the process forked, the client closes, or (blocking calls) this
  // thread drives a client.
  std::optional<Error> refusal(bool blocking) const;
  // The absolute deadline of an operation that starts at `started`; the timeout was checked.
  Deadline deadline(Deadline started, const Timeout& timeout) const;
  // Of a call that starts on this thread; see Observer.
  std::shared_ptr<void> observed_parent() const noexcept { return events_.parent(); }
  // What was counted on all connections. Blocks.
  std::vector<NodeStats> stats();
  // `more` adds, under the baton, what features have counted.
  Metrics metrics(const std::function<void(Metrics&)>& more);

  // A call of a handle that may outlive the Client. It is made before refusal() is asked: closing
  // waits for the calls that were not refused.
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

  // No threads of the client's own: whoever waits turns the lane.
  bool has_driver() const noexcept { return driver_ != nullptr; }

  // Closing, in this order; Client::Impl ends calls and features in between.
  bool forked() const noexcept;  // in a forked child: abandon(), and nothing else
  void set_closed_error(Error why) { closed_error_ = std::move(why); }  // before any call
  void refuse_calls() noexcept;      // refusal() says so from now on
  void stop_asking() noexcept;       // for logins; whoever waits for one goes without
  void wait_for_entries() noexcept;  // until every call of a handle has returned
  void abandon() noexcept;           // closes descriptors and leaves the rest behind

 private:
  Result<void> open_paths(Random& random);
  void make_bulk_connections(Random& random);
  static Dispatcher::Executor executor_of(ClientOptions& options);

  ClusterConfig config_;
  std::vector<NodeConfig> servers_;  // of the latest update; under its mutex
  const cluster::LoginFrom login_from_;
  CredentialSource source_;      // until it is open
  protocol::SharedLogin login_;  // that of the configuration
  const ForkMark process_;
  Error closed_error_;  // what refusal() says once the client closes
  std::atomic<bool> closing_ = false;
  // No mutex: in a forked child one may be held for ever.
  std::atomic<unsigned> entered_ = 0;
  Parker all_left_;
  std::uint64_t hash_seed_ = 0;
  std::shared_ptr<Driver::State> driver_;  // null: the client has threads
  Dispatcher dispatcher_;
  EventForwarder events_;
  KeyEvents key_events_;
  std::shared_ptr<LoginKeeper> logins_;  // null: the login never changes
  cluster::NodeTable table_;
  sync::Mutex update_mutex_;  // one update at a time
  std::unique_ptr<Path> path_;
  std::unique_ptr<BulkConnections> bulk_;
};

}  // namespace sheaf::client::runtime
