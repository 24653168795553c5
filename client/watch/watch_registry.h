#pragma once

// WatchRegistry: everything that a client watches. It registers each key once with its node,
// however many sinks watch it. When a key moves to another node, the new node registers it and the
// old one drops it. Each node has one connection (node/watch_line.h). Each key has one pure machine
// (client/watch/watch_key.h), which decides on requests and reports. The registry carries requests,
// answers and notifications between them.
//
// In a Redis cluster the servers decide who owns a key, and an answer may redirect to another
// server: the cluster learns it (cluster/moving/redirects.h). A key that no server owns waits at
// some member, which names the owner once there is one. While the line to a node is down, one of
// its keys is requested as by any caller, because only a request can find a new owner.
//
// Thread rule: belongs to one lane; under its baton.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sheaf/metrics.h>

#include "base/deadline_heap.h"
#include "base/intrusive_list.h"
#include "client/calls/watches.h"
#include "client/watch/watch_key.h"
#include "cluster/client_cluster.h"
#include "node/watch_line.h"

namespace sheaf::client::watch {

struct WatchRegistryOptions {
  WatchKeyOptions key;
  node::WatchLineOptions line;
};

class WatchRegistry final : public calls::Watches,
                            private cluster::TopologyListener,
                            private socket::Deferred,
                            private socket::TimerSink {
 public:
  WatchRegistry(socket::Loop& loop, cluster::ClientCluster& cluster, Seed seed,
                const WatchRegistryOptions& options);
  ~WatchRegistry();
  WatchRegistry(const WatchRegistry&) = delete;
  WatchRegistry& operator=(const WatchRegistry&) = delete;

  void add(std::string_view key, calls::WatchSink& sink, calls::WatchStart start, Now now) override;
  void remove(std::string_view key, calls::WatchSink& sink, Now now) noexcept override;

  // No update follows. Call it before the cluster shuts down, then turn the loop until empty().
  void shut_down(Now now);
  bool empty() const;

  std::size_t keys() const;
  WatchMetrics counts() const;

 private:
  class Entry;
  class Side;

  unsigned home_of(std::string_view key) const;
  Side& side_of(std::string_view key);
  void on_topology(Now now) override;
  void on_login(Now now) override;
  bool lets_go(const node::ClientNode& node) override;
  void move(Side& from, Entry& entry, Now now);
  static bool remove_from(Side& side, std::string_view key, const calls::WatchSink& sink, Now now);
  void run_deferred(Now now) override;
  void on_timer(Now now) override;
  void arm();

  socket::Loop& loop_;
  cluster::ClientCluster& cluster_;
  WatchRegistryOptions options_;
  Random random_;
  bool shut_down_ = false;
  std::vector<std::unique_ptr<Side>> sides_;    // by node; null: no key was ever watched there
  std::vector<std::unique_ptr<Side>> leaving_;  // of nodes that have left; their lines close
  std::unique_ptr<socket::Timer> timer_;
  std::uint64_t changes_ = 0;  // reported so far
  std::uint64_t gaps_ = 0;
};

}  // namespace sheaf::client::watch
