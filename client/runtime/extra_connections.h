#pragma once

// ExtraConnections: extra paths for threads that wait at the same time.
//
// A path is one driver with one connection to each server, served there by one thread. This turns
// the small requests of many threads into a few large ones. Threads that each ask one server for
// many keys gain nothing from it and wait for each other. So do threads that sleep until their
// answer is there, since one wakes the other for each. Such a call goes over an extra connection if
// other threads are at work, on the client's own path or on extra connections. The thread gets the
// connection it used last, if that is free. The caller alone drives it, and so waits in the read of
// its connection (Wait::read).
//
// The answers are the same as without extra connections:
//
// - Only blocking calls use them, batches of gets and operations on single keys, and only while no
//   asynchronous work is in flight on the client's own path, so that the requests of a thread are
//   done in its order.
// - No operation overtakes an earlier one on its key that has ended without an answer, wherever
//   that was: after one on an extra connection see late_write.h, after one on the client's own path
//   see node/late_requests.h.
// - They are not used with `failover=rehash`, where two paths could disagree on the stand-in of a
//   node.
// - A call planned on another topology than that of the connection's path does not use it. The
//   paths follow the client's topology one by one. What a server redirects goes over the client's
//   own path, the only one that learns from redirects.
// - They are not used with `reads=replicas`, where the own path chooses who answers a read.
// - If all are lent, a large batch waits for one, in the order of arrival. On the client's own path
//   it would share one connection with all others that have none, and the server serves that one
//   like each of the others: some threads would be fast and the rest several times slower.
// - A connection is opened in the background when one more could have been used. It is lent only
//   once it is ready, and only to a node that the client's own path considers up. So a server that
//   accepts no more connections fails no request. If a server falls silent, its requests soon all
//   use the client's own path, whose health machine decides about the node.
//
// Thread rule: any thread.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <sheaf/metrics.h>

#include "base/mutex.h"
#include "base/parker.h"
#include "client/runtime/path.h"
#include "client/runtime/recent_peak.h"

namespace sheaf::client::runtime {

class ExtraConnections final : public cluster::MapListener {
  class Side;

 public:
  // The fewest keys of a server for which a batch is worth a path, and for which it waits for one
  // (docs/design/0011-extra-connections.md).
  static constexpr std::size_t fewest_keys = 8;
  static constexpr std::size_t many_keys = 512;
  // It waits so long at most, because a server may have stopped.
  static constexpr std::chrono::milliseconds longest_wait{50};
  // The most connections to all servers together, except that there may be one to each.
  static constexpr std::size_t most_connections = 1'024;
  // Grace of their lanes: nothing arrives on them unasked, so their keepers need not look often.
  static constexpr std::chrono::milliseconds grace{50};

  // Opens a path whose nodes connect on request; null if that is impossible.
  using Open = std::function<std::unique_ptr<Path>()>;

  // Makes at most `limit` paths, fewer if `servers` are many. Only one thread at a time calls
  // `open`.
  ExtraConnections(unsigned limit, std::size_t servers, Open open);
  ~ExtraConnections();
  ExtraConnections(const ExtraConnections&) = delete;
  ExtraConnections& operator=(const ExtraConnections&) = delete;

  // A path for one call, returned at the end of the scope. Empty if none was free.
  class Lease {
   public:
    Lease() = default;
    Lease(ExtraConnections& owner, Side& side) noexcept : owner_(&owner), side_(&side) {}
    Lease(Lease&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), side_(other.side_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(side_, other.side_);
      return *this;
    }
    ~Lease() {
      if (owner_ != nullptr) owner_->give_back(*side_);
    }
    explicit operator bool() const noexcept { return owner_ != nullptr; }
    // A node did not answer: the client's own path is left to find out why.
    void distrust(std::span<const std::uint32_t> nodes) const { owner_->distrust(*side_, nodes); }
    // True if an operation that has ended there may still be carried out by the node.
    bool owes(std::uint32_t node) const;
    // A write to the node ended without an answer: operations on its key wait for it on the
    // client's `own` path (late_write.h). The lease is empty then.
    void await_write(Path& own, std::uint32_t node, std::string_view key);
    Path& operator*() const noexcept;

