#pragma once

// What stands behind a Client: its path to the servers, the dispatcher, and the way in and out.
//
// Ownership, and so the order of destruction: dispatcher < path < side paths < watches <
// procedures. The Client closes it; handles that outlive the Client keep what is left.
//
// Thread rule: the const members and post/call doors from any thread; the rest under the baton.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include <sheaf/client.h>

#include "client/calls/procedure_host.h"
#include "client/lock/release_backoff.h"
#include "client/runtime/bulk_connections.h"
#include "client/runtime/dispatcher.h"
#include "client/runtime/event_log.h"
#include "client/runtime/path.h"

namespace sheaf::client {
namespace watch {
class WatchHub;
class WatchRoster;
}  // namespace watch
namespace list {
class Board;
}
namespace compute {
class SingleFlight;
}
}  // namespace sheaf::client

namespace sheaf {
inline namespace v0 {

class Client::Impl {
 public:
  // May throw std::bad_alloc and std::system_error; Client::open turns them into errors.
  static Result<std::unique_ptr<Impl>> make(ClusterConfig config, ClientOptions options);
  ~Impl();
  // Ends everything in flight, every thread and every connection; once, and as the last call but
  // for refusal(). In a forked child: only closes the descriptors.
  void close() noexcept;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  client::runtime::Path& path() noexcept { return *path_; }
  client::runtime::BulkConnections* bulk() noexcept { return bulk_.get(); }  // null: has none
  socket::Lane& lane() noexcept { return path_->lane(); }
  cluster::ClientCluster& cluster() noexcept { return path_->cluster(); }
  client::calls::ProcedureHost& procedures() noexcept { return *procedures_; }
  client::list::Board& lists() noexcept { return *lists_; }
  client::watch::WatchHub& watches() noexcept { return *watches_; }
  client::watch::WatchRoster& watch_roster() noexcept { return *watch_roster_; }
  client::runtime::Dispatcher& dispatcher() noexcept { return dispatcher_; }
  const ClusterConfig& config() const noexcept { return config_; }
  const cluster::Topology& topology() const noexcept { return *topology_; }

  // For hash tables that hold keys of others' choosing.
  std::uint64_t hash_seed() const noexcept { return hash_seed_; }

  client::lock::ReleaseBackoff& release_backoff() noexcept { return release_backoff_; }
  client::compute::SingleFlight& flights() noexcept { return *flights_; }

  // A call of a handle that may outlive the Client. Made before refusal() is asked: closing waits
  // for the calls that were not refused.
  class Entry {
   public:
    explicit Entry(Impl& impl) noexcept : impl_(impl) { ++impl_.entered_; }
    ~Entry() {
      --impl_.entered_;
      impl_.entered_.notify_all();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Impl& impl_;
  };

  // Why no operation can start now: forked, closing, or (blocking calls) on a thread that drives.
  std::optional<Error> refusal(bool blocking) const;
  // The absolute deadline of an operation that starts at `started`; the timeout was checked.
  Deadline deadline(Deadline started, const Timeout& timeout) const;
  // What was counted on all paths. Blocks.
  std::vector<NodeStats> stats();

 private:
  Impl(ClusterConfig config, ClientOptions options);
  Result<void> open();
  Result<void> open_paths(Random& random);
  void shut_down() noexcept;
  void abandon() noexcept;

  ClusterConfig config_;
  unsigned fork_generation_;
  std::atomic<bool> closing_ = false;
  std::atomic<unsigned> entered_ = 0;
  bool closed_ = false;
  std::uint64_t hash_seed_ = 0;
  client::runtime::Dispatcher dispatcher_;
  client::runtime::LogJournal journal_;
  client::runtime::KeyJournal side_journal_;
  std::shared_ptr<const cluster::Topology> topology_;
  std::unique_ptr<client::runtime::Path> path_;
  std::unique_ptr<client::runtime::BulkConnections> bulk_;
  client::lock::ReleaseBackoff release_backoff_;
  std::unique_ptr<client::compute::SingleFlight> flights_;
  std::unique_ptr<client::watch::WatchHub> watches_;
  std::unique_ptr<client::watch::WatchRoster> watch_roster_;
  std::unique_ptr<client::calls::ProcedureHost> procedures_;
  std::unique_ptr<client::list::Board> lists_;
};

}  // namespace v0
}  // namespace sheaf
