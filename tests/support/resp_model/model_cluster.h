#pragma once

// ModelCluster: a cluster of servers of the Redis protocol as a pure model, from bytes to bytes.
// ModelConnection is a client's connection to one of its nodes; ClusterChanges are migrations and
// failovers that take time. Other code has the sockets or simulates them.
//
// Nodes are numbered from 0 and keep their number. Each has its own view of the cluster
// (cluster_view.h). The replicas of a primary have its keys, at once and without loss.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tests/support/resp_model/cluster_view.h"
#include "tests/support/resp_model/dialect.h"
#include "tests/support/resp_model/gossip.h"
#include "tests/support/resp_model/keyspace.h"
#include "tests/support/resp_model/request_log.h"

namespace sheaf::test::resp_model {

struct ClusterOptions {
  Dialect dialect{};
  GossipDelay gossip{};
  std::string password{};  // empty: no login. Any user may use it, and the log names the user
  // A node that resumes after a stop says that the cluster is down until all changes must have
  // reached it. Otherwise it may serve for a while what is no longer its own, as real nodes may.
  bool wary = false;
};

// The faults of one node. May be changed at any time.
struct NodeFaults {
  Deadline down_until{0};         // until then it says that the cluster is down
  Deadline loading_until{0};      // until then it loads its data
  unsigned try_again_every = 0;   // one in so many commands on keys gets TRYAGAIN; 0: none
  unsigned commands = 0;          // on keys, counted for that
  unsigned garbage_replies = 0;   // this many commands on keys are carried out, but with replies of
  std::size_t garbage_size = 64;  // this many zero bytes
};

struct ModelNode {
  ClusterView view;
  std::shared_ptr<Keyspace> keys;
  NodeFaults faults{};
  bool stopped = false;  // receives but does nothing, like a process that is stopped
  unsigned process = 0;  // how often it was started again: earlier connections are closed
};

class ModelCluster {
 public:
  // One primary at each address, with its share of the slots. All nodes know each other.
  ModelCluster(const std::vector<NodeAddress>& primaries, std::uint64_t seed,
               ClusterOptions options = {});
  ModelCluster(const ModelCluster&) = delete;
  ModelCluster& operator=(const ModelCluster&) = delete;

  // Adds a node. It knows what `seed_node` knows, and the others learn of it. A primary has no
  // slots.
  NodeNumber add_primary(NodeAddress address, Deadline now, NodeNumber seed_node = 0);
  NodeNumber add_replica(NodeNumber primary, NodeAddress address, Deadline now);

  NodeNumber size() const { return static_cast<NodeNumber>(nodes_.size()); }
  ModelNode& node(NodeNumber number) { return *nodes_[number]; }
  const ModelNode& node(NodeNumber number) const { return *nodes_[number]; }
  const ClusterOptions& options() const { return options_; }
  RequestLog& log() { return log_; }
  const RequestLog& log() const { return log_; }

  // ---- time
  // Delivers what was gossiped up to `now`.
  void tick(Deadline now);
  Deadline next_tick() const { return gossip_.next(); }
  // True if no message is in transit and no node is stopped: all views are the same.
  bool settled() const;
  // Delivers all messages in transit, as if their time had come. Those to stopped nodes wait.
  void settle(Deadline now);
  void set_gossip(GossipDelay delay) { options_.gossip = delay; }

  // ---- single steps of a migration, as CLUSTER SETSLOT has them
  void set_importing(Slot slot, NodeNumber target, NodeNumber source);
  void set_migrating(Slot slot, NodeNumber source, NodeNumber target);
  // Makes the node ready for what the others have announced about the slot meanwhile.
  void set_stable(Slot slot, NodeNumber at, Deadline now);
  // CLUSTER SETSLOT NODE on one node. If that makes it the owner, it takes a new epoch.
  void set_owner(Slot slot, NodeNumber at, NodeNumber owner, Deadline now);
  // Moves one key of the slot; false if the source has none.
  bool move_one_key(Slot slot, NodeNumber source, NodeNumber target, Deadline now);
  // Moves all keys of the slot, even dead ones.
  void move_keys(Slot slot, NodeNumber source, NodeNumber target);

  // ---- steps of a migration of many slots at once
  // The source attributes its slots in this range to the target.
  void give(SlotRange slots, NodeNumber source, NodeNumber target, Deadline now);
  // The target owns what the source attributes to it, and has the keys.
  void take(SlotRange slots, NodeNumber source, NodeNumber target, Deadline now);

  // ---- steps of a failover
  // The primary obeys its replica from now on and attributes its slots to it.
  void yield_to(NodeNumber replica, Deadline now);
  // The replica takes over what its primary has. It knows the announcements of all others, since on
  // a real server their votes prevent it from claiming slots that have left its primary.
  void promote(NodeNumber replica, Deadline now);

  // ---- nodes that come and go
  void stop(NodeNumber number) { node(number).stopped = true; }
  void go_on(NodeNumber number, Deadline now);
  // Starts a new process with the same id, slots and keys, at an address that others learn by
  // gossip.
  void restart(NodeNumber number, NodeAddress address, Deadline now);

  // ---- keys, for checks
  // The nodes, without replicas, that have the key. It is never more than one.
  std::vector<NodeNumber> places_of(std::string_view key, Deadline now) const;
  // Loses a key. Keys are lost in no other way.
  void lose(std::string_view key, Deadline now);

  std::uint64_t next_connection() { return ++last_connection_; }

  // ---- passwords: those that are let in now
  bool wants_password() const { return !passwords_.empty(); }
  bool takes(std::string_view password) const { return passwords_.contains(password); }
  void allow(std::string password) { passwords_.insert(std::move(password)); }
  // Connections that have logged in with it continue, as on real servers.
  void forbid(const std::string& password) { passwords_.erase(password); }
  // Counts a command on keys over a connection whose password is no longer accepted.
  void note_overdue() { ++overdue_; }
  unsigned overdue() const { return overdue_; }

 private:
  NodeNumber add(NodeAddress address, std::shared_ptr<Keyspace> keys);
  void announce(NodeNumber from, Deadline now);
  void announce_to(NodeNumber to, NodeNumber from, Deadline now);
  std::uint64_t next_epoch() const;
  void ask_all(NodeNumber number, Deadline now);
  void deliver(const Gossip::Message& message, Deadline now);

  ClusterOptions options_;
  Random random_;
  Gossip gossip_;
  RequestLog log_;
  std::vector<std::unique_ptr<ModelNode>> nodes_;
  std::uint64_t last_connection_ = 0;
  std::set<std::string, std::less<>> passwords_;
  unsigned overdue_ = 0;
};

}  // namespace sheaf::test::resp_model