   private:
    ExtraConnections* owner_ = nullptr;
    Side* side_ = nullptr;
  };

  // A node that a call needs.
  struct Server {
    std::uint32_t node = 0;
    unsigned outages = 0;  // how often the node went down; older connections are not lent
    friend bool operator==(const Server&, const Server&) = default;
  };
  // What a call needs.
  struct Need {
    std::span<const Server> servers;
    std::uint64_t epoch = 0;               // of the topology
    std::chrono::nanoseconds patience{0};  // how long to wait if all paths are lent
  };
  // Lends a free path that is connected to the nodes, preferably the one this thread used last.
  // Otherwise starts to connect one more for later calls, or waits for one that is given back.
  Lease borrow(const Need& need, Deadline now);
  // The paths follow the client's topology, and know the servers that it knows.
  void on_map(std::shared_ptr<const cluster::Topology> topology,
              std::shared_ptr<const protocol::KnownServers> known) override;

  // How many paths there may be now.
  unsigned limit() const noexcept { return limit_; }
  // How many are lent now.
  unsigned lent() const noexcept { return lent_; }
  // How many writes over them have ended without an answer and may still be carried out.
  unsigned late_writes() const noexcept { return late_writes_; }
  // How many threads other than this one use them or are among these `callers` of the
  // client's own path, at most, in the last moments. A number that changed with every call would
  // split callers who should share a connection.
  unsigned other_callers(unsigned callers, Deadline now) noexcept {
    return others_.report(lent_ + queued_ + callers, now);
  }
  // Adds what the paths counted. Blocks; do not call under a baton.
  void add_to(std::vector<NodeStats>& stats);
  void add_to(std::vector<NodeMetrics>& metrics);
  // Ends everything; lends nothing from now on.
  void close() noexcept;
  // For a forked child.
  void abandon() noexcept SHEAF_UNCHECKED;

 private:
  // What the paths follow.
  struct Map {
    std::shared_ptr<const cluster::Topology> topology;  // null: the first
    std::shared_ptr<const protocol::KnownServers> known;
  };

  // A call that waits for a path.
  struct Waiting {
    explicit Waiting(const Need& its_need) noexcept : need(its_need) {}
    const Need& need;
    Parker parker;
    Side* side = nullptr;
  };

  Side* add_side();
  Lease await(Waiting& waiting);
  bool may_connect(const Need& need, Deadline now) SHEAF_REQUIRES(mutex_);
  Side* take(const Need& need) SHEAF_REQUIRES(mutex_);
  void note_outages(const Server& server) SHEAF_REQUIRES(mutex_);
  void make_place(std::uint32_t node) SHEAF_REQUIRES(mutex_);
  void give_back(Side& side) noexcept;
  void distrust(Side& side, std::span<const std::uint32_t> nodes);
  std::vector<Side*> all();

  unsigned limit_with(std::size_t servers) const noexcept;

  const unsigned most_;
  std::atomic<unsigned> limit_;
  const Open open_;
  sync::Mutex mutex_;
  Map map_ SHEAF_GUARDED_BY(mutex_);
  // Never reallocated: a forked child reads it without the lock.
  std::vector<std::unique_ptr<Side>> sides_ SHEAF_GUARDED_BY(mutex_);
  std::atomic<unsigned> made_ = 0;  // the size of sides_
  std::atomic<unsigned> lent_ = 0;
  std::atomic<unsigned> queued_ = 0;  // the size of waiting_
  std::atomic<unsigned> late_writes_ = 0;
  RecentPeak others_;
  std::vector<Side*> free_ SHEAF_GUARDED_BY(mutex_);             // the most recently used is last
  std::vector<Waiting*> waiting_ SHEAF_GUARDED_BY(mutex_);       // the first to come is first
  std::vector<Deadline> next_attempt_ SHEAF_GUARDED_BY(mutex_);  // by node: to connect one more
  std::vector<unsigned> outages_ SHEAF_GUARDED_BY(mutex_);       // by node: those known here
  bool opening_ SHEAF_GUARDED_BY(mutex_) = false;
  bool closed_ SHEAF_GUARDED_BY(mutex_) = false;
};

}  // namespace sheaf::client::runtime
