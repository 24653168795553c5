#pragma once

// BulkConnections: paths for what several threads read at once in large batches of one server each.
//
// A path is one driver and one connection to a server, where one thread serves it. That is how
// small requests of many threads become few large ones; threads that each ask one server for many
// keys gain nothing by it and wait for each other. Such a batch goes on a bulk connection if
// others are at work, on the client's own path or on bulk connections: the one that its thread had
// last, if that is free. Its caller drives it alone, and so waits in the read of its connection
// (Wait::read).
//
// What keeps answers the same as without:
//
// - Only blocking reads go here, and none while asynchronous work is in flight on the client's own
//   path: what a thread asked for is done in its order.
// - None with `failover=rehash`, where two paths could disagree on who stands in for a node.
// - None for a batch that was planned on another topology than that of the connection's path. The
//   paths follow the client's topology one by one.
// - A connection is opened in the background when one more could have been used, and lent only once
//   it is ready, to a node that is up in the eyes of the client's own path. So a server that takes
//   no more connections fails no request, and one that is silent soon has them all on that path,
//   whose health machine speaks for the node.
//
// Thread rule: any thread.

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <sheaf/metrics.h>

#include "base/mutex.h"
#include "client/runtime/path.h"

namespace sheaf::client::runtime {

class BulkConnections {
  class Side;

 public:
  // The fewest keys of a batch that is worth a path (docs/design/0011-bulk-connections.md).
  static constexpr std::size_t fewest_keys = 8;
  // Of their lanes: nothing comes on them unasked, so their keepers need not look often.
  static constexpr std::chrono::milliseconds grace{50};

  // Opens a path whose nodes connect when they are asked to; null if none can be had.
  using Open = std::function<std::unique_ptr<Path>()>;

  // At most `limit` paths. `open` is called by one thread at a time.
  BulkConnections(unsigned limit, Open open);
  ~BulkConnections();
  BulkConnections(const BulkConnections&) = delete;
  BulkConnections& operator=(const BulkConnections&) = delete;

  // A path for one call, given back at the end of the scope. Empty if there is none.
  class Lease {
   public:
    Lease() = default;
    Lease(BulkConnections& owner, Side& side) noexcept : owner_(&owner), side_(&side) {}
    Lease(Lease&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), side_(other.side_) {}
    ~Lease() {
      if (owner_ != nullptr) owner_->give_back(*side_);
    }
    explicit operator bool() const noexcept { return owner_ != nullptr; }
    // The node did not answer: it is left to the client's own path to find out about it.
    void distrust(std::uint32_t node) const { owner_->distrust(*side_, node); }
    Path& operator*() const noexcept;

   private:
    BulkConnections* owner_ = nullptr;
    Side* side_ = nullptr;
  };

  // What a batch needs.
  struct Need {
    std::uint32_t node = 0;
    unsigned outages = 0;     // how often it went down; older connections are not lent
    std::uint64_t epoch = 0;  // of the topology
  };
  // One that nobody uses and that is connected to the node: that which this thread had last, if it
  // can be. If there is none, one more is connected for later.
  Lease borrow(const Need& need, Deadline now);
  // Another topology holds; newer than the last one.
  void follow(std::shared_ptr<const cluster::Topology> topology);

  // Whether some are lent now: then a caller that spins takes the processor from them.
  bool in_use() const noexcept { return lent_ > 0; }
  // Adds what the paths counted. Blocks; not under a baton.
  void add_to(std::vector<NodeStats>& stats);
  void add_to(std::vector<NodeMetrics>& metrics);
  // Ends everything; nothing is lent any more.
  void close() noexcept;
  // In a forked child.
  void abandon() noexcept SHEAF_UNCHECKED;

 private:
  Side* add_side();
  Side* take(const Need& need) SHEAF_REQUIRES(mutex_);
  void note_outages(const Need& need) SHEAF_REQUIRES(mutex_);
  void make_place(std::uint32_t node) SHEAF_REQUIRES(mutex_);
  void give_back(Side& side) noexcept;
  void distrust(Side& side, std::uint32_t node);
  std::vector<Side*> all();

  const unsigned limit_;
  const Open open_;
  sync::Mutex mutex_;
  std::shared_ptr<const cluster::Topology> topology_ SHEAF_GUARDED_BY(mutex_);  // null: the first
  // Never moved, for a forked child looks at them without the lock.
  std::vector<std::unique_ptr<Side>> sides_ SHEAF_GUARDED_BY(mutex_);
  std::atomic<unsigned> made_ = 0;  // of sides_
  std::atomic<unsigned> lent_ = 0;
  std::vector<Side*> free_ SHEAF_GUARDED_BY(mutex_);             // the last one was used last
  std::vector<Deadline> next_attempt_ SHEAF_GUARDED_BY(mutex_);  // by node: to connect one more
  std::vector<unsigned> outages_ SHEAF_GUARDED_BY(mutex_);       // by node: that are known here
  bool opening_ SHEAF_GUARDED_BY(mutex_) = false;
  bool closed_ SHEAF_GUARDED_BY(mutex_) = false;
};

}  // namespace sheaf::client::runtime
